/* What several scripts use: HTML, other scripts, the address of a view, names as they are looked for.
   A script whose rules tests read without a page ends for them at `if (!window.document) return`. */
"use strict";
window.triathlon = (() => {
  /* HTML with values in it: a text is escaped, what `html` made is not, a list is joined. */
  class Html extends String {}
  const escaped = (value) => {
    if (Array.isArray(value)) return value.map(escaped).join("");
    return value instanceof Html ? value : String(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt()};`);
  };
  const html = (texts, ...values) => new Html(String.raw({ raw: texts }, ...values.map(escaped)));

  /* The element that the HTML describes; `listeners`: what it calls, by event. */
  const make = (content, listeners = {}) => {
    const template = document.createElement("template");
    template.innerHTML = content;
    const element = template.content.firstElementChild;
    for (const [event, listener] of Object.entries(listeners)) element.addEventListener(event, listener);
    return element;
  };

  /* Loads a script once. Data are scripts, too: a page that is opened from a file may load nothing else. */
  const loading = new Map();
  const load = (src) => {
    const start = (resolve, reject) => {
      const script = document.createElement("script");
      script.src = src;
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => {
        loading.delete(src);
        reject(new Error(`${src} cannot be loaded: is it beside this page?`));
      });
      document.head.append(script);
    };
    if (!loading.has(src)) loading.set(src, new Promise(start));
    return loading.get(src);
  };

  /* The view of the page in its address, so that it can be sent to somebody; `values`: pairs of name and value. */
  const setQuery = (values) => {
    const query = new URLSearchParams([...values].filter(([, value]) => value)).toString().replaceAll("%2C", ",");
    try {
      history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
    } catch {
      /* a page from a file may not: the view stays, its address does not */
    }
  };

  /* What is looked for and where: `GPT-4o mini` is found by `gpt4o-mini`, `Mbpp/57` by `mbpp 57`. */
  const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  /* The id of a task, as `unit_anchor` writes it. */
  const hex = (sign) => `%${sign.charCodeAt().toString(16).toUpperCase()}`;
  const anchor = (task) =>
    encodeURIComponent(task)
      .replace(/[!'()*]/g, hex)
      .replaceAll("%2F", "/");

  /* Classes of models by their billions of parameters: in an address, in words, from, to below. */
  const SIZES = [
    ["1", "under 1 B", 0, 1],
    ["10", "under 10 B", 0, 10],
    ["50", "under 50 B", 0, 50],
    ["50-", "50 B and more", 50, Infinity],
  ];
  const sizesOf = (billions) => SIZES.filter(([, , low, high]) => low <= billions && billions < high);

  return { html, make, load, setQuery, bare, anchor, SIZES, sizesOf };
})();
