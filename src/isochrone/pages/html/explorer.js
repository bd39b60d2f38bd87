// One map to look into: its state, and what is drawn and said of it.

const START = "Point at a cell or tap it, or move with the arrow keys: "
  + "the pair, and its time, is shown here.";
const HELP = "Keys: arrows move (shift: ten at a time), + and − zoom, 0 shows all. Drag a box to zoom in, or turn the wheel after a click; shift and drag moves, "
  + "a double click shows all.";
const AGAINST = " Under “compared with” are the other maps: with one of them, each cell is the time here "
  + "divided by the time there.";

class Explorer {
  constructor(map, others) {
    Object.assign(this, { map, others, other: null, chosen: null, box: null });
    this.filter = { ...NO_FILTER };
    this.matrix = map.canNodes && map.ranks.size > 256 ? map.nodes() : map.ranks;
    this.orderName = "rank";
    this.build();
    this.lay();
    this.whole();
  }

  build() {
    const { map } = this;
    this.controls = controlsOf(map, this.others, {
      show: (of) => this.showUnits(of), order: (name) => this.reorder(name),
      filter: () => this.refilter(), against: (k) => this.compare(k),
      zoom: (factor) => this.zoom(factor), whole: () => this.whole(),
    });
    this.controls.show.value = this.matrix.of;
    const help = make("p", { class: "note", id: `control-${++countOfIds}` },
      HELP + (this.others.length ? AGAINST : ""));
    this.canvas = make("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map",
      "aria-label": `${map.title}, ${map.about}`, "aria-describedby": help.id });
    this.readout = make("p", { class: "readout", role: "status", "aria-live": "polite" });
    this.key = make("div", { class: "key" });
    this.slow = map.slow.length ? tableOfSlow(map.slow, (number) => this.showPart(number)) : null;
    this.pairs = make("details", { class: "pairs" },
      make("summary", {}, "The slowest pairs of what is shown"));
    this.pairs.addEventListener("toggle", () => this.list());
    this.stage = make("div", { class: "stage" }, this.canvas);
    this.element = make("div", { class: "explorer", role: "group", "aria-label": "Map to look into" },
      this.controls.element, this.readout, this.stage, this.key, help,
      ...(this.slow ? [this.slow.element] : []), this.pairs);
    followPointer(this);
    followKeys(this);
    new ResizeObserver(() => this.draw()).observe(this.stage);
  }

  // After a change of units, order or comparison.
  lay() {
    const { matrix, map } = this;
    const there = this.other && (matrix.of === "node" ? this.other.nodes() : this.other.ranks);
    if (there && there.size !== matrix.size) return this.showUnits("rank"); // on other nodes
    const shown = there ? ratioOf(matrix, there) : matrix;
    const order = ordered(shown, map.levels, this.orderName);
    const position = new Int32Array(order.length);
    order.forEach((unit, k) => { position[unit] = k; });
    this.layer = { matrix: shown, order, position, size: order.length,
      labels: map.labels, nodeOf: map.nodeOf,
      shades: this.other ? shadesOfRatios(shown) : shadesOfTimes(shown, map.colours) };
    const [about, hint] = this.other
      ? [`time divided by that of ${this.other.title} (more than 1: slower here)`, "1.5"]
      : [map.about, `10 ${this.controls.unit}`];
    this.controls.least.placeholder = hint;
    const gaps = (hasGaps(shown) ? "; grey: not measured" : "")
      + (shown.estimated.includes(1) ? "; pale: estimated" : "");
    this.key.replaceChildren(make("span", { class: "what" }, about + gaps),
      ...colourKey(this.layer.shades));
    return this.refilter();
  }

  refilter() {
    const { host, least, most, unit } = this.controls;
    const number = (input) => (this.other ? Number(input.value || NaN) : secondsFrom(input.value, unit));
    Object.assign(this.filter, { host: host.value, least: number(least), most: number(most) });
    for (const [input, value] of [[least, this.filter.least], [most, this.filter.most]]) {
      input.setAttribute("aria-invalid", String(input.value.trim() !== "" && value !== value));
    }
    this.layer.passes = passing(this.layer.matrix, this.filter, this.map.slow);
    if (isFilter(this.filter)) {
      this.say([`${this.strongest().number.toLocaleString("en")} pairs match`]);
    } else if (!this.chosen) this.readout.replaceChildren(START);
    this.list();
    this.draw();
  }

  strongest() {
    return strongest(this.layer.matrix, this.layer.passes, LISTED);
  }

  list() {
    if (!this.pairs.open) return;
    const inside = tableOfPairs({ matrix: this.layer.matrix, levels: this.map.levels }, this.strongest(),
      (i, j) => { this.canvas.focus(); this.choose(i, j, true); });
    this.pairs.replaceChildren(this.pairs.firstChild, inside);
  }

  showUnits(of) {
    const before = this.chosen && this.chosen.map((unit) => this.layer.matrix.units[unit].ranks[0]);
    this.matrix = of === "node" ? this.map.nodes() : this.map.ranks;
    this.controls.show.value = of;
    this.chosen = null;
    this.view = null;
    this.lay();
    this.whole();
    if (before) this.choose(...before.map((rank) => (of === "node" ? this.map.nodeOf[rank] : rank)), true);
  }

  reorder(name) {
    this.orderName = name;
    this.lay();
    this.whole();
  }

  compare(k) {
    this.other = k === "" ? null : this.others[k];
    this.lay();
    if (this.chosen) this.choose(...this.chosen);
  }

  // Show the pairs of a slow part only, and choose the one that takes longest.
  showPart(number) {
    const { name, evidence } = this.map.slow[number];
    this.filter.part = this.filter.part === number ? null : number;
    this.slow.buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k === this.filter.part)));
    this.refilter();
    if (this.filter.part === null) return;
    const [slowest] = this.strongest().best;
    if (slowest) this.choose(slowest[0], slowest[1], true);
    this.say([name, evidence]);
  }

  hover(x, y) {
    const at = (place) => this.layer.order[clamp(0, Math.floor(place), this.layer.size - 1)];
    this.choose(at(x), at(y));
  }

  leave() {
    if (this.box) this.selectBox(null);
  }

  // Take a pair, the first across and the second down; bring it into view if asked.
  choose(i, j, seen = false) {
    this.chosen = [i, j];
    const [x, y] = [this.layer.position[i], this.layer.position[j]];
    const { view } = this;
    if (seen) {
      if (x < view.x || x >= view.x + view.span) view.x = x - view.span / 2;
      if (y < view.y || y >= view.y + view.span) view.y = y - view.span / 2;
      clampView(view, this.layer.size);
    }
    const [a, b] = i <= j ? [i, j] : [j, i];
    this.say(saidOfPair(this.layer.matrix, this.map.levels, this.map.slow, a, b));
    this.draw();
  }

  step(dx, dy) {
    const { size, order, position } = this.layer;
    const [i, j] = this.chosen || [order[0], order[0]];
    const moved = (unit, by) => order[clamp(0, position[unit] + by, size - 1)];
    this.choose(moved(i, dx), moved(j, dy), true);
  }

  say([title, ...rest]) {
    this.readout.replaceChildren(make("strong", {}, title), rest.length ? ` · ${rest.join(" · ")}` : "");
  }

  isZoomed() {
    return this.view.span < this.layer.size;
  }

  whole() {
    this.view = { x: 0, y: 0, span: this.layer.size };
    this.moved();
  }

  zoom(factor) {
    const { view } = this;
    let [x, y] = [view.x + view.span / 2, view.y + view.span / 2];
    if (this.chosen) [x, y] = this.chosen.map((unit) => this.layer.position[unit] + 0.5);
    zoomAt(view, this.layer.size, factor, x, y);
    this.moved();
  }

  selectBox(from, to) {
    this.box = from && to ? [from, to] : null;
    this.draw();
  }

  zoomTo([[x0, y0], [x1, y1]]) {
    const span = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
    this.view = { x: (x0 + x1 - span) / 2, y: (y0 + y1 - span) / 2, span };
    this.box = null;
    this.moved();
  }

  moved() {
    clampView(this.view, this.layer.size);
    this.canvas.style.touchAction = this.isZoomed() ? "none" : "pan-y pinch-zoom";
    this.draw();
  }

  // Drawn once a frame, however much has changed.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.element.isConnected && this.view) this.paint();
    });
  }

  paint() {
    const { canvas, view, layer } = this;
    const width = Math.floor(this.stage.clientWidth), narrow = width < 480;
    if (!width) return;
    const left = narrow ? 56 : 92, top = this.map.slow.length ? 20 : 8;
    const side = Math.max(40, width - left - 10);
    const plot = { x: left, y: top, side, end: left + side, foot: top + side };
    const height = plot.foot + 28, fine = Math.min(2, window.devicePixelRatio || 1);
    Object.assign(canvas, { width: Math.round(width * fine), height: Math.round(height * fine) });
    canvas.style.height = `${height}px`;
    this.plot = plot;
    const pen = canvas.getContext("2d"), ink = theme();
    pen.putImageData(this.cells(Math.round(side * fine), ink.paper), Math.round(plot.x * fine), Math.round(plot.y * fine));
    pen.scale(fine, fine);
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const scene = sceneOf(pen, plot, view, layer, ink);
    const hosts = drawHosts(scene);
    drawNumbers(scene, hosts.length < 2);
    if (hosts.length > 1) drawNames(scene, hosts);
    drawSlow(scene, this.map.slow, this.filter.part);
    if (this.chosen) drawChosen(scene, this.chosen);
    if (this.box) drawBox(scene, this.box);
    // where the cells are, in points of the page: x, y, side; and what is in view
    canvas.dataset.plot = [plot.x, plot.y, plot.side].join(" ");
    canvas.dataset.view = [view.x, view.y, view.span].join(" ");
  }

  // Drawn anew only when something else than the chosen pair has changed.
  cells(points, paper) {
    const { view, layer } = this;
    const state = [points, paper, view.x, view.y, view.span, layer, layer.passes];
    if (!this.drawn || state.some((one, k) => one !== this.drawn.state[k])) {
      this.drawn = { state, image: cellImage(points, view, layer, rgb(paper)) };
    }
    return this.drawn.image;
  }
}
