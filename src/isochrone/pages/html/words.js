// What is said of a pair and of the map: for the eye, and for a screen reader.

// Such as `ranks 3 and 17, on n0 and n2`.
function pairInWords(matrix, i, j) {
  const [a, b] = [matrix.units[i], matrix.units[j]];
  if (matrix.of === "node") return i === j ? `within node ${a.name}` : `nodes ${a.name} and ${b.name}`;
  if (i === j) return `rank ${a.name}${a.host ? ` on ${a.host}` : ""}`;
  const pair = `ranks ${a.name} and ${b.name}`;
  if (!a.host && !b.host) return pair;
  return a.host === b.host ? `${pair}, both on ${a.host}` : `${pair}, on ${a.host} and ${b.host}`;
}

function timeOfPair(matrix, i, j) {
  const interval = matrix.interval(i, j);
  const time = (matrix.estimated[i * matrix.size + j] ? "estimated " : "") + timeInWords(matrix.at(i, j));
  if (!interval) return time;
  const range = between(...interval);
  return matrix.of === "node" && !time.startsWith("e")
    ? `${time} median, its pairs of ranks ${range}`
    : `${time}, 95 % interval ${range}`;
}

function ratioOfPair(matrix, i, j) {
  const [here, there] = [matrix.here.at(i, j), matrix.there.at(i, j)];
  const hosts = [i, j].map((unit) => matrix.there.units[unit].host);
  const moved = [i, j].some((unit, k) => matrix.units[unit].host !== hosts[k]);
  const where = moved ? `, on ${[...new Set(hosts)].join(" and ")}` : "";
  return `${times(matrix.at(i, j))}: ${timeInWords(here)} here, ${timeInWords(there)} there${where}`;
}

function levelOfPair(matrix, levels, i, j) {
  const level = matrix.level(levels, i, j), usual = levels[level].seconds;
  if (matrix.here || !(usual > 0)) return "";
  const ratio = matrix.at(i, j) / usual;
  const against = ratio > 1.005 || ratio < 0.995 ? `${times(ratio)} its level` : "as its level";
  return `${against} (${levels[level].where}: ${timeInWords(usual)})`;
}

function partsOfPair(matrix, slow, i, j) {
  const [a, b] = [matrix.units[i], matrix.units[j]];
  const holds = (part, unit) => unit.ranks.some((rank) => part.ranks.includes(rank));
  return slow.filter((part) => CONCERNS[part.concerns](holds(part, a), holds(part, b))).map(
    ({ name, sure }) => `${sure ? "slow" : "possibly slow"}: ${name}`);
}

// All there is to say of one pair, in parts.
function saidOfPair(matrix, levels, slow, i, j) {
  const name = pairInWords(matrix, i, j);
  const title = name[0].toUpperCase() + name.slice(1);
  const time = matrix.at(i, j);
  if (i === j && time !== time) return [title, "no time with itself"];
  if (time !== time) return [title, "no time"];
  return [title, matrix.here ? ratioOfPair(matrix, i, j) : timeOfPair(matrix, i, j),
    levelOfPair(matrix, levels, i, j), ...partsOfPair(matrix, slow, i, j)].filter(Boolean);
}
