// What is drawn over and around the cells: hosts, numbers, slow parts, the chosen pair.

const CROSSES = 4; // stretches of a slow part; frames around more would hide the map

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return { paper: colour("paper"), ink: colour("ink"), faint: colour("faint"), slow: colour("slow") };
}

// A frame of positions: from the lower left (x0, y0) to the upper right (x1, y1), ends included.
function outline(pen, plot, view, [x0, x1], [y0, y1], least = 0) {
  const scale = plot.side / view.span;
  let left = plot.x + (x0 - view.x) * scale, right = plot.x + (x1 + 1 - view.x) * scale;
  let top = plot.y + plot.side - (y1 + 1 - view.y) * scale;
  let bottom = plot.y + plot.side - (y0 - view.y) * scale;
  const wider = Math.max(0, (least - (right - left)) / 2), taller = Math.max(0, (least - (bottom - top)) / 2);
  pen.strokeRect(left - wider, top - taller, right - left + 2 * wider, bottom - top + 2 * taller);
}

function clipped(pen, plot, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(plot.x, plot.y, plot.side, plot.side);
  pen.clip();
  draw();
  pen.restore();
}

function drawHosts(pen, plot, view, layer) {
  const scale = plot.side / view.span;
  const runs = stretches(layer.order, (unit) => layer.matrix.units[unit].node);
  const seen = runs.filter(([first, last]) => last + 1 > view.x && first < view.x + view.span);
  const crowded = seen.length * 9 > plot.side || 2 * seen.length > view.span;
  if (layer.matrix.of === "node" || crowded || seen.length < 2) return runs;
  clipped(pen, plot, () => {
    for (const [colour, width] of [["#0006", 1.6], ["#fffd", 0.8]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      for (const [first] of runs.slice(1)) {
        const x = plot.x + (first - view.x) * scale;
        const y = plot.y + plot.side - (first - view.y) * scale;
        pen.moveTo(x, plot.y);
        pen.lineTo(x, plot.y + plot.side);
        pen.moveTo(plot.x, y);
        pen.lineTo(plot.x + plot.side, y);
      }
      pen.stroke();
    }
  });
  return runs;
}

// Times in the cells, where these have room for them.
function drawTimes(pen, plot, view, layer) {
  const scale = plot.side / view.span, { matrix, order, shades } = layer;
  if (scale < 52) return;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const last = (from) => Math.min(layer.size - 1, Math.ceil(from + view.span) - 1);
  clipped(pen, plot, () => {
    for (let y = Math.floor(view.y); y <= last(view.y); y++) {
      for (let x = Math.floor(view.x); x <= last(view.x); x++) {
        const time = matrix.at(order[y], order[x]);
        if (time !== time) continue;
        const [red, green, blue] = shades.palette[shades.cells[order[y] * layer.size + order[x]]];
        pen.fillStyle = 0.299 * red + 0.587 * green + 0.114 * blue < 140 ? "#fff" : "#101418";
        pen.fillText(matrix.here ? times(time) : timeInWords(time),
          plot.x + (x + 0.5 - view.x) * scale, plot.y + plot.side - (y + 0.5 - view.y) * scale);
      }
    }
  });
}

function niceStep(span, most) {
  let step = 1;
  while (span / step > most) step *= 2;
  return step;
}

function drawNumbers(pen, plot, view, layer, ink) {
  const scale = plot.side / view.span;
  const step = niceStep(view.span, plot.side / 44);
  pen.fillStyle = ink.faint;
  pen.textBaseline = "top";
  pen.textAlign = "right";
  pen.fillText(layer.matrix.of === "node" ? "node" : "rank", plot.x - 12, plot.y + plot.side + 12);
  pen.textAlign = "center";
  for (let at = Math.ceil(view.x / step) * step; at < Math.min(layer.size, view.x + view.span); at += step) {
    const x = plot.x + (at + 0.5 - view.x) * scale;
    if (x < plot.x || x > plot.x + plot.side) continue;
    const unit = layer.matrix.units[layer.order[at]];
    pen.fillText(layer.matrix.of === "node" ? String(unit.node) : unit.name, x, plot.y + plot.side + 12);
  }
}

function shortened(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let kept = text.length - 1;
  while (kept > 1 && pen.measureText(`…${text.slice(-kept)}`).width > room) kept--;
  return `…${text.slice(-kept)}`;
}

function drawNames(pen, plot, view, layer, runs, ink) {
  const scale = plot.side / view.span;
  pen.fillStyle = ink.faint;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  let free = Infinity;
  for (const [first, last, node] of runs) {
    const low = Math.max(first, view.y), high = Math.min(last + 1, view.y + view.span);
    if (high <= low) continue;
    const y = plot.y + plot.side - ((low + high) / 2 - view.y) * scale;
    if (y > free - 14) continue;
    const label = layer.labels[node] || layer.matrix.units[layer.order[Math.floor(low)]].name;
    pen.fillText(shortened(pen, label, plot.x - 16), plot.x - 12, y);
    free = y;
  }
}

// The positions of some ranks, as stretches.
function placesOf(layer, ranks) {
  const members = new Set(ranks);
  const inside = (unit) => layer.matrix.units[unit].ranks.some((rank) => members.has(rank));
  return stretches(layer.order, inside).filter(([, , is]) => is);
}

// Slow nodes, ranks and what is beyond an uplink are bars at the edge; pairs and switches frames.
function drawSlow(pen, plot, view, layer, slow, ink, chosen) {
  let free = 0;
  slow.forEach((part, number) => {
    pen.strokeStyle = pen.fillStyle = ink.slow;
    pen.lineWidth = chosen === number ? 3 : 1.5;
    if (part.concerns !== "both") {
      for (const place of placesOf(layer, part.ranks)) drawBars(pen, plot, view, place);
    }
    pen.setLineDash(part.sure ? [] : [5, 3]); // suspected only
    clipped(pen, plot, () => drawFrames(pen, plot, view, layer, part));
    pen.setLineDash([]);
    free = drawLabel(pen, plot, view, placesOf(layer, part.ranks), part, free);
  });
}

function drawBars(pen, plot, view, [first, last]) {
  const scale = plot.side / view.span;
  const bar = (from) => [
    Math.max(0, first - from) * scale,
    Math.max(3, (Math.min(last + 1, from + view.span) - Math.max(first, from)) * scale),
  ];
  const [left, width] = bar(view.x), [low, height] = bar(view.y);
  const seen = (from) => last + 1 > from && first < from + view.span;
  if (seen(view.x)) pen.fillRect(plot.x + left, plot.y + plot.side + 3, width, 5);
  if (seen(view.y)) pen.fillRect(plot.x - 8, plot.y + plot.side - low - height, 5, height);
}

function drawFrames(pen, plot, view, layer, part) {
  const all = [-1, layer.size + 1];
  if (part.link) {
    const [one, other] = endsOf(layer, part.ranks).map((ranks) => placesOf(layer, ranks));
    for (const a of one) {
      for (const b of other) {
        outline(pen, plot, view, a, b, 9);
        outline(pen, plot, view, b, a, 9);
      }
    }
    return;
  }
  const places = placesOf(layer, part.ranks);
  const inside = part.concerns === "both";
  if (!inside && places.length > CROSSES) return; // the bars say it
  for (const a of places) {
    for (const b of inside ? places : [all]) {
      outline(pen, plot, view, a, b, 6);
      if (!inside) outline(pen, plot, view, b, a, 6);
    }
  }
}

// The name of a slow part above the map; returns where the next one has room.
function drawLabel(pen, plot, view, places, { label, ratio }, free) {
  const seen = places.find(([first, last]) => last + 1 > view.x && first < view.x + view.span);
  if (!seen) return free;
  const text = shortened(pen, `${label} ${times(ratio)}`, plot.side / 2);
  const width = pen.measureText(text).width, end = plot.x + plot.side;
  const from = plot.x + ((seen[0] - view.x) * plot.side) / view.span;
  const x = Math.max(plot.x, Math.min(from, end - width));
  if (x < free) return free;
  pen.textAlign = "left";
  pen.textBaseline = "bottom";
  pen.fillText(text, x, plot.y - 4);
  return x + width + 10;
}

// A pair is of two ranks, or of two nodes with all that run there.
function endsOf(layer, ranks) {
  if (ranks.length === 2) return [[ranks[0]], [ranks[1]]];
  const first = layer.nodeOf[ranks[0]];
  return [true, false].map((same) => ranks.filter((rank) => (layer.nodeOf[rank] === first) === same));
}

function drawChosen(pen, plot, view, layer, [i, j], ink) {
  const [x, y] = [layer.position[i], layer.position[j]];
  clipped(pen, plot, () => {
    pen.lineWidth = 3;
    pen.strokeStyle = "#000c";
    outline(pen, plot, view, [x, x], [y, y], 8);
    pen.lineWidth = 1.5;
    pen.strokeStyle = "#fff";
    outline(pen, plot, view, [x, x], [y, y], 8);
  });
  const scale = plot.side / view.span;
  pen.fillStyle = ink.ink;
  const across = plot.x + (x + 0.5 - view.x) * scale, up = plot.y + plot.side - (y + 0.5 - view.y) * scale;
  if (across >= plot.x && across <= plot.x + plot.side) pen.fillRect(across - 1, plot.y + plot.side, 2, 9);
  if (up >= plot.y && up <= plot.y + plot.side) pen.fillRect(plot.x - 9, up - 1, 9, 2);
}
