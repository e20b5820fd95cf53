// What lies beside the image: outlines to switch on and off, overlays, answers.

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
