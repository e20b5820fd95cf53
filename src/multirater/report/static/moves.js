// Pan, slices and keys.

function moveSlice(step) {
  if (!state.content || state.content.slices.length < 2) return;
  state.slice = Math.min(Math.max(state.slice + step, 0), state.content.slices.length - 1);
  draw();
}

function listenToPointers(stage) {
  const down = new Map();
  const apart = () => {
    const [a, b] = [...down.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  const place = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button")) return;
    down.set(event.pointerId, place(event));
    if (state.zoom > 1) stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const [before, now] = [down.get(event.pointerId), place(event)];
    if (down.size === 2) {
      const wide = apart();
      down.set(event.pointerId, now);
      zoomBy(apart() / Math.max(wide, 1), now);
    } else {
      down.set(event.pointerId, now);
      if (state.zoom <= 1) return;
      stage.classList.add("dragging");
      state.x += now[0] - before[0];
      state.y += now[1] - before[1];
      settleZoom();
    }
  });
  const up = (event) => {
    down.delete(event.pointerId);
    stage.classList.remove("dragging");
  };
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) stage.addEventListener(kind, up);
  stage.addEventListener("dblclick", (event) => {
    if (!event.target.closest("button")) zoomBy(state.zoom > 1 ? 0.001 : 3, place(event));
  });
  stage.addEventListener("wheel", (event) => {
    const here = document.activeElement === stage || event.ctrlKey;
    if (!here) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.002), place(event));
  }, { passive: false });
}

/** Keys work while the viewer is in sight and no other control wants them. */
function listenToKeys() {
  let inSight = false;
  new IntersectionObserver((entries) => {
    inSight = entries.some((entry) => entry.isIntersecting);
  }).observe(element("stage"));
  const onStage = () => element("stage").contains(document.activeElement);
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea, .scroll, .matrices")) return;
    if (!inSight && !onStage()) return;
    if (event.key === "ArrowLeft") show(state.place - 1);
    else if (event.key === "ArrowRight") show(state.place + 1);
    else if (onStage() && state.content && state.content.slices.length > 1
      && ["ArrowUp", "ArrowDown"].includes(event.key)) moveSlice(event.key === "ArrowUp" ? 1 : -1);
    else if (event.key === "+" || event.key === "=") zoomBy(1.5);
    else if (event.key === "-") zoomBy(1 / 1.5);
    else if (event.key === "0") zoomBy(0.001);
    else if (/^[1-9]$/.test(event.key) && isMasks && Number(event.key) <= raterLayers.length) {
      setShown(Number(event.key) - 1, !state.shown[Number(event.key) - 1]);
      draw();
    } else return;
    event.preventDefault();
  });
}
