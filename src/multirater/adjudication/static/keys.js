// Keys work wherever no field wants them.

const TOOLS = { v: "look", p: "paint", e: "erase", b: "brush", x: "eraser" };
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function setReach(reach) {
  state.reach = Math.min(Math.max(reach, 1), 40);
  element("reach").value = state.reach;
  draw();
}

function nextClass() {
  const n = report.classes.length - 1;
  state.painted = (state.painted % n) + 1;
  element("class").value = state.painted;
  say(`Painting ${report.classes[state.painted].name}.`);
}

function takeByNumber(number) {
  if (!isMasks) {
    if (number <= report.classes.length) decide({ act: "class", class: number - 1 });
  } else if (number <= state.whole.raters.length) {
    decide({ act: "take", layer: state.whole.raters[number - 1] });
  }
}

const ACTS = {
  ArrowLeft: () => show(state.place - 1),
  ArrowRight: () => show(state.place + 1),
  ArrowUp: () => moveSlice(1),
  ArrowDown: () => moveSlice(-1),
  Enter: accept,
  f: () => decide({ act: "take", layer: "fused" }),
  u: undo,
  s: skip,
  "+": () => zoomBy(1.5),
  "=": () => zoomBy(1.5),
  "-": () => zoomBy(1 / 1.5),
  0: () => zoomBy(0.001),
};
const MASK_ACTS = {
  d: nextRegion,
  c: nextClass,
  "[": () => setReach(state.reach - 1),
  "]": () => setReach(state.reach + 1),
  " ": () => (state.tool === "look" ? say("Choose a tool first.") : useTool(state.mark || middle())),
};

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !element("keys-on").checked) return;
    const control = event.target.closest("input, select, textarea, button, summary, a");
    const types = control && control.matches("input:not([type=checkbox]):not([type=radio]), select, textarea");
    if (types || (control && [" ", "Enter"].includes(event.key))) return;
    if (control && control.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
    if (!state.content) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (isMasks && event.shiftKey && STEPS[key]) moveMark(...STEPS[key]);
    else if (isMasks && TOOLS[key]) setTool(TOOLS[key]);
    else if (isMasks && MASK_ACTS[key]) MASK_ACTS[key]();
    else if (/^[1-9]$/.test(key)) takeByNumber(Number(key));
    else if (ACTS[key]) ACTS[key]();
    else return;
    event.preventDefault();
  });
}
