// Orders of the units along the map: which unit is at each position.

const ORDERS = {
  rank: (matrix) => matrix.units.map(() => []),
  node: (matrix) => matrix.units.map((unit) => [unit.node]),
  level: (matrix, levels) => matrix.units.map(
    (unit) => [...levels].reverse().map(({ groups }) => groups[unit.ranks[0]])),
  cost: (matrix, levels) => costs(matrix, levels).map((cost) => [cost]),
};

function ordered(matrix, levels, name) {
  const keys = ORDERS[name](matrix, levels);
  const order = Array.from(matrix.units.keys());
  return order.sort((a, b) => {
    for (let k = 0; k < keys[a].length; k++) {
      if (keys[a][k] !== keys[b][k]) return keys[a][k] - keys[b][k];
    }
    return a - b;
  });
}

// The median of what the pairs of a unit take, each over the time of its level.
function costs(matrix, levels) {
  const size = matrix.size;
  return matrix.units.map((_, i) => {
    const found = [];
    for (let j = 0; j < size; j++) {
      const time = matrix.seconds[i * size + j];
      if (j === i || time !== time) continue;
      const usual = matrix.here ? 1 : levels[matrix.level(levels, i, j)].seconds;
      if (usual > 0) found.push(time / usual);
    }
    return found.length ? median(Float32Array.from(found)) : 0;
  });
}

// Neighbours along the map that share something, as [first, last, what].
function stretches(order, what) {
  const found = [];
  order.forEach((unit, position) => {
    const value = what(unit), last = found[found.length - 1];
    if (last && last[2] === value) last[1] = position;
    else found.push([position, position, value]);
  });
  return found;
}
