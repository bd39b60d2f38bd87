// Elements of the page. All text goes through `textContent`: nothing of a file becomes markup.

let countOfIds = 0;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function labelled(words, control) {
  control.id = `control-${++countOfIds}`;
  return make("span", { class: "tool" }, make("label", { for: control.id }, words), control);
}

function choice(pairs) {
  return make("select", {}, ...pairs.map(([value, words]) => make("option", { value }, words)));
}

function button(words, does, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, words);
  element.addEventListener("click", does);
  return element;
}
