/* What several scripts use: elements, other scripts, the address of a view, names as they are looked for, plotly. */
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

  /* Enter, or a name that was picked from the list: one that is being typed may be the beginning of another. */
  const whenPicked = (field, act) => {
    field.addEventListener("change", act);
    field.addEventListener("input", (event) => { if (event.inputType === "insertReplacementText") act(); });
  };

  /* Plotly is large: it comes when it is asked for. Elements with these ids stand where it would else write style
     sheets of its maps, which the content policy refuses. */
  const loadPlotly = async (source, ids) => {
    if (window.Plotly) return;
    for (const id of ids) document.head.append(make("meta", { id }));
    await load(source);
  };
  const addPlot = (holder, label) => {
    const place = make("div", { class: "plot", role: "group", "aria-label": label });
    holder.append(place);
    return place;
  };
  const plot = (place, traces, layout) => {
    const { color, backgroundColor, fontFamily } = getComputedStyle(document.body);
    const page = {
      paper_bgcolor: backgroundColor, plot_bgcolor: "rgba(0,0,0,0)",
      font: { color, family: fontFamily, size: 12 }, margin: { t: 20, r: 20, b: 40, l: 50 },
      hoverlabel: { font: { color: backgroundColor } }, /* on the colour of the line */
    };
    window.Plotly.newPlot(place, traces, { ...layout, ...page }, { displaylogo: false, responsive: true });
  };
  /* An axis in the colour of a figure's grid. */
  const gridded = (axis, figure) => {
    const color = getComputedStyle(figure.querySelector(".grid")).stroke;
    return { ...axis, gridcolor: color, linecolor: color, zerolinecolor: color };
  };

  return { make, button, draw, load, setQuery, bare, anchor, whenPicked, loadPlotly, addPlot, plot, gridded };
})();
