// The viewer: one case at a time, with outlines that can be switched on and off.

const element = (id) => document.getElementById(id);
const isMasks = report.kind === "masks";
const raterLayers = report.layers.filter((layer) => layer.kind === "rater");
const state = {
  place: 0, slice: 0, overlay: "none", opacity: 0.6, wanted: -1, channel: 0,
  zoom: 1, x: 0, y: 0, shown: report.layers.map((layer) => layer.shown), content: null, ticket: 0,
};
const GROUPS = [
  ["rater", "Raters"], ["truth", "Truth and fusions"], ["predictions", "Networks"],
  ["predicted rater", "What a network expects of each rater"],
];
const groupOf = (layer) => (["reference", "fusion"].includes(layer.kind) ? "truth" : layer.kind);

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function swatch(layer) {
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const picture = svg("svg", { class: "swatch", viewBox: "0 0 26 14", "aria-hidden": "true" });
  picture.append(svg("rect", { width: 26, height: 14, rx: 3 }));
  picture.append(svg("line", {
    x1: 4, x2: 22, y1: 7, y2: 7, stroke: layer.colour, "stroke-dasharray": layer.dash.join(" ") }));
  return picture;
}

function buildLayers() {
  for (const [kind, title] of GROUPS) {
    const members = report.layers.map((layer, i) => [layer, i]).filter(([l]) => groupOf(l) === kind);
    if (!members.length) continue;
    const box = make("fieldset", { className: "layer-group" });
    const legend = make("legend", {}, make("span", { textContent: title }));
    if (members.length > 2) legend.append(allOrNone(members, title));
    const list = make("div", { className: "layer-list" });
    for (const [layer, i] of members) list.append(layerRow(layer, i));
    box.append(legend, list);
    element("layers").append(box);
  }
}

function allOrNone(members, title) {
  const button = make("button", { type: "button", textContent: "all or none" });
  button.setAttribute("aria-label", `${title}: all or none`);
  button.addEventListener("click", () => {
    const any = members.some(([, i]) => state.shown[i]);
    for (const [, i] of members) setShown(i, !any);
    draw();
  });
  return button;
}

function layerRow(layer, i) {
  const box = make("input", { type: "checkbox", checked: state.shown[i], id: `layer-${i}` });
  box.addEventListener("change", () => {
    state.shown[i] = box.checked;
    draw();
  });
  const name = layer.result ? `${layer.name} (${layer.result})` : layer.name;
  const row = make("label", { className: "layer", htmlFor: box.id }, box, swatch(layer),
    make("span", { className: "label", textContent: name }), make("span", { className: "value" }));
  row.dataset.layer = i;
  return row;
}

function setShown(i, shown) {
  state.shown[i] = shown;
  const box = element(`layer-${i}`);
  if (box) box.checked = shown;
}

function fillSelect(select, options, value) {
  select.replaceChildren(...options.map(([key, text]) => new Option(text, key)));
  select.value = options.some(([key]) => String(key) === String(value)) ? value : options[0][0];
  return select.value;
}

/** What can lie over the image depends on what was written for the case. */
function buildOverlays(content) {
  const options = [["none", "none"]];
  if (raterLayers.length > 1) options.push(["votes", "disagreement among raters"]);
  if (report.reference >= 0) {
    raterLayers.forEach((layer, i) => options.push([`error ${i}`, `mistakes of ${layer.name}`]));
  }
  (content.maps || []).forEach((map) => options.push([`map ${map.name}`, map.name]));
  state.overlay = fillSelect(element("overlay"), options, state.overlay);
}

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
    state.content = await loadCase(state.place);
  } catch (error) {
    state.content = null;
    note(`${error.message}. Is the folder “cases” still beside this page?`);
    return;
  }
  if (ticket !== state.ticket) return;
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
  element("choices").hidden = element("channel-choice").hidden && element("class-choice").hidden;
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

