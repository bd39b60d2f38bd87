// Times in words and back, with three significant digits as everywhere on the page.

const UNITS = [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]];

function clamp(low, value, high) {
  return Math.max(low, Math.min(high, value));
}

function digits(value) {
  return Math.abs(value) >= 999.5 ? value.toFixed(0) : value.toPrecision(3);
}

function timeInWords(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const [factor, unit] = UNITS.find(([one]) => seconds < 1000 * one * (1 - 0.0005)) || UNITS[3];
  return `${digits(seconds / factor)} ${unit}`;
}

function between(low, high) {
  const [first, last] = [timeInWords(low), timeInWords(high)];
  const [number, unit] = first.split(" ");
  return last.endsWith(` ${unit}`) ? `${number} … ${last}` : `${first} … ${last}`;
}

function times(ratio) {
  return `${ratio.toPrecision(ratio < 0.1 ? 2 : 3)}×`;
}

// `10 µs`, `10us`, `0.5 ms`; a number alone is in `usual`. NaN if it is none of these.
function secondsFrom(text, usual) {
  const found = /^\s*([0-9]*[.,]?[0-9]+(?:e-?[0-9]+)?)\s*(ns|us|µs|μs|ms|s)?\s*$/i.exec(text);
  if (!found) return NaN;
  const unit = (found[2] || usual).toLowerCase().replace("us", "µs").replace("μs", "µs");
  return Number(found[1].replace(",", ".")) * UNITS.find(([, name]) => name === unit)[0];
}

function unitOf(seconds) {
  return timeInWords(seconds).split(" ")[1] || "µs";
}
