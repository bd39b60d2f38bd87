// Colours of times, and of ratios: a number of 1 … 255 for each cell, 0 where there is no time.

const LOG_ABOVE = 6, LEAST_SPAN = 1.25, MIDDLE = 128;
const FASTER = [[8, 48, 107], [66, 146, 198], [198, 219, 239]];
const SLOWER = [[253, 208, 162], [217, 72, 1], [127, 20, 6]];
const SAME = [245, 245, 244];

function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

function mixed(stops, part) {
  const place = part * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(place));
  return stops[k].map((value, c) => value + (stops[k + 1][c] - value) * (place - k));
}

function ends(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value > 0 && value < low) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return low <= high ? [low, high] : [0.5, 1];
}

// Linear or logarithmic as the range asks; noise alone does not look like structure.
function shadesOfTimes(matrix, colours) {
  let [low, high] = ends(matrix.seconds);
  const log = high > LOG_ABOVE * low;
  if (high < LEAST_SPAN * low) {
    const middle = (low + high) / (1 + LEAST_SPAN);
    [low, high] = [middle, middle * LEAST_SPAN];
  }
  const place = log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
  const back = log ? (p) => low * (high / low) ** p : (p) => low + p * (high - low);
  const stops = colours.map(rgb);
  return {
    cells: cellsOf(matrix, (value) => 1 + Math.round(254 * clamp(0, place(value), 1))),
    palette: Array.from({ length: 256 }, (_, k) => mixed(stops, Math.max(0, k - 1) / 254)),
    marks: [0, 0.25, 0.5, 0.75, 1].map((part) => timeInWords(back(part))),
    stronger: (a, b) => a > b,
  };
}

// Blue where it is faster, white where it is the same, orange to red where it is slower.
function shadesOfRatios(matrix) {
  const [low, high] = ends(matrix.seconds);
  const most = Math.max(1.25, high, 1 / low), span = Math.log(most);
  const place = (value) => clamp(-1, Math.log(value) / span, 1);
  return {
    cells: cellsOf(matrix, (value) => MIDDLE + Math.round(127 * place(value))),
    palette: Array.from({ length: 256 }, (_, k) => (k < MIDDLE
      ? mixed([...FASTER, SAME], Math.max(0, k - 1) / 127)
      : mixed([SAME, ...SLOWER], (k - MIDDLE) / 127))),
    marks: [-1, -0.5, 0, 0.5, 1].map((part) => times(most ** part)),
    stronger: (a, b) => Math.abs(a - MIDDLE) > Math.abs(b - MIDDLE),
  };
}

function cellsOf(matrix, shade) {
  const cells = new Uint8Array(matrix.seconds.length);
  matrix.seconds.forEach((value, k) => {
    if (value > 0 && value < Infinity) cells[k] = shade(value);
  });
  return cells;
}
