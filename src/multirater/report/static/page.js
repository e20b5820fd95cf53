// Everything around the viewer: tables that sort, pictures of mistakes, printing.

function sortTable(table, column, button) {
  const head = button.closest("th");
  const rising = head.getAttribute("aria-sort") === "descending" ||
    (head.getAttribute("aria-sort") === "none" && column === 0);
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const valueOf = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const rows = [...table.tBodies[0].rows];
  const numbers = rows.every((row) => valueOf(row) === "" || !Number.isNaN(Number(valueOf(row))));
  rows.sort((a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x === "" || y === "") return (x === "") - (y === ""); // unknown stays last
    const order = numbers ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true });
    return rising ? order : -order;
  });
  table.tBodies[0].append(...rows);
}

function startTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = cell.querySelector("button");
      button.addEventListener("click", () => sortTable(table, column, button));
    });
  }
}

/** The smallest square around what the rater or the reference drew, with room to see it in. */
function cropOf(content, patterns, rater) {
  const { width, height, aspect } = content;
  const there = content.rows.map((row) => row[rater] > 0 || row[report.reference] > 0);
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let i = 0; i < patterns.length; i++) {
    if (!there[patterns[i]]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const whole = { x: 0, y: 0, side: Math.max(width, height * aspect) };
  if (right < 0) return { ...whole, x: (width - whole.side) / 2, y: (height - whole.side / aspect) / 2 };
  const tight = 1.5 * Math.max(right - left + 1, (bottom - top + 1) * aspect, 24);
  const side = Math.min(tight, whole.side);
  return { x: (left + right + 1) / 2 - side / 2, y: (top + bottom + 1) / 2 - side / aspect / 2, side };
}

/** The slice on which a rater has most pixels wrong. */
async function worstSlice(content, rater) {
  let [worst, most] = [0, -1];
  for (let slice = 0; slice < content.slices.length; slice++) {
    const patterns = await patternsOf(content, slice);
    const wrong = content.rows.map((row) => errorColour(row, rater, report.reference)[3] > 0);
    let count = 0;
    for (const pattern of patterns) count += wrong[pattern];
    if (count > most) [worst, most] = [slice, count];
  }
  return worst;
}

async function drawMistake(button) {
  const rater = Number(button.dataset.rater);
  const content = await loadCase(Number(button.dataset.case));
  const canvas = button.querySelector("canvas");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const side = 220;
  canvas.width = canvas.height = side * ratio;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!content.runs) {
    await drawWhole(context, content, side);
    const nameOf = (k) => (k < 0 ? "nothing" : report.classes[k].name);
    const said = `${nameOf(content.answers[rater])}, not ${nameOf(content.answers[report.reference])}`;
    button.querySelector(".score").textContent = `said ${said}`;
    return;
  }
  const slice = await worstSlice(content, rater);
  button.dataset.slice = slice;
  const patterns = await patternsOf(content, slice);
  const picture = await pictureOf(content, 0, slice);
  const crop = cropOf(content, patterns, rater);
  const scaleX = side / crop.side;
  const scaleY = scaleX * content.aspect;
  context.fillStyle = "#2a3038";
  context.fillRect(0, 0, side, side);
  context.translate(-crop.x * scaleX, -crop.y * scaleY);
  context.imageSmoothingEnabled = scaleX < 3;
  const [w, h] = [content.width * scaleX, content.height * scaleY];
  if (picture) context.drawImage(picture, 0, 0, w, h);
  context.imageSmoothingEnabled = false;
  context.globalAlpha = 0.5;
  context.drawImage(errorCanvas(content, patterns, rater), 0, 0, w, h);
  context.globalAlpha = 1;
  for (const column of [report.reference, rater]) {
    const path = outlinePath(patterns, content.rows, column, content.width, content.height, -1);
    strokeOutline(context, path, report.layers[column], scaleX, scaleY, 1.6);
  }
}

async function drawWhole(context, content, side) {
  const picture = await pictureOf(content, 0, 0);
  context.fillStyle = "#2a3038";
  context.fillRect(0, 0, side, side);
  if (!picture) return;
  const scale = Math.min(side / picture.naturalWidth, side / picture.naturalHeight);
  const [w, h] = [picture.naturalWidth * scale, picture.naturalHeight * scale];
  context.imageSmoothingEnabled = scale < 3;
  context.drawImage(picture, (side - w) / 2, (side - h) / 2, w, h);
}

function startMistakes() {
  for (const button of document.querySelectorAll(".mistake")) {
    const rater = Number(button.dataset.rater);
    const score = report.cases[button.dataset.case].scores[rater];
    const words = isMasks && score !== null ? `, Dice ${score.toFixed(2)}` : "";
    button.setAttribute("aria-label",
      `${report.cases[button.dataset.case].name}${words}: show it in the viewer`);
    whenSeen(button, () => drawOnce(button));
    button.addEventListener("click", () => openMistake(button, rater));
  }
}

function drawOnce(button) {
  if (button.drawn) return Promise.resolve();
  button.drawn = true;
  return drawMistake(button);
}

/** Draw what nobody scrolled to while there is time, so that printing finds it. */
async function drawTheRest() {
  const idle = window.requestIdleCallback || ((act) => setTimeout(act, 50));
  for (const button of document.querySelectorAll(".mistake")) {
    await new Promise((go) => idle(go));
    await drawOnce(button);
  }
}

/** Show a mistake in the viewer: this rater and the reference, with the mistake coloured. */
async function openMistake(button, rater) {
  if (isMasks) {
    report.layers.forEach((_, i) => setShown(i, i === rater || i === report.reference));
    state.overlay = `error ${rater}`;
  }
  state.view = ""; // the view in which the mistake was found
  await show(Number(button.dataset.case));
  if (button.dataset.slice) {
    state.slice = Number(button.dataset.slice);
    draw();
  }
  element("cases").scrollIntoView();
  element("stage").focus({ preventScroll: true });
}

function startPrinting() {
  const clear = () => {
    document.body.classList.remove("one-section");
    for (const each of document.querySelectorAll(".printed")) each.classList.remove("printed");
  };
  for (const button of document.querySelectorAll(".print-one")) {
    button.addEventListener("click", async () => {
      const section = element(button.dataset.section);
      await Promise.all([...section.querySelectorAll(".mistake")].map(drawOnce));
      section.classList.add("printed");
      document.body.classList.add("one-section");
      window.print();
    });
  }
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
    clear();
  });
}

/** Open a rater's section when a link leads to it, and mark where one is. */
function startPlaces() {
  const open = () => {
    const target = location.hash.length > 1 && element(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  window.addEventListener("hashchange", open);
  open();
  const links = [...document.querySelectorAll("nav a")];
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links) {
        if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const link of links) observer.observe(element(link.hash.slice(1)));
}

startTables();
startViewer();
startMistakes();
startPrinting();
startPlaces();
if (report.source === "inline") drawTheRest();
