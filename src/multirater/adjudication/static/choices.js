// What lies around the image: cases, what may be taken, how the case stands, who else is here.

const buttons = [];
const MARKS = { open: "○", draft: "◐", decided: "●", skipped: "–" };

function buildList() {
  const entries = report.cases.map((about, place) => {
    const bar = make("i");
    bar.style.width = `${100 * about.disagreement}%`;
    const mark = make("span", { className: "sign" });
    mark.setAttribute("aria-hidden", "true");
    const button = make("button", { type: "button" }, mark,
      make("span", { className: "row" }, make("span", { textContent: about.name }),
        make("span", { textContent: about.disagreement.toFixed(2) })),
      make("span", { className: "by" }), make("span", { className: "sr" }));
    button.dataset.place = place;
    button.addEventListener("click", () => show(place));
    buttons.push(button);
    return make("li", {}, button);
  });
  element("case-list").replaceChildren(...entries);
  report.cases.forEach((_, place) => markCase(place));
  const { undisputed } = report;
  element("undisputed").textContent = undisputed ? `${undisputed} more are not disputed.` : "";
}

function markCase(place) {
  const button = buttons[place];
  if (!button) return;
  const now = nowOf(place);
  const others = state.here.filter((each) => each.place === place).map((each) => each.who || "somebody");
  button.dataset.state = now.state;
  button.querySelector(".sign").textContent = MARKS[now.state];
  button.querySelector(".by").textContent =
    others.length ? `${others.join(", ")} here` : now.state === "open" ? "" : now.who;
  button.querySelector(".sr").textContent = `, ${now.state}`;
}

function markCurrent() {
  const [list, own] = [element("case-list"), buttons[state.place]];
  const before = list.querySelector("[aria-current]");
  if (before) before.removeAttribute("aria-current");
  own.setAttribute("aria-current", "true");
  const [box, mine] = [list.getBoundingClientRect(), own.getBoundingClientRect()];
  if (mine.bottom > box.bottom || mine.top < box.top) list.scrollTop += mine.top - box.top - box.height / 3;
  if (mine.right > box.right || mine.left < box.left) list.scrollLeft += mine.left - box.left - 20;
  const about = report.cases[state.place];
  element("case-name").replaceChildren(about.name, make("small", {
    textContent: `${state.place + 1} of ${report.cases.length} · disagreement ${about.disagreement.toFixed(2)}` }));
}

function showStanding() {
  const now = nowOf(state.place);
  element("standing").textContent = standing(now);
  element("standing").dataset.state = now.state;
  element("accept").disabled = now.state !== "draft";
  for (const button of document.querySelectorAll(".class-choice")) {
    button.setAttribute("aria-pressed", String(now.class === button.dataset.name));
  }
}

function showProgress() {
  const decided = report.cases.filter((each) => each.now.decided).length;
  const skipped = report.cases.filter((each) => each.now.state === "skipped").length;
  element("progress").textContent =
    `${decided} of ${report.cases.length} disputed cases decided, ${skipped} skipped`;
}

function showPeople(before) {
  const words = state.here.map(({ who, place }) =>
    `${who || "Somebody"} is at ${(report.cases[place] || { name: "?" }).name}.`);
  element("people").textContent = words.join(" ");
  for (const { place } of [...before, ...state.here]) markCase(place);
}

/** Raters' drawings and the fused label, each to look at and to take; or the classes. */
function buildTakes() {
  const rows = isMasks ? [...state.whole.raters, FUSED].map(takeRow) : report.classes.map(classRow);
  element("takes").replaceChildren(...rows);
  showStanding();
}

function takeRow(layer, number) {
  const about = report.layers[layer];
  const isFused = layer === FUSED;
  const box = make("input", { type: "checkbox", checked: state.shown[layer], id: `layer-${layer}` });
  box.addEventListener("change", () => {
    state.shown[layer] = box.checked;
    draw();
  });
  const name = isFused ? `fused (${report.method})` : about.name;
  const label = make("label", { className: "layer", htmlFor: box.id }, box, swatch(about),
    make("span", { className: "label", textContent: name }));
  const key = isFused ? "f" : number < 9 ? String(number + 1) : "";
  const button = make("button", { type: "button", textContent: "Take" });
  button.setAttribute("aria-label", isFused ? "Take what was fused" : `Take the drawing of ${about.name}`);
  button.addEventListener("click", () => decide({ act: "take", layer: isFused ? "fused" : layer }));
  return make("div", { className: "take" }, make("kbd", { textContent: key, hidden: !key }), label, button);
}

function classRow(about, k) {
  const { whole } = state;
  const who = whole.raters.filter((_, i) => whole.answers[i] === k).map((i) => report.layers[i].name);
  const share = whole.probability[k];
  const button = make("button", { type: "button", className: "class-choice" },
    make("kbd", { textContent: k < 9 ? String(k + 1) : "", hidden: k >= 9 }),
    make("span", { textContent: about.name }),
    make("span", { textContent: `${Math.round(100 * share)} %`, title: "by the fusion" }),
    make("small", { textContent: who.length ? who.join(", ") : "nobody" }));
  button.dataset.name = about.name;
  button.addEventListener("click", () => decide({ act: "class", class: k }));
  return button;
}

/** Decide, and go on to the next case if that is wished for. */
async function decide(what) {
  const place = state.place;
  const isKept = await act(what);
  if (!isKept || place !== state.place) return;
  if (element("go-on").checked) goOn();
  else if (isMasks) await showSlice();
}

function goOn() {
  const place = nextOpen();
  if (place < 0) say("Every disputed case is decided or skipped.");
  else show(place);
}

async function accept() {
  if (nowOf(state.place).state === "draft" && !(await act({ act: "accept" }))) return;
  goOn();
}

async function undo() {
  if (await act({ act: "undo" }) && isMasks) await showSlice();
}

async function skip() {
  if (!element("why").value.trim()) {
    say("Say why you skip this case, then press Enter.");
    state.skipping = true;
    element("why").focus();
    return;
  }
  state.skipping = false;
  if (await act({ act: "skip" })) goOn();
}

/** Enter after a reason skips only if that is what the reason was asked for. */
function endReason(event) {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  element("stage").focus();
  if (event.key === "Enter" && state.skipping) skip();
  else if (event.key === "Enter") say("This is kept with your next decision.");
  state.skipping = false;
}

function settleChannels(n) {
  element("channel-choice").hidden = n < 2;
  if (n > 1) fillSelect(element("channel"), Array.from({ length: n }, (_, i) => [i, i + 1]), state.channel);
}

function settleViews() {
  const { views } = state.whole;
  element("view-choice").hidden = views.length < 2;
  if (views.length > 1) fillSelect(element("view"), views.map((each, i) => [i, each.name]), state.view);
  const { depth } = views[state.view];
  element("slice-row").hidden = depth < 2;
  element("slice").max = depth - 1;
}

function moveSlice(step) {
  if (!isMasks) return;
  const { depth } = state.whole.views[state.view];
  state.slice = Math.min(Math.max(state.slice + step, 0), depth - 1);
  showSlice();
}
