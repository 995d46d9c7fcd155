/* What several scripts use: elements, other scripts, the address of a view, names as they are looked for. */
"use strict";
window.triathlon = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  /* A function among the attributes listens to the event of that name. */
  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
  const button = (click, attributes, ...children) =>
    make("button", { type: "button", click, ...attributes }, ...children);
  const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

  /* Data are scripts, too: a page that is opened from a file may load nothing else. */
  const load = (src) =>
    new Promise((resolve, reject) => {
      const error = () => reject(new Error(`${src} cannot be loaded: is it beside this page?`));
      document.head.append(make("script", { src, load: resolve, error }));
    });

  /* The view of the page in its address, so that it can be sent to somebody. */
  const setQuery = (query) => {
    try {
      history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
    } catch {
      /* a page from a file may not: the view stays, its address does not */
    }
  };

  /* What is looked for and where: `GPT-4o mini` is found by `gpt4o-mini`, `Mbpp/57` by `mbpp 57`. */
  const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  /* The id of a task, as `unit_anchor` writes it. */
  const anchor = (task) => encodeURIComponent(task).replaceAll("%2F", "/");

  /* Classes of models by their billions of parameters: in an address, in words, from, to below. */
  const SIZES = [
    ["1", "under 1 B", 0, 1],
    ["10", "under 10 B", 0, 10],
    ["50", "under 50 B", 0, 50],
    ["50-", "50 B and more", 50, Infinity],
  ];

  return { make, button, draw, load, setQuery, bare, anchor, SIZES };
})();
