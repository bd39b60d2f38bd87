// The controls above a map: what is shown, in which order, which pairs, how close.

const ORDER_WORDS = [
  ["rank", "by rank"], ["node", "by node"], ["level", "by switch or level"], ["cost", "by cost, most last"],
];

function controlsOf(map, others, does) {
  const unit = unitOf(map.levels.at(-1).seconds);
  const show = choice([["rank", "ranks"], ["node", "nodes, by median"]]);
  const order = choice(ORDER_WORDS);
  const host = make("input", {
    type: "search", placeholder: "name, or rank", autocomplete: "off", spellcheck: "false",
  });
  const least = make("input", { type: "text", inputmode: "decimal", placeholder: `10 ${unit}`, size: 7 });
  const most = make("input", { type: "text", inputmode: "decimal", placeholder: "any", size: 7 });
  const against = choice([["", "nothing"], ...others.map((other, k) => [k, other.title])]);
  show.addEventListener("change", () => does.show(show.value));
  order.addEventListener("change", () => does.order(order.value));
  against.addEventListener("change", () => does.against(against.value));
  for (const input of [host, least, most]) input.addEventListener("input", () => does.filter());
  const zoom = make("span", { class: "tool zoom", role: "group", "aria-label": "Zoom" },
    button("+", () => does.zoom(0.5), { "aria-label": "zoom in", title: "zoom in" }),
    button("−", () => does.zoom(2), { "aria-label": "zoom out", title: "zoom out" }),
    button("whole", () => does.whole(), { title: "show the whole map" }));
  const tools = make("div", { class: "tools" },
    map.canNodes ? labelled("cells", show) : "", labelled("order", order), labelled("host", host),
    labelled("slower than", least), labelled("faster than", most),
    others.length ? labelled("compared with", against) : "", zoom);
  return { element: tools, show, host, least, most, unit };
}
