// Tables below the map: its slow parts, and the slowest pairs that are shown.

const LISTED = 20;

function table(titles, rows, caption) {
  const head = make("tr", {}, ...titles.map((title) => (
    title ? make("th", { scope: "col" }, title) : make("td"))));
  const lines = rows.map(([first, ...others]) => make("tr", {}, make("th", { scope: "row" }, first),
    ...others.map((cell) => make("td", {}, cell))));
  const whole = make("table", {}, make("caption", {}, caption), make("thead", {}, head),
    make("tbody", {}, ...lines));
  return make("div", { class: "frame", tabindex: 0, role: "region", "aria-label": caption }, whole);
}

function tableOfSlow(slow, show) {
  const buttons = slow.map((part, number) => button("show", () => show(number), {
    "aria-pressed": "false", "aria-label": `show ${part.name} in the map`,
  }));
  const rows = slow.map((part, number) => [
    part.name, times(part.ratio), part.sure ? "slow, confirmed" : "possibly slow", part.evidence,
    buttons[number],
  ]);
  const caption = "Slow components, framed in the map (dashed: possibly slow, not yet confirmed)";
  return { element: table(["component", "compared with its level", "", "evidence", ""], rows, caption), buttons };
}

function tableOfPairs({ matrix, levels }, { number, best }, choose) {
  const what = matrix.of === "node" ? "pairs of nodes" : "pairs of ranks";
  const most = matrix.here ? "largest ratio" : "slowest";
  const caption = `${number.toLocaleString("en")} ${what} are shown, the ${most} first`;
  const rows = best.map(([i, j, time]) => [
    button(pairInWords(matrix, i, j), () => choose(i, j), { class: "plain" }),
    matrix.here ? times(time) : timeInWords(time),
    matrix.here ? ratioOfPair(matrix, i, j).split(": ")[1] : levelOfPair(matrix, levels, i, j),
  ]);
  return table(["pair", matrix.here ? "ratio" : "time", ""], rows, caption);
}

function colourKey(shades) {
  const stops = Array.from({ length: 21 }, (_, k) => {
    const colour = shades.palette[1 + Math.round((254 * k) / 20)];
    return `rgb(${colour.map(Math.round).join(" ")}) ${5 * k}%`;
  });
  const bar = make("div", { class: "bar" });
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return [bar, make("div", { class: "ends" }, ...shades.marks.map((mark) => make("span", {}, mark)))];
}
