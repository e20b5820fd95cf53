// Disputed regions: pixels that hang together and of which raters say the same different things.

/** Whether raters say different things of a pattern; the last column is what was fused. */
function isDisputed(row) {
  const said = row.slice(0, -1).filter((value) => value >= 0);
  return said.some((value) => value !== said[0]);
}

/** Pixels connected by edges to one, as long as `belongs` says so. */
function connected(start, width, height, belongs) {
  const found = [start];
  const seen = new Uint8Array(width * height);
  seen[start] = 1;
  for (let i = 0; i < found.length; i++) {
    const pixel = found[i];
    const x = pixel % width;
    const near = [pixel - width, pixel + width];
    if (x > 0) near.push(pixel - 1);
    if (x < width - 1) near.push(pixel + 1);
    for (const next of near) {
      if (next < 0 || next >= seen.length || seen[next] || !belongs(next)) continue;
      seen[next] = 1;
      found.push(next);
    }
  }
  return found;
}

/** The disputed region at a pixel: of one pattern, or all that is disputed around; none elsewhere. */
function regionAt(content, pixel, isWide) {
  const disputed = once(content.decoded, "disputed", () => content.rows.map(isDisputed));
  const { patterns, width, height } = content;
  if (!disputed[patterns[pixel]]) return [];
  const belongs = isWide ? (next) => disputed[patterns[next]]
    : (next) => patterns[next] === patterns[pixel];
  return connected(pixel, width, height, belongs);
}

/** A pixel of every disputed region of the slice, the largest region first. */
function regionsOf(content) {
  return once(content.decoded, "regions", () => {
    const met = new Uint8Array(content.patterns.length);
    const regions = [];
    for (let pixel = 0; pixel < met.length; pixel++) {
      if (met[pixel]) continue;
      const region = regionAt(content, pixel, false);
      for (const each of region) met[each] = 1;
      if (region.length) regions.push([region.length, region[Math.floor(region.length / 2)]]);
    }
    return regions.sort((a, b) => b[0] - a[0]).map(([, pixel]) => pixel);
  });
}

/** Pixels within the brush around one, in the shape they have on the screen. */
function disc(content, [x, y], reach) {
  const found = [];
  const tall = Math.ceil(reach / content.aspect);
  for (let row = Math.max(y - tall, 0); row <= Math.min(y + tall, content.height - 1); row++) {
    for (let column = Math.max(x - reach, 0); column <= Math.min(x + reach, content.width - 1); column++) {
      const far = Math.hypot(column - x, (row - y) * content.aspect);
      if (far < reach - 0.4) found.push(row * content.width + column);
    }
  }
  return found;
}

/** Pixels along a line, each one once. */
function lineOf([x0, y0], [x1, y1]) {
  const n = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0), 1);
  return Array.from({ length: n + 1 }, (_, i) =>
    [Math.round(x0 + ((x1 - x0) * i) / n), Math.round(y0 + ((y1 - y0) * i) / n)]);
}

/** Pixels as runs [start, length]. */
function runsOf(pixels) {
  const runs = [];
  for (const pixel of [...new Set(pixels)].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && last[0] + last[1] === pixel) last[1] += 1;
    else runs.push([pixel, 1]);
  }
  return runs;
}
