// The viewer: one case at a time, with outlines that can be switched on and off.

const element = (id) => document.getElementById(id);
const isMasks = report.kind === "masks";
const raterLayers = report.layers.filter((layer) => layer.kind === "rater");
const state = {
  place: 0, slice: 0, overlay: "none", opacity: 0.6, wanted: -1, channel: 0,
  zoom: 1, x: 0, y: 0, shown: report.layers.map((layer) => layer.shown), ticket: 0,
  view: "", whole: null, content: null,
};
const GROUPS = [
  ["rater", "Raters"], ["truth", "Truth and fusions"], ["predictions", "Networks"],
  ["predicted rater", "What a network expects of each rater"],
];
const groupOf = (layer) => (["reference", "fusion", "gold"].includes(layer.kind) ? "truth" : layer.kind);

async function show(place, { announce = true } = {}) {
  const ticket = ++state.ticket;
  state.place = Math.min(Math.max(place, 0), report.cases.length - 1);
  markCurrent();
  const about = report.cases[state.place];
  const apart = about.disagreement === null ? "" : ` · disagreement ${about.disagreement.toFixed(2)}`;
  const position = `${state.place + 1} of ${report.cases.length}`;
  const split = about.split ? ` · ${about.split}` : "";
  element("case-name").setAttribute("aria-live", announce ? "polite" : "off");
  element("case-name").replaceChildren(about.name,
    make("small", { textContent: position + split + apart }));
  try {
    state.whole = await loadCase(state.place);
  } catch (error) {
    state.whole = state.content = null;
    note(`${error.message}. Is the folder “cases” still beside this page?`);
    return;
  }
  if (ticket !== state.ticket) return;
  state.content = chosenView(state.whole);
  const notes = [];
  if (!state.content.pictures) notes.push("This case has no image.");
  if (state.content.coarse > 1) {
    notes.push(`Outlines are too intricate for the page: one pixel of ${state.content.coarse} is kept.`);
  }
  note(notes.join(" "));
  settle(state.content, about);
  await draw();
  if (state.place + 1 < report.cases.length) loadCase(state.place + 1).catch(() => {});
}

/** The way through a volume that was chosen: each is stored like a case of its own. */
function chosenView(whole) {
  const views = [whole, ...(whole.views || [])];
  element("view-choice").hidden = views.length < 2;
  if (views.length < 2) return whole;
  fillSelect(element("view"), views.map((each) => [each.view, each.view]), state.view);
  return views.find((each) => each.view === element("view").value);
}

function note(text) {
  element("stage-note").textContent = text;
  element("stage-note").hidden = !text;
}

/** Fit the controls to the case. */
function settle(content, about) {
  state.zoom = 1;
  state.x = state.y = 0;
  const several = content.slices.length > 1;
  element("slice-row").hidden = element("slice-keys").hidden = !several;
  state.slice = content.start;
  element("slice").max = content.slices.length - 1;
  element("channel-choice").hidden = !(content.pictures && content.pictures.length > 1);
  fillSelect(element("channel"), (content.pictures || [0]).map((_, i) => [i, i + 1]), state.channel);
  element("choices").hidden = ["channel", "class", "view"].every((id) => element(`${id}-choice`).hidden);
  if (isMasks) buildOverlays(content);
  for (const row of document.querySelectorAll(".layer")) {
    const i = Number(row.dataset.layer);
    const score = about.scores[i];
    const present = !content.rows || content.rows.some((each) => each[i] >= 0);
    row.classList.toggle("absent", !present);
    row.hidden = !present && raterLayers.length > 12;
    row.querySelector(".value").textContent =
      !present ? "none" : i < raterLayers.length && score !== null ? score.toFixed(2) : "";
  }
  if (!isMasks) showAnswers(content);
}

function startViewer() {
  if (isMasks) {
    buildLayers();
    const classes = report.classes.map((each, k) => [k, each.name]).slice(1);
    element("class-choice").hidden = classes.length < 2;
    fillSelect(element("class"), [[-1, "all"], ...classes], -1);
  } else {
    element("overlay-box").hidden = true;
    element("overlay-box").style.display = "none";
  }
  buildList();
  listenToPointers(element("stage"));
  listenToKeys();
  const on = (id, kind, act) => element(id).addEventListener(kind, act);
  on("previous", "click", () => show(state.place - 1));
  on("next", "click", () => show(state.place + 1));
  on("zoom-in", "click", () => zoomBy(1.5));
  on("zoom-out", "click", () => zoomBy(1 / 1.5));
  on("zoom-all", "click", () => zoomBy(0.001));
  on("case-filter", "input", (event) => buildList(event.target.value));
  on("overlay", "change", (event) => { state.overlay = event.target.value; draw(); });
  on("opacity", "input", (event) => { state.opacity = event.target.value / 100; draw(); });
  on("slice", "input", (event) => { state.slice = Number(event.target.value); draw(); });
  on("view", "change", (event) => { state.view = event.target.value; show(state.place); });
  on("class", "change", (event) => { state.wanted = Number(event.target.value); draw(); });
  on("channel", "change", (event) => { state.channel = Number(event.target.value); draw(); });
  new ResizeObserver(() => draw()).observe(element("stage"));
  show(0, { announce: false });
}
