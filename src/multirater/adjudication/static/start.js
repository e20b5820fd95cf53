// Everything begins here.

const SECONDS_BETWEEN_NEWS = 3;
const WHO = "multirater-who";

function remembered() {
  try {
    return localStorage.getItem(WHO);
  } catch {
    return null;
  }
}

function startWho() {
  element("who").value = remembered() || report.who;
  element("who").addEventListener("change", () => {
    try {
      localStorage.setItem(WHO, element("who").value.trim());
    } catch {
      // A browser that keeps nothing asks again next time.
    }
  });
}

function startChoices() {
  const on = (id, kind, react) => element(id).addEventListener(kind, react);
  on("previous", "click", () => show(state.place - 1));
  on("next", "click", () => show(state.place + 1));
  on("zoom-in", "click", () => zoomBy(1.5));
  on("zoom-out", "click", () => zoomBy(1 / 1.5));
  on("zoom-all", "click", () => zoomBy(0.001));
  on("accept", "click", accept);
  on("undo", "click", undo);
  on("skip", "click", skip);
  on("why", "keydown", endReason);
  on("show-label", "change", (event) => { state.showLabel = event.target.checked; draw(); });
  on("show-uncertainty", "change", (event) => {
    state.showUncertainty = event.target.checked;
    element("ramp").hidden = !event.target.checked;
    draw();
  });
  on("tools", "change", (event) => setTool(event.target.value));
  on("class", "change", (event) => { state.painted = Number(event.target.value); });
  on("reach", "input", (event) => setReach(Number(event.target.value)));
  on("slice", "input", (event) => { state.slice = Number(event.target.value); showSlice(); });
  on("view", "change", (event) => { state.view = Number(event.target.value); show(state.place); });
  on("channel", "change", (event) => {
    state.channel = Number(event.target.value);
    if (isMasks) draw();
    else showSlice();
  });
}

startWho();
startChoices();
element("go-on").checked = !isMasks;
element("show-label").after(swatch(GOLD_LAYER));
const names = report.classes.map((each, k) => [k, each.name]).slice(1);
element("class-choice").hidden = names.length < 2;
if (names.length) fillSelect(element("class"), names, 1);
buildList();
showProgress();
listenToStage(element("stage"));
listenToKeys();
new ResizeObserver(() => draw()).observe(element("stage"));
setInterval(news, 1000 * SECONDS_BETWEEN_NEWS);
const first = report.cases.findIndex((_, place) => isOpen(place));
show(Math.max(first, 0));
