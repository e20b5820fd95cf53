// From patterns to outlines and coloured overlays.

const EXTRA = [255, 122, 40];
const MISSED = [64, 160, 235];
const CONFUSED = [240, 228, 66];
const RAMP = [[43, 26, 79], [123, 42, 121], [201, 69, 95], [244, 136, 58], [252, 226, 122]];

/** The outline of a layer as a path along pixel edges; of one class, or of all but background. */
function outlinePath(patterns, rows, column, width, height, wanted) {
  const label = Int16Array.from(rows, (row) => {
    const value = Math.max(row[column], 0);
    return wanted < 0 || value === wanted ? value : 0;
  });
  const at = (x, y) =>
    x < 0 || y < 0 || x >= width || y >= height ? 0 : label[patterns[y * width + x]];
  const path = new Path2D();
  for (let y = 0; y <= height; y++) {
    for (let x = 0, start = -1; x <= width; x++) {
      const edge = x < width && at(x, y - 1) !== at(x, y);
      if (edge && start < 0) start = x;
      if (!edge && start >= 0) {
        path.moveTo(start, y);
        path.lineTo(x, y);
        start = -1;
      }
    }
  }
  for (let x = 0; x <= width; x++) {
    for (let y = 0, start = -1; y <= height; y++) {
      const edge = y < height && at(x - 1, y) !== at(x, y);
      if (edge && start < 0) start = y;
      if (!edge && start >= 0) {
        path.moveTo(x, start);
        path.lineTo(x, y);
        start = -1;
      }
    }
  }
  return path;
}

/** How far raters disagree about a pattern: the entropy of their votes, 0 to 1. */
function voteEntropy(row, nRaters, nClasses) {
  const votes = new Map();
  let total = 0;
  for (let rater = 0; rater < nRaters; rater++) {
    if (row[rater] < 0) continue;
    votes.set(row[rater], (votes.get(row[rater]) || 0) + 1);
    total += 1;
  }
  let entropy = 0;
  for (const count of votes.values()) entropy -= (count / total) * Math.log(count / total);
  return entropy / Math.log(Math.max(nClasses, 2));
}

function rampColour(value) {
  const place = Math.min(Math.max(value, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  return RAMP[low].map((part, i) => part + (RAMP[low + 1][i] - part) * (place - low));
}

/** What a rater did with a pattern, as a colour; nothing where they are right. */
function errorColour(row, rater, reference) {
  const drawn = row[rater];
  const meant = row[reference];
  if (drawn < 0 || meant < 0 || drawn === meant) return [0, 0, 0, 0];
  if (drawn === 0) return [...MISSED, 1];
  return meant === 0 ? [...EXTRA, 1] : [...CONFUSED, 1];
}

/** A canvas of the given size with one colour (red, green, blue, opacity 0 to 1) per value. */
function colourCanvas(values, colours, width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(width, height);
  const packed = colours.map(([r, g, b, a]) => [r, g, b, a * 255]);
  for (let i = 0; i < values.length; i++) pixels.data.set(packed[values[i]], 4 * i);
  context.putImageData(pixels, 0, 0);
  return canvas;
}

function errorCanvas(content, patterns, rater) {
  const colours = content.rows.map((row) => errorColour(row, rater, report.reference));
  return colourCanvas(patterns, colours, content.width, content.height);
}

/** Stroke a path in a layer's line, on a dark seam that shows on any image. */
function strokeOutline(context, path, layer, scaleX, scaleY, thickness) {
  const scaled = new Path2D();
  scaled.addPath(path, new DOMMatrix([scaleX, 0, 0, scaleY, 0, 0]));
  context.lineCap = "butt";
  context.setLineDash([]);
  context.strokeStyle = "rgb(0 0 0 / .55)";
  context.lineWidth = thickness + 1.6;
  context.stroke(scaled);
  context.setLineDash(layer.dash);
  context.strokeStyle = layer.colour;
  context.lineWidth = thickness;
  context.stroke(scaled);
  context.setLineDash([]);
}
