// Which pairs are shown in full colours: by a text in a host name, by time, by a slow part.

const NO_FILTER = { host: "", least: NaN, most: NaN, part: null };

function isFilter({ host, least, most, part }) {
  return Boolean(host) || least === least || most === most || part !== null;
}

// A rank is named by its number or by its host, a node by its name.
function named(unit, text) {
  return unit.name === text || unit.host.toLowerCase().includes(text);
}

// Whether a slow part is in the time of two units, by whether they are of its ranks.
const CONCERNS = {
  either: (a, b) => a || b,
  both: (a, b) => a && b,
  one: (a, b) => a !== b,
};

// 1 for each cell that is shown; null if all are.
function passing(matrix, filter, slow) {
  if (!isFilter(filter)) return null;
  const { size, seconds } = matrix;
  const text = filter.host.trim().toLowerCase();
  const chosen = matrix.units.map((unit) => (text ? named(unit, text) : true));
  const part = filter.part === null ? null : new Set(slow[filter.part].ranks);
  const inside = matrix.units.map((unit) => part === null || unit.ranks.some((r) => part.has(r)));
  const concerns = part === null ? () => true : CONCERNS[slow[filter.part].concerns];
  const passes = new Uint8Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      const k = i * size + j, time = seconds[k];
      if (!(chosen[i] || chosen[j]) || !concerns(inside[i], inside[j])) continue;
      if (time !== time || time < filter.least || time > filter.most) continue;
      passes[k] = 1;
    }
  }
  return passes;
}

// The pairs that are shown: how many, and the first of them, those that take longest first.
function strongest(matrix, passes, count) {
  const { size, seconds } = matrix;
  const best = [];
  let number = 0;
  for (let i = 0; i < size; i++) {
    for (let j = matrix.of === "node" ? i : i + 1; j < size; j++) {
      const k = i * size + j, time = seconds[k];
      if (time !== time || matrix.estimated[k] || (passes && !passes[k])) continue;
      number++;
      if (!count || (best.length === count && time <= best[count - 1][2])) continue;
      let place = best.length;
      while (place > 0 && best[place - 1][2] < time) place--;
      best.splice(place, 0, [i, j, time]);
      if (best.length > count) best.pop();
    }
  }
  return { number, best };
}
