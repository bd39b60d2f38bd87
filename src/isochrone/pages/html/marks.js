// What is drawn over and around the cells: hosts, numbers, slow parts, the chosen pair.

const CROSSES = 4; // stretches of a slow part; frames around more would hide the map

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return { paper: colour("paper"), ink: colour("ink"), faint: colour("faint"), slow: colour("slow") };
}

// What a map is drawn with: the pen, where its cells are, what is in view, and where on the canvas a
// position is.
function sceneOf(pen, plot, view, layer, ink) {
  const scale = plot.side / view.span;
  return { pen, plot, view, layer, ink, scale,
    across: (at) => plot.x + (at - view.x) * scale, down: (at) => plot.y + (at - view.y) * scale };
}

// A frame of positions: from the upper left (x0, y0) to the lower right (x1, y1), ends included.
function outline({ pen, across, down }, [x0, x1], [y0, y1], least = 0) {
  const left = across(x0), width = across(x1 + 1) - left, top = down(y0), height = down(y1 + 1) - top;
  const wider = Math.max(0, (least - width) / 2), taller = Math.max(0, (least - height) / 2);
  pen.strokeRect(left - wider, top - taller, width + 2 * wider, height + 2 * taller);
}

function clipped({ pen, plot }, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(plot.x, plot.y, plot.side, plot.side);
  pen.clip();
  draw();
  pen.restore();
}

function drawHosts(scene) {
  const { pen, plot, view, layer, across, down } = scene;
  const runs = stretches(layer.order, (unit) => layer.matrix.units[unit].node);
  const seen = runs.filter(([first, last]) => last + 1 > view.x && first < view.x + view.span);
  const crowded = seen.length * 9 > plot.side || 2 * seen.length > view.span;
  if (layer.matrix.of === "node" || crowded || seen.length < 2) return runs;
  clipped(scene, () => {
    for (const [colour, width] of [["#0006", 1.6], ["#fffd", 0.8]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      for (const [first] of runs.slice(1)) {
        pen.moveTo(across(first), plot.y);
        pen.lineTo(across(first), plot.foot);
        pen.moveTo(plot.x, down(first));
        pen.lineTo(plot.end, down(first));
      }
      pen.stroke();
    }
  });
  return runs;
}

function niceStep(span, most) {
  let step = 1;
  while (span / step > most) step *= 2;
  return step;
}

// Ranks or nodes below the map; at its left, too, where there are no names of hosts.
function drawNumbers({ pen, plot, view, layer, ink, across, down }, left) {
  const step = niceStep(view.span, plot.side / 44), ofNodes = layer.matrix.of === "node";
  const write = (from, draw) => {
    for (let at = Math.ceil(from / step) * step; at < Math.min(layer.size, from + view.span); at += step) {
      const unit = layer.matrix.units[layer.order[at]];
      draw(ofNodes ? String(unit.node) : unit.name, at + 0.5);
    }
  };
  pen.fillStyle = ink.faint;
  pen.textBaseline = "top";
  pen.textAlign = "right";
  pen.fillText(ofNodes ? "node" : "rank", plot.x - 12, plot.foot + 12);
  pen.textAlign = "center";
  write(view.x, (text, at) => { if (across(at) <= plot.end) pen.fillText(text, across(at), plot.foot + 12); });
  if (!left) return;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  write(view.y, (text, at) => { if (down(at) <= plot.foot) pen.fillText(text, plot.x - 12, down(at)); });
}

function shortened(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let kept = text.length - 1;
  while (kept > 1 && pen.measureText(`…${text.slice(-kept)}`).width > room) kept--;
  return `…${text.slice(-kept)}`;
}

function drawNames({ pen, plot, view, layer, ink, down }, runs) {
  pen.fillStyle = ink.faint;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  let free = -Infinity;
  for (const [first, last, node] of runs) {
    const low = Math.max(first, view.y), high = Math.min(last + 1, view.y + view.span);
    if (high <= low) continue;
    const y = down((low + high) / 2);
    if (y < free + 14) continue;
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
function drawSlow(scene, slow, chosen) {
  const { pen, layer, ink } = scene;
  let free = 0;
  slow.forEach((part, number) => {
    pen.strokeStyle = pen.fillStyle = ink.slow;
    pen.lineWidth = chosen === number ? 3 : 1.5;
    if (part.concerns !== "both") {
      for (const place of placesOf(layer, part.ranks)) drawBars(scene, place);
    }
    pen.setLineDash(part.sure ? [] : [5, 3]); // possibly slow
    clipped(scene, () => drawFrames(scene, part));
    pen.setLineDash([]);
    free = drawLabel(scene, part, free);
  });
}

function drawBars({ pen, plot, view, scale }, [first, last]) {
  const bar = (from) => [
    Math.max(0, first - from) * scale,
    Math.max(3, (Math.min(last + 1, from + view.span) - Math.max(first, from)) * scale),
  ];
  const [left, width] = bar(view.x), [low, height] = bar(view.y);
  const seen = (from) => last + 1 > from && first < from + view.span;
  if (seen(view.x)) pen.fillRect(plot.x + left, plot.foot + 3, width, 5);
  if (seen(view.y)) pen.fillRect(plot.x - 8, plot.y + low, 5, height);
}

function drawFrames(scene, part) {
  const { layer } = scene;
  const frame = (a, b, least) => {
    outline(scene, a, b, least);
    if (part.concerns !== "both" || part.link) outline(scene, b, a, least);
  };
  if (part.link) {
    const [one, other] = endsOf(layer, part.ranks).map((ranks) => placesOf(layer, ranks));
    one.forEach((a) => other.forEach((b) => frame(a, b, 9)));
    return;
  }
  const places = placesOf(layer, part.ranks);
  const inside = part.concerns === "both";
  if (!inside && places.length > CROSSES) return; // the bars say it
  places.forEach((a) => (inside ? places : [[-1, layer.size + 1]]).forEach((b) => frame(a, b, 6)));
}

// The name of a slow part above the map; returns where the next one has room.
function drawLabel({ pen, plot, view, layer, across }, { label, ratio, ranks }, free) {
  const seen = placesOf(layer, ranks).find(
    ([first, last]) => last + 1 > view.x && first < view.x + view.span);
  if (!seen) return free;
  const text = shortened(pen, `${label} ${times(ratio)}`, plot.side / 2);
  const width = pen.measureText(text).width;
  const x = clamp(plot.x, across(seen[0]), plot.end - width);
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

function drawChosen(scene, [i, j]) {
  const { pen, plot, layer, ink } = scene;
  const [x, y] = [layer.position[i], layer.position[j]];
  clipped(scene, () => {
    for (const [colour, width] of [["#000c", 3], ["#fff", 1.5]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      outline(scene, [x, x], [y, y], 8);
    }
  });
  pen.fillStyle = ink.ink;
  const across = scene.across(x + 0.5), down = scene.down(y + 0.5);
  if (across >= plot.x && across <= plot.end) pen.fillRect(across - 1, plot.foot, 2, 9);
  if (down >= plot.y && down <= plot.foot) pen.fillRect(plot.x - 9, down - 1, 9, 2);
}

// What is about to become the view.
function drawBox({ pen, across, down }, [[x0, y0], [x1, y1]]) {
  pen.strokeStyle = "#fff";
  pen.fillStyle = "#fff3";
  const place = [across(x0), down(y0), across(x1) - across(x0), down(y1) - down(y0)];
  pen.fillRect(...place);
  pen.strokeRect(...place);
}
