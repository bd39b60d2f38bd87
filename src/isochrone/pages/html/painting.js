// Cells on a canvas. Where several share a point, the one that stands out most is seen.

const NO_TIME = [150, 155, 165];

function asNumber([red, green, blue]) {
  return (255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red);
}

// First and last position of the map at each point of `side` points.
function positions(from, span, side, size) {
  const first = new Int32Array(side), last = new Int32Array(side);
  for (let point = 0; point < side; point++) {
    first[point] = clamp(0, Math.floor(from + (point * span) / side), size - 1);
    const end = Math.ceil(from + ((point + 1) * span) / side) - 1;
    last[point] = span > side ? clamp(first[point], end, size - 1) : first[point];
  }
  return { first, last };
}

function tables(shades, paper) {
  const mix = (part) => (colour) => asNumber(colour.map((value, c) => part * value + (1 - part) * paper[c]));
  const palette = shades.palette.map((colour, k) => (k ? colour : NO_TIME));
  return [palette.map(mix(0.16)), palette.map(mix(0.16)), palette.map(mix(0.43)), palette.map(mix(1))];
}

// What stands out of a block of cells: its shade, and 2 if it passes the filter, and 1 if it was measured.
function standsOut(block, { matrix, shades, passes, order, size }) {
  let shade = 0, full = 0, blank = true;
  for (let y = block.y0; y <= block.y1; y++) {
    const row = order[y] * size;
    for (let x = block.x0; x <= block.x1; x++) {
      const k = row + order[x];
      if (x === y && !shades.cells[k]) continue;
      blank = false;
      const pass = 2 * (passes ? passes[k] : 1) + (1 - matrix.estimated[k]);
      if (pass < full) continue;
      if (pass > full || !shade || (shades.cells[k] && shades.stronger(shades.cells[k], shade))) {
        shade = shades.cells[k];
        full = pass;
      }
    }
  }
  return blank ? -1 : 4 * shade + full;
}

function cellImage(side, view, layer, paper) {
  const image = new ImageData(side, side);
  const points = new Uint32Array(image.data.buffer);
  const across = positions(view.x, view.span, side, layer.size);
  const down = positions(view.y, view.span, side, layer.size);
  const colours = tables(layer.shades, paper), nothing = asNumber(paper);
  for (let line = 0; line < side; line++) {
    const start = line * side;
    if (line > 0 && view.span <= side && down.first[line] === down.first[line - 1]) {
      points.copyWithin(start, start - side, start);
      continue;
    }
    for (let point = 0; point < side; point++) {
      const found = standsOut(
        { x0: across.first[point], x1: across.last[point], y0: down.first[line], y1: down.last[line] }, layer);
      points[start + point] = found < 0 ? nothing : colours[found & 3][found >> 2];
    }
  }
  return image;
}
