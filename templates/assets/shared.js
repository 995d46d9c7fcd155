/* What several scripts use: elements, other scripts, the address of a view, names as they are looked for. */
"use strict";
window.triathlon = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
  const button = (press, attributes, ...children) => {
    const element = make("button", { type: "button", ...attributes }, ...children);
    element.addEventListener("click", press);
    return element;
  };
  const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

  /* Data are scripts, too: a page that is opened from a file may load nothing else. */
  const load = (source) => new Promise((resolve, reject) => {
    const script = make("script", { src: source });
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${source} cannot be loaded: is it beside this page?`)));
    document.head.append(script);
  });

  /* The view of the page in its address, so that it can be sent to somebody. */
  const setQuery = (query) => {
    try {
      history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
    } catch { /* a page from a file may not: the view stays, its address does not */ }
  };

  /* What is looked for and where: `GPT-4o mini` is found by `gpt4o-mini`, `Mbpp/57` by `mbpp 57`. */
  const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  /* The id of a task, as `unit_anchor` writes it. */
  const anchor = (task) => encodeURIComponent(task).replaceAll("%2F", "/");

  return { make, button, draw, load, setQuery, bare, anchor };
})();
