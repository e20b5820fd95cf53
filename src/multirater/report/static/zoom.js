// Where the image lies on the stage, and how near.

/** Where the image lies on the stage, in pixels of the screen. */
function frame(content, width, height) {
  const wide = content.width || 1;
  const high = (content.height || 1) * (content.aspect || 1);
  const fit = Math.min(width / wide, height / high) * state.zoom;
  return {
    left: (width - wide * fit) / 2 + state.x, top: (height - high * fit) / 2 + state.y,
    scaleX: fit, scaleY: fit * (content.aspect || 1),
  };
}

function zoomBy(factor, point) {
  const stage = element("stage");
  const before = state.zoom;
  state.zoom = Math.min(Math.max(before * factor, 1), 40);
  const [px, py] = point || [stage.clientWidth / 2, stage.clientHeight / 2];
  const ratio = state.zoom / before;
  const [cx, cy] = [stage.clientWidth / 2, stage.clientHeight / 2];
  state.x = (state.x - (px - cx)) * ratio + (px - cx);
  state.y = (state.y - (py - cy)) * ratio + (py - cy);
  settleZoom();
}

function settleZoom() {
  const stage = element("stage");
  if (state.zoom <= 1) state.x = state.y = 0;
  const reach = [stage.clientWidth, stage.clientHeight].map((side) => (side * state.zoom) / 2);
  state.x = Math.min(Math.max(state.x, -reach[0]), reach[0]);
  state.y = Math.min(Math.max(state.y, -reach[1]), reach[1]);
  stage.classList.toggle("zoomed", state.zoom > 1);
  draw();
}
