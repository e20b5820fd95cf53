// Cases as they are stored: found, decoded when shown, and the last few kept.

const kept = new Map();
const waiting = new Map();
const MOST_KEPT = 24;

/** Called by the script of a case that lies in a file of its own. */
function multiraterCase(place, content) {
  const answer = waiting.get(place);
  waiting.delete(place);
  if (answer) answer.resolve(content);
}

function loadCase(place) {
  if (!kept.has(place)) {
    const stored = report.source === "inline" ? inlineCase(place) : caseFile(place);
    kept.set(place, stored.then(withStores));
    stored.catch(() => kept.delete(place));
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  } else {
    const again = kept.get(place); // move to the end: the oldest goes first
    kept.delete(place);
    kept.set(place, again);
  }
  return kept.get(place);
}

/** Add room for what is decoded, to the case and to its other views. */
function withStores(content) {
  const views = (content.views || []).map((view) => withStores({ ...view, name: content.name }));
  return { ...content, views, decoded: new Map(), images: new Map() };
}

async function inlineCase(place) {
  return JSON.parse(document.getElementById(`case-${place}`).textContent);
}

function caseFile(place) {
  return new Promise((resolve, reject) => {
    waiting.set(place, { resolve });
    const script = document.createElement("script");
    script.src = `cases/${place}.js`;
    script.onload = () => script.remove();
    script.onerror = () => {
      script.remove();
      waiting.delete(place);
      reject(new Error(`case ${place} cannot be read`));
    };
    document.head.append(script);
  });
}

/** The pattern at every pixel of a slice. */
function patternsOf(content, slice) {
  return once(content.decoded, `patterns ${slice}`, () =>
    decodeRuns(content.runs[slice], content.height * content.width));
}

function mapOf(content, number, slice) {
  const map = content.maps[number];
  return once(content.decoded, `map ${number} ${slice}`, () =>
    decodeRuns(map.runs[slice], map.height * map.width));
}

/** The picture of a slice, or nothing when the case has none. */
function pictureOf(content, channel, slice) {
  const channels = content.pictures;
  if (!channels || !channels.length) return Promise.resolve(null);
  const text = channels[Math.min(channel, channels.length - 1)][slice];
  return once(content.images, `${channel} ${slice}`, async () => {
    const image = new Image();
    image.src = `data:image/webp;base64,${text}`;
    await image.decode();
    return image;
  });
}
