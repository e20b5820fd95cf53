"use strict";
// What the page was given, and run lengths as numbers again.

const report = JSON.parse(document.getElementById("report-data").textContent);

/** Undo `encode_runs`: base64, deflate, then pairs of value and length less one in LEB128. */
async function decodeRuns(text, size) {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  const values = new Uint16Array(size);
  let at = 0;
  let place = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const value = number();
    const end = place + number() + 1;
    values.fill(value, place, end);
    place = end;
  }
  return values;
}

function once(store, key, make) {
  if (!store.has(key)) store.set(key, make());
  return store.get(key);
}
