// Moving over the map: pointer, wheel, touch and keys.

const DRAGGED = 6; // points of a drag that is no click

function clampView(view, size) {
  view.span = clamp(Math.min(size, 4), view.span, size);
  view.x = clamp(0, view.x, size - view.span);
  view.y = clamp(0, view.y, size - view.span);
}

// Zoom, with the position (x, y) staying where it is on the screen.
function zoomAt(view, size, factor, x, y) {
  const span = clamp(Math.min(size, 4), view.span * factor, size);
  view.x = x - ((x - view.x) * span) / view.span;
  view.y = y - ((y - view.y) * span) / view.span;
  view.span = span;
  clampView(view, size);
}

function followPointer(explorer) {
  const { canvas } = explorer;
  let start = null;
  const within = ([x, y]) => {
    const { view } = explorer;
    return x >= view.x && x < view.x + view.span && y >= view.y && y < view.y + view.span;
  };
  const here = (event) => {
    const box = canvas.getBoundingClientRect(), { plot, view } = explorer;
    const scale = view.span / plot.side;
    return [view.x + (event.clientX - box.left - plot.x) * scale,
      view.y + (event.clientY - box.top - plot.y) * scale];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !within(here(event))) return;
    const pan = event.shiftKey || (event.pointerType === "touch" && explorer.isZoomed());
    start = { place: here(event), at: [event.clientX, event.clientY], view: { ...explorer.view }, pan };
    if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = here(event);
    const moved = start && Math.hypot(event.clientX - start.at[0], event.clientY - start.at[1]) > DRAGGED;
    if (moved && start.pan) {
      const scale = start.view.span / explorer.plot.side;
      explorer.view.x = start.view.x - (event.clientX - start.at[0]) * scale;
      explorer.view.y = start.view.y - (event.clientY - start.at[1]) * scale;
      explorer.moved();
    } else if (moved && event.pointerType !== "touch") {
      explorer.selectBox(start.place, place);
    } else if (within(place)) explorer.hover(...place);
    else explorer.leave();
  });
  canvas.addEventListener("pointerup", (event) => {
    const box = explorer.box;
    if (box) explorer.zoomTo(box);
    else if (start && within(here(event))) explorer.hover(...here(event));
    start = null;
  });
  canvas.addEventListener("pointercancel", () => { start = null; explorer.selectBox(null); });
  canvas.addEventListener("pointerleave", () => explorer.leave());
  canvas.addEventListener("dblclick", () => explorer.whole());
  // The wheel scrolls the page, unless the map has been clicked or the control key is held.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoomAt(explorer.view, explorer.layer.size, event.deltaY < 0 ? 0.8 : 1.25, ...here(event));
    explorer.moved();
  }, { passive: false });
}

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function followKeys(explorer) {
  const does = {
    "+": () => explorer.zoom(0.5), "=": () => explorer.zoom(0.5), "-": () => explorer.zoom(2),
    0: () => explorer.whole(), Escape: () => explorer.whole(),
  };
  explorer.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) explorer.step(...step.map((one) => one * (event.shiftKey ? 10 : 1)));
    else if (does[event.key]) does[event.key]();
    else return;
    event.preventDefault();
  });
}
