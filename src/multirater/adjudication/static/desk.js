// What the page knows: the study, the case that is shown, and what is in hand.

const element = (id) => document.getElementById(id);
const isMasks = report.kind === "masks";
const FUSED = report.layers.length - 1;
const GOLD_LAYER = { colour: "#ffd24a", dash: [] };
const state = {
  place: 0, view: 0, slice: 0, channel: 0, zoom: 1, x: 0, y: 0, ticket: 0, count: report.count,
  whole: null, content: null, shown: report.layers.map(() => true), tool: "look", painted: 1,
  reach: 3, mark: null, showLabel: true, showUncertainty: false, here: [], skipping: false,
};
const nowOf = (place) => report.cases[place].now;
const isOpen = (place) => ["open", "draft"].includes(nowOf(place).state);

function say(text) {
  element("said").textContent = text;
}

function alarm(text) {
  element("alert").textContent = text;
  element("alert").hidden = !text;
}

/** How a case stands, in words. */
function standing(now) {
  const by = now.who ? ` by ${now.who}` : "";
  const why = now.why ? ` – “${now.why}”` : "";
  if (now.state === "decided") return `Decided${by}: ${now.class || now.how}${why}`;
  if (now.state === "skipped") return `Skipped${by}${why}`;
  if (now.state === "draft") {
    const kept = now.decided ? "the earlier decision stands until then" : "no gold label yet";
    return `Being painted${by}: kept, but ${kept}. Press Enter to decide.`;
  }
  return "Not decided yet.";
}

/** The next case that nobody has decided, skipped or has open, after this one or from the first. */
function nextOpen() {
  const n = report.cases.length;
  const taken = new Set(state.here.map((each) => each.place));
  for (let step = 1; step <= n; step++) {
    const place = (state.place + step) % n;
    if (isOpen(place) && !taken.has(place)) return place;
  }
  return -1;
}

async function show(place) {
  const ticket = ++state.ticket;
  state.place = Math.min(Math.max(place, 0), report.cases.length - 1);
  state.zoom = 1;
  state.x = state.y = 0;
  state.mark = null;
  markCurrent();
  showStanding();
  const whole = await ask(`cases/${state.place}`);
  if (ticket !== state.ticket || !whole) return;
  state.whole = whole;
  take(state.place, whole.now);
  if (isMasks) {
    state.view = Math.min(state.view, whole.views.length - 1);
    const disputed = whole.views[state.view].disputed;
    state.slice = disputed.indexOf(Math.max(...disputed));
    settleViews();
  }
  buildTakes();
  await showSlice();
}

/** Fetch and decode what the slice shows; the label as it is kept. */
async function showSlice() {
  const { ticket, place, view, slice, whole } = state;
  if (!isMasks) {
    const picture = await pictureFrom(whole.pictures[Math.min(state.channel, whole.pictures.length - 1)]);
    if (ticket !== state.ticket) return;
    const [width, height] = picture ? [picture.naturalWidth, picture.naturalHeight] : [1, 1];
    state.content = { picture, width, height };
    settleChannels(whole.pictures.length);
    note(picture ? "" : "This case has no image.");
    draw();
    return;
  }
  const found = await ask(`cases/${place}/${view}/${slice}`);
  if (!found || ticket !== state.ticket || slice !== state.slice || view !== state.view) return;
  const size = found.width * found.height;
  const [patterns, label, unsure] = await Promise.all(
    [found.runs, found.label, found.uncertainty].map((runs) => decodeRuns(runs, size)));
  const pictures = await Promise.all(found.pictures.map(pictureFrom));
  if (ticket !== state.ticket || slice !== state.slice || view !== state.view) return;
  state.content = {
    ...found, patterns, label, unsure, pictures, decoded: new Map(), place, view, slice,
    aspect: whole.views[view].aspect,
  };
  settleChannels(pictures.length);
  note(pictures.length ? "" : "This case has no image.");
  draw();
}

async function pictureFrom(text) {
  if (!text) return null;
  const image = new Image();
  image.src = `data:image/webp;base64,${text}`;
  await image.decode();
  return image;
}

function note(text) {
  element("stage-note").textContent = text;
  element("stage-note").hidden = !text;
}
