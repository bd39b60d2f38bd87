// Times between units, which are ranks or nodes: of each two a time, and where known an interval.

class Matrix {
  constructor(of, units, seconds) {
    this.of = of;
    this.units = units;
    this.size = units.length;
    this.seconds = seconds;
    this.estimated = new Uint8Array(seconds.length);
    this.low = null;
    this.high = null;
  }

  at(i, j) {
    return this.seconds[i * this.size + j];
  }

  interval(i, j) {
    if (!this.low) return null;
    const k = i * this.size + j;
    return this.high[k] > this.low[k] ? [this.low[k], this.high[k]] : null;
  }

  // The closest level whose groups hold both; the last one if none does.
  level(levels, i, j) {
    const [a, b] = [this.units[i].ranks[0], this.units[j].ranks[0]];
    const found = levels.findIndex(({ groups }) => groups[a] === groups[b] && groups[a] >= 0);
    return found < 0 ? levels.length - 1 : found;
  }
}

// Whether two different units have no time.
function hasGaps({ size, seconds }) {
  return seconds.some((time, k) => time !== time && Math.floor(k / size) !== k % size);
}

function rankUnits(data) {
  return data.host.map((host, rank) => ({
    name: String(rank), host: data.hosts[host], node: host, ranks: [rank],
  }));
}

function nodeUnits(data) {
  const units = data.hosts.map((host, node) => ({
    name: host || String(node), host, node, ranks: [],
  }));
  data.host.forEach((host, rank) => units[host].ranks.push(rank));
  return units;
}

// The upper triangle, row by row with its diagonal, as a whole matrix.
function unfolded(size, value) {
  const whole = new Float32Array(size * size);
  for (let i = 0, k = 0; i < size; i++) {
    for (let j = i; j < size; j++, k++) whole[i * size + j] = whole[j * size + i] = value(k);
  }
  return whole;
}

async function matrixOf(data) {
  const [codes, below, above] = await columnsOf(data.packed, data.columns);
  const seconds = decoder(data.smallest);
  const units = data.unit === "node" ? nodeUnits(data) : rankUnits(data);
  const matrix = new Matrix(data.unit, units, unfolded(units.length, (k) => seconds[codes[k]]));
  unfolded(units.length, (k) => codes[k] >> 15).forEach((one, k) => { matrix.estimated[k] = one; });
  if (below) {
    matrix.low = unfolded(units.length, (k) => seconds[codes[k] - below[k]]);
    matrix.high = unfolded(units.length, (k) => seconds[codes[k] + above[k]]);
  }
  return matrix;
}

function median(values) {
  values.sort();
  const middle = values.length >> 1;
  return values.length % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The median of the pairs of each two nodes, with the fastest and the slowest as interval.
function ofNodes(data, ranks) {
  const units = nodeUnits(data), size = units.length;
  const [middle, low, high] = [0, 0, 0].map(() => new Float32Array(size * size).fill(NaN));
  const estimated = new Uint8Array(size * size);
  for (let a = 0; a < size; a++) {
    for (let b = a; b < size; b++) {
      const found = [[], []]; // times, estimates
      for (const i of units[a].ranks) {
        for (const j of units[b].ranks) {
          const time = ranks.at(i, j);
          if ((a !== b || i < j) && time === time) found[ranks.estimated[i * ranks.size + j]].push(time);
        }
      }
      const values = Float32Array.from(found[0].length ? found[0] : found[1]);
      if (!values.length) continue;
      const usual = median(values); // sorts them
      for (const k of [a * size + b, b * size + a]) {
        estimated[k] = found[0].length ? 0 : 1;
        [middle[k], low[k], high[k]] = [usual, values[0], values[values.length - 1]];
      }
    }
  }
  return Object.assign(new Matrix("node", units, middle), { low, high, estimated });
}

// How many times as long as in another map; no number where one of them has no time.
function ratioOf(matrix, other) {
  const ratio = new Matrix(matrix.of, matrix.units, matrix.seconds.map(
    (seconds, k) => seconds / other.seconds[k]));
  const estimated = matrix.estimated.map((one, k) => one | other.estimated[k]);
  return Object.assign(ratio, { here: matrix, there: other, estimated });
}
