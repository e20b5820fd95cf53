// Painting: whole disputed regions by a click, a brush for the rest.

const isBrush = () => ["brush", "eraser"].includes(state.tool);
const erases = () => ["erase", "eraser"].includes(state.tool);
const inHand = () => (erases() ? 0 : state.painted);

function setTool(tool) {
  state.tool = tool;
  element("stage").dataset.tool = tool;
  document.querySelector(`#tools input[value="${tool}"]`).checked = true;
  if (tool !== "look" && !state.mark && state.content) state.mark = middle();
  draw();
}

function middle() {
  return [Math.floor(state.content.width / 2), Math.floor(state.content.height / 2)];
}

/** Paint pixels on the page at once, and have them kept. */
async function paint(pixels) {
  const { content } = state;
  const before = content.label.slice();
  const changed = pixels.filter((pixel) => content.label[pixel] !== inHand() + 1);
  if (!changed.length) {
    say("Nothing to change there.");
    return;
  }
  for (const pixel of changed) content.label[pixel] = inHand() + 1;
  draw();
  const isKept = await act({
    act: "paint", view: content.view, slice: content.slice, class: inHand(), runs: runsOf(changed) });
  if (isKept || state.content !== content) return;
  content.label = before;
  draw();
}

/** Use the tool in hand at a pixel. */
function useTool(spot, isWide = false) {
  const { content } = state;
  const region = isBrush() ? disc(content, spot, state.reach)
    : regionAt(content, spot[1] * content.width + spot[0], isWide);
  if (region.length) paint(region);
  else say("Raters agree here; the brush (b) paints anywhere.");
}

function nextRegion() {
  const { content } = state;
  const regions = regionsOf(content);
  if (!regions.length) {
    say("Nothing is disputed on this slice.");
    return;
  }
  content.region = ((content.region ?? -1) + 1) % regions.length;
  const pixel = regions[content.region];
  state.mark = [pixel % content.width, Math.floor(pixel / content.width)];
  say(`Disputed region ${content.region + 1} of ${regions.length}: ${wordsOf(pixel)}`);
  draw();
}

/** Who says what of a pixel. */
function wordsOf(pixel) {
  const row = state.content.rows[state.content.patterns[pixel]];
  const by = new Map();
  state.whole.raters.forEach((layer, column) => {
    if (row[column] < 0) return;
    const name = report.classes[row[column]].name;
    by.set(name, [...(by.get(name) || []), report.layers[layer].name]);
  });
  return [...by].map(([name, who]) => `${name} by ${who.join(", ")}`).join("; ");
}

function moveMark(dx, dy) {
  const { content } = state;
  const [x, y] = state.mark || middle();
  state.mark = [
    Math.min(Math.max(x + dx, 0), content.width - 1), Math.min(Math.max(y + dy, 0), content.height - 1)];
  draw();
}

/** Drags pan while looking, and paint with the brush in hand. */
function listenToStage(stage) {
  let stroke = null;
  let before = null;
  const place = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const dab = (spot) => {
    const { content } = state;
    for (const each of lineOf(stroke.last, spot)) {
      for (const pixel of disc(content, each, state.reach)) stroke.pixels.add(pixel);
    }
    stroke.last = spot;
    state.mark = spot;
    draw();
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button") || !state.content) return;
    before = place(event);
    const spot = isMasks && state.tool !== "look" ? pixelAt(before) : null;
    if (!spot) return;
    state.mark = spot;
    if (!isBrush()) return;
    stage.setPointerCapture(event.pointerId);
    stroke = { last: spot, pixels: new Set() };
    dab(spot);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!before) return;
    const now = place(event);
    if (stroke) {
      const spot = pixelAt(now);
      if (spot) dab(spot);
    } else if (state.zoom > 1 && (state.tool === "look" || !isMasks)) {
      state.x += now[0] - before[0];
      state.y += now[1] - before[1];
      before = now;
      settleZoom();
    }
  });
  stage.addEventListener("pointerup", (event) => {
    if (stroke) paint([...stroke.pixels]);
    else if (before && isMasks && state.tool !== "look") {
      const spot = pixelAt(place(event));
      if (spot) useTool(spot, event.shiftKey);
    }
    before = stroke = null;
  });
  stage.addEventListener("pointercancel", () => {
    before = stroke = null;
  });
  stage.addEventListener("wheel", (event) => {
    if (document.activeElement !== stage && !event.ctrlKey) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.002), place(event));
  }, { passive: false });
}
