// What is drawn: the image, how unsure the fusion is, outlines, and what is taken or painted.

function draw() {
  const content = state.content;
  if (!content) return;
  const canvas = element("canvas");
  const stage = element("stage");
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [stage.clientWidth, stage.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const at = frame(content, width, height);
  context.translate(at.left, at.top);
  const [w, h] = [content.width * at.scaleX, content.height * at.scaleY];
  context.fillStyle = "#2a3038";
  context.fillRect(0, 0, w, h);
  context.imageSmoothingEnabled = at.scaleX < 3;
  const picture = isMasks ? content.pictures[Math.min(state.channel, content.pictures.length - 1)]
    : content.picture;
  if (picture) context.drawImage(picture, 0, 0, w, h);
  if (isMasks) drawLabels(context, content, at, w, h);
  describe();
}

function drawLabels(context, content, at, w, h) {
  const { width, height, decoded } = content;
  context.imageSmoothingEnabled = false;
  if (state.showUncertainty) {
    const colours = Array.from({ length: 32 }, (_, i) => [...rampColour(i / 31), i ? 1 : 0]);
    const canvas = once(decoded, "unsure", () => colourCanvas(content.unsure, colours, width, height));
    context.globalAlpha = 0.65;
    context.drawImage(canvas, 0, 0, w, h);
    context.globalAlpha = 1;
  }
  const classes = report.classes.map((_, k) => [k]);
  const rows = [[-1], ...classes];
  if (state.showLabel) {
    const colours = rows.map(([k]) => (k > 0 ? [255, 210, 74, 1] : [0, 0, 0, 0]));
    context.globalAlpha = 0.22;
    context.drawImage(colourCanvas(content.label, colours, width, height), 0, 0, w, h);
    context.globalAlpha = 1;
  }
  [...state.whole.raters, FUSED].forEach((layer, column) => {
    if (!state.shown[layer]) return;
    const path = once(decoded, `outline ${layer}`, () =>
      outlinePath(content.patterns, content.rows, column, width, height, -1));
    strokeOutline(context, path, report.layers[layer], at.scaleX, at.scaleY, 1.8);
  });
  if (state.showLabel) {
    const path = outlinePath(content.label, rows, 0, width, height, -1);
    strokeOutline(context, path, GOLD_LAYER, at.scaleX, at.scaleY, 3.6);
  }
  if (state.mark) drawMark(context, at);
}

/** The mark that keys move: a cross, with the brush around it. */
function drawMark(context, at) {
  const [x, y] = [(state.mark[0] + 0.5) * at.scaleX, (state.mark[1] + 0.5) * at.scaleY];
  for (const [colour, line] of [["rgb(0 0 0 / .7)", 4], ["#ffffff", 1.6]]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(x + 4 * dx, y + 4 * dy);
      context.lineTo(x + 13 * dx, y + 13 * dy);
    }
    if (isBrush()) {
      const r = (state.reach - 0.5) * at.scaleX;
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
    }
    context.stroke();
  }
}

/** The pixel under a point of the stage, or nothing outside the image. */
function pixelAt(point) {
  const stage = element("stage");
  const at = frame(state.content, stage.clientWidth, stage.clientHeight);
  const x = Math.floor((point[0] - at.left) / at.scaleX);
  const y = Math.floor((point[1] - at.top) / at.scaleY);
  const inside = x >= 0 && y >= 0 && x < state.content.width && y < state.content.height;
  return inside ? [x, y] : null;
}

/** Say in words what is on the canvas, for whoever does not see it. */
function describe() {
  const about = report.cases[state.place];
  const parts = [`Case ${about.name}`];
  if (isMasks) {
    const view = state.whole.views[state.view];
    if (view.depth > 1) parts.push(`${view.name} slice ${state.slice + 1} of ${view.depth}`);
    const shown = [...state.whole.raters, FUSED].filter((i) => state.shown[i]);
    parts.push(`outlines of ${shown.map((i) => report.layers[i].name).join(", ") || "nobody"}`);
    parts.push(`${view.disputed[state.slice]} disputed pixels`);
    if (state.mark) parts.push(`mark at column ${state.mark[0] + 1}, row ${state.mark[1] + 1}`);
    element("slice").value = state.slice;
    element("slice-number").textContent = `${state.slice + 1} / ${view.depth}`;
  }
  element("canvas").setAttribute("aria-label", parts.join(", "));
}