async function draw() {
  const content = state.content;
  if (!content) return;
  const { slice, ticket } = state;
  const picture = await pictureOf(content, state.channel, slice);
  const patterns = content.runs ? await patternsOf(content, slice) : null;
  const overlay = patterns ? await overlayCanvas(content, patterns, slice) : null;
  if (ticket !== state.ticket || slice !== state.slice || content !== state.content) return;
  const canvas = element("canvas");
  const stage = element("stage");
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [stage.clientWidth, stage.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const size = picture && !content.width
    ? { ...content, width: picture.naturalWidth, height: picture.naturalHeight } : content;
  const at = frame(size, width, height);
  context.translate(at.left, at.top);
  const [w, h] = [(size.width || 0) * at.scaleX, (size.height || 0) * at.scaleY];
  context.fillStyle = "#2a3038";
  context.fillRect(0, 0, w, h);
  context.imageSmoothingEnabled = at.scaleX < 3;
  if (picture) context.drawImage(picture, 0, 0, w, h);
  if (overlay) {
    context.globalAlpha = state.opacity;
    context.imageSmoothingEnabled = overlay.smooth;
    context.drawImage(overlay.canvas, 0, 0, overlay.width * at.scaleX, overlay.height * at.scaleY);
    context.globalAlpha = 1;
  }
  if (patterns) drawOutlines(context, content, patterns, at);
  describe(content, slice);
}

function drawOutlines(context, content, patterns, at) {
  report.layers.forEach((layer, i) => {
    if (!state.shown[i]) return;
    const path = once(content.decoded, `outline ${i} ${state.slice} ${state.wanted}`, () =>
      outlinePath(patterns, content.rows, i, content.width, content.height, state.wanted));
    strokeOutline(context, path, layer, at.scaleX, at.scaleY, 2);
  });
}

async function overlayCanvas(content, patterns, slice) {
  element("ramp").hidden = !/^(votes|map)/.test(state.overlay);
  if (state.overlay === "none") return null;
  const number = (content.maps || []).findIndex((map) => state.overlay === `map ${map.name}`);
  const values = number >= 0 ? await mapOf(content, number, slice) : patterns;
  return once(content.decoded, `overlay ${state.overlay} ${slice}`, () => {
    const whole = { width: content.width, height: content.height, smooth: false };
    if (state.overlay === "votes") {
      const colours = content.rows.map((row) => {
        const value = voteEntropy(row, raterLayers.length, report.classes.length);
        return [...rampColour(value), value > 0 ? 1 : 0];
      });
      return { ...whole, canvas: colourCanvas(values, colours, content.width, content.height) };
    }
    if (number < 0) {
      return { ...whole, canvas: errorCanvas(content, patterns, Number(state.overlay.split(" ")[1])) };
    }
    const map = content.maps[number];
    const colours = Array.from({ length: 32 }, (_, i) => [...rampColour(i / 31), i ? 1 : 0.25]);
    return {
      canvas: colourCanvas(values, colours, map.width, map.height), smooth: true,
      width: (map.width * map.factor) / content.coarse,
      height: (map.height * map.factor) / content.coarse,
    };
  });
}

/** Say in words what is on the canvas, for whoever does not see it. */
function describe(content, slice) {
  const drawn = report.layers.filter((_, i) => state.shown[i]).map((layer) => layer.name);
  const parts = [`Case ${content.name}`];
  if (content.slices.length > 1) {
    parts.push(`slice ${content.slices[slice] + 1} of ${content.depth}`);
    element("slice").value = slice;
    element("slice-number").textContent = `${content.slices[slice] + 1} / ${content.depth}`;
  }
  if (isMasks) parts.push(drawn.length ? `outlines of ${drawn.join(", ")}` : "no outlines");
  if (state.overlay !== "none") parts.push(`overlay: ${state.overlay.replace(/^(map|error) /, "")}`);
  element("canvas").setAttribute("aria-label", parts.join(", "));
}

/** Class labels: how many raters said what, and who. */
function showAnswers(content) {
  const nameOf = (k) => (k < 0 ? "–" : report.classes[k].name);
  const meant = report.reference >= 0 ? content.answers[report.reference] : -1;
  const given = content.answers.slice(0, raterLayers.length);
  const counts = report.classes.map((_, k) => given.filter((answer) => answer === k).length);
  const most = Math.max(...counts, 1);
  const votes = make("ul", { className: "votes" });
  counts.forEach((count, k) => {
    if (!count && k !== meant) return;
    const bar = make("i");
    bar.style.width = `${(100 * count) / most}%`;
    const mark = k === meant ? ` (${report.referenceName.replace(/^the /, "")})` : "";
    votes.append(make("li", { className: k === meant ? "chosen" : "" },
      make("div", { className: "row" }, make("span", { textContent: nameOf(k) + mark }),
        make("span", { textContent: count })), make("div", { className: "meter" }, bar)));
  });
  const table = make("table", { className: "answers" });
  report.layers.forEach((layer, i) => {
    const answer = content.answers[i];
    if (answer < 0) return;
    const isRater = layer.kind === "rater";
    const verdict = !isRater || meant < 0 ? "" : answer === meant ? "right" : "wrong";
    const cell = make("td", { className: verdict, textContent: nameOf(answer) });
    if (verdict === "wrong") cell.append(make("span", { className: "sr", textContent: " (differs)" }));
    const head = make("th", { textContent: layer.name });
    head.scope = "row";
    table.append(make("tr", {}, head, cell));
  });
  element("layers").replaceChildren(votes, table);
}

function markCurrent() {
  for (const button of element("case-list").querySelectorAll("button")) {
    const current = Number(button.dataset.case) === state.place;
    if (current) {
      button.setAttribute("aria-current", "true");
      const list = element("case-list");
      const [box, own] = [list.getBoundingClientRect(), button.getBoundingClientRect()];
      if (own.bottom > box.bottom || own.top < box.top) list.scrollTop += own.top - box.top - box.height / 3;
      if (own.right > box.right || own.left < box.left) list.scrollLeft += own.left - box.left - 20;
    } else button.removeAttribute("aria-current");
  }
}

const MOST_LISTED = 300;

function buildList(wanted = "") {
  const text = wanted.trim().toLowerCase();
  const found = report.cases.map((about, i) => [about, i])
    .filter(([about]) => about.name.toLowerCase().includes(text));
  element("case-list").replaceChildren(...found.slice(0, MOST_LISTED).map(([about, i]) => listEntry(about, i)));
  const more = found.length - MOST_LISTED;
  element("case-list-note").hidden = more <= 0 && found.length > 0;
  element("case-list-note").textContent =
    found.length ? `${more} more: find them by name.` : "No case of that name.";
  markCurrent();
}

function listEntry(about, i) {
  const value = about.disagreement;
  const bar = make("i");
  bar.style.width = `${100 * (value || 0)}%`;
  const words = make("span", {}, make("span", { className: "row" },
    make("span", { textContent: about.name }),
    make("span", { textContent: value === null ? "" : value.toFixed(2) })),
    make("span", { className: "meter" }, bar));
  words.style.display = "grid";
  words.querySelector(".meter").style.display = "block";
  const button = make("button", { type: "button" }, words);
  button.dataset.case = i;
  button.addEventListener("click", () => show(i));
  if (!isMasks) whenSeen(button, () => thumbnail(button, i));
  return make("li", {}, button);
}

async function thumbnail(button, place) {
  const content = await loadCase(place);
  const picture = await pictureOf(content, 0, 0);
  if (!picture || button.querySelector("img")) return;
  button.classList.add("with-image");
  const image = make("img", { src: picture.src, alt: "" });
  button.prepend(image);
}

function whenSeen(target, act) {
  const observer = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      observer.disconnect();
      act();
    }
  }, { rootMargin: "200px" });
  observer.observe(target);
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
  on("class", "change", (event) => { state.wanted = Number(event.target.value); draw(); });
  on("channel", "change", (event) => { state.channel = Number(event.target.value); draw(); });
  new ResizeObserver(() => draw()).observe(element("stage"));
  show(0, { announce: false });
}
