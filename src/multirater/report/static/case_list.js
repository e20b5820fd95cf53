// The list of cases.

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
