// Every figure that has the data of a map becomes one to look into; its still picture is for print.

async function read(figure) {
  const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const ranks = await matrixOf(data);
  const several = data.unit === "rank" && data.hosts.length > 1 && data.hosts.length < data.ranks;
  let nodes = null;
  return { ...data, ranks, figure, nodeOf: data.host, canNodes: several && data.hosts.every(Boolean),
    nodes: () => { nodes = nodes || (data.unit === "node" ? ranks : ofNodes(data, ranks)); return nodes; } };
}

async function start() {
  if (!window.DecompressionStream) return;
  const maps = await Promise.all([...document.querySelectorAll("figure.livemap")].map(read));
  const explorers = maps.map((map) => {
    const others = maps.filter((one) => one !== map && one.unit === map.unit
      && one.ranks.size === map.ranks.size && one.canNodes === map.canNodes);
    const explorer = new Explorer(map, others);
    map.figure.querySelector(".frame").classList.add("still");
    map.figure.prepend(explorer.element);
    explorer.draw();
    return explorer;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change", () => explorers.forEach((explorer) => explorer.draw()));
  document.documentElement.dataset.maps = String(explorers.length);
}

start();
