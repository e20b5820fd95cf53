// What is drawn: the image, an overlay and the outlines, and the same in words.

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
    parts.push(`${content.view || ""} slice ${content.slices[slice] + 1} of ${content.depth}`.trim());
    element("slice").value = slice;
    element("slice-number").textContent = `${content.slices[slice] + 1} / ${content.depth}`;
  }
  if (isMasks) parts.push(drawn.length ? `outlines of ${drawn.join(", ")}` : "no outlines");
  if (state.overlay !== "none") parts.push(`overlay: ${state.overlay.replace(/^(map|error) /, "")}`);
  element("canvas").setAttribute("aria-label", parts.join(", "));
}
