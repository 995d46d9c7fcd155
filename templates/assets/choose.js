/* The chosen score against the chosen cost: a sentence, a figure and a table of the models that pass the filters. */
"use strict";
(() => {
  const choices = window.triathlonChoices, place = document.getElementById("choose");
  const SIZES = [["1", "under 1 B", 0, 1], ["10", "under 10 B", 0, 10], ["50", "under 50 B", 0, 50], ["50-", "50 B and more", 50, Infinity]];
  const CONTEXTS = [["8000", "8,000 tokens"], ["32000", "32,000 tokens"], ["128000", "128,000 tokens"], ["1000000", "1,000,000 tokens"]];
  const PRICES = [["1", "$1"], ["5", "$5"], ["20", "$20"]];
  const licences = [...new Set(choices.models.map((model) => model.license).filter(Boolean))].sort();
  const FILTERS = [
    { id: "open", label: "Weights", options: [["open", "open"], ["closed", "closed"]], passes: (model, value) => model.open === value },
    { id: "size", label: "Size", options: SIZES, passes: ({ size }, value) => { const [, , low, high] = SIZES.find(([id]) => id === value); return size !== null && low <= size && size < high; } },
    { id: "license", label: "Licence", options: licences.map((name) => [name, name]), passes: (model, value) => model.license === value },
    { id: "context", label: "Context from", options: CONTEXTS, passes: (model, value) => model.context !== null && model.context >= Number(value) },
    { id: "price", label: "Price up to", options: PRICES, passes: (model, value) => model.price !== null && model.price <= Number(value) },
  ];

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  /* ---- what was chosen, as the address has it ---- */

  const asked = new URLSearchParams(location.search);
  const known = (list, id) => list.find((entry) => entry.id === id) ?? list[0];
  const chosen = { score: known(choices.scores, asked.get("score")).id, cost: known(choices.costs, asked.get("cost")).id };
  for (const { id, options } of FILTERS) chosen[id] = options.some(([value]) => value === asked.get(id)) ? asked.get(id) : "";
  const remember = () => {
    const query = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));
    try { history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`); } catch { /* a page from a file may not */ }
  };

  /* ---- scores: one file each, loaded when it is asked for ---- */

  const LETTERS = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((letter, i) => [letter, i]));
  const decoded = (text) => Array.from({ length: text.length / 2 }, (_, i) => 64 * LETTERS.get(text[2 * i]) + LETTERS.get(text[2 * i + 1]));
  const loaded = new Map();
  window.triathlonScore = (score) => loaded.set(score.id, { ...score, draws: score.draws.map(decoded) });
  const script = (source) => new Promise((resolve, reject) => {
    const element = make("script", { src: source });
    element.addEventListener("load", resolve);
    element.addEventListener("error", () => reject(new Error(`expected the file ${source} beside this page, but it cannot be loaded`)));
    document.head.append(element);
  });

  /* ---- the frontier: as triathlon_site/frontier computes it ---- */

  /* Positions of the models that no other one beats; `order` has them by cost. */
  const undominated = (scores, costs, order) => {
    const undominated = [];
    let best = -Infinity;
    for (let start = 0; start < order.length;) {
      let end = start, top = -Infinity;
      for (; end < order.length && costs[order[end]] === costs[order[start]]; end += 1) top = Math.max(top, scores[order[end]]);
      if (top > best) {
        undominated.push(...order.slice(start, end).filter((model) => scores[model] === top));
        best = top;
      }
      start = end;
    }
    return undominated;
  };

  const selection = () => {
    const data = loaded.get(chosen.score), cost = known(choices.costs, chosen.cost);
    const passing = data.rows.map((row, i) => [choices.models[row], i]).filter(([model]) => FILTERS.every(({ id, passes }) => !chosen[id] || passes(model, chosen[id])));
    const rows = passing.filter(([model]) => model[cost.id] !== null).map(([model, i]) => ({ model, cost: model[cost.id], paid: model.shown[cost.id], value: data.value[i], shown: data.shown[i], low: data.low[i], high: data.high[i], draws: data.draws[i], count: 0, share: 0, on: false }));
    const costs = rows.map((row) => row.cost);
    const order = rows.map((_, i) => i).sort((a, b) => costs[a] - costs[b] || a - b);
    for (const i of undominated(rows.map((row) => row.value), costs, order)) rows[i].on = true;
    const draws = rows[0]?.draws.length ?? 0;
    for (let draw = 0; draw < draws; draw += 1) for (const i of undominated(rows.map((row) => row.draws[draw]), costs, order)) rows[i].count += 1;
    for (const row of rows) row.share = row.count / draws;
    return { rows, order, cost, without: passing.length - rows.length, score: known(choices.scores, chosen.score), figure: data.figure };
  };

  /* ---- in words ---- */

  const month = (value) => `${Math.floor(value / 12)}-${String((value % 12) + 1).padStart(2, "0")}`;
  const listed = (names) => names.length > choices.named + 1
    ? `${names.slice(0, choices.named).join(", ")} and ${names.length - choices.named} others`
    : names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
  const words = () => {
    const label = (id) => FILTERS.find((filter) => filter.id === id).options.find(([value]) => value === chosen[id])[1];
    const after = [];
    if (chosen.size) after.push(chosen.size.endsWith("-") ? `of ${label("size")}` : label("size"));
    if (chosen.license) after.push(`under ${chosen.license}`);
    if (chosen.context) after.push(`with a context of at least ${label("context")}`);
    if (chosen.price) after.push(`at up to ${label("price")} per million tokens`);
    return [chosen.open, "models", ...after].filter(Boolean).join(" ");
  };
  const sentence = ({ rows, order, cost, score }) => {
    if (!rows.length) return `Of ${words()} none has a score in ${score.short} and a known ${cost.noun}: take a filter away.`;
    const best = rows.reduce((first, row) => row.value > first.value ? row : first);
    const alike = order.map((i) => rows[i]).filter((row) => row !== best && row.draws.filter((value, i) => value >= best.draws[i]).length / best.draws.length >= choices.doubt);
    const head = `Of ${rows.length} ${words()} with a known ${cost.noun}, ${best.model.name} scores highest in ${score.short}: ${best.shown}.`;
    if (!alike.length) return `${head} No other comes close enough to doubt it.`;
    const lowest = Math.min(best.cost, alike[0].cost), cheapest = [...alike, best].filter((row) => row.cost === lowest), least = cheapest.map((row) => row.model.name);
    const price = cheapest[0].paid, first = least.length > 1 ? `are ${listed(least)} (${price} each)` : `is ${least[0]} (${price})`;
    return `${head} ${listed(alike.map((row) => row.model.name))} cannot be told from it; the ${cost.least} of these ${first}.`;
  };

  /* ---- controls, table, figure ---- */

  const select = (id, label, options) => {
    const element = make("select", { "aria-label": label }, ...options.map(([value, text]) => make("option", { value }, text)));
    element.value = chosen[id];
    element.addEventListener("change", () => { chosen[id] = element.value; show(); });
    return element;
  };
  const controls = make("div", { class: "controls choices-row" },
    select("score", "Score", choices.scores.map(({ id, title }) => [id, title])),
    make("span", { class: "muted" }, "against"),
    select("cost", "Cost", choices.costs.map(({ id, title }) => [id, title])),
    ...FILTERS.map(({ id, label, options }) => select(id, label, [["", `${label}: any`], ...options.map(([value, text]) => [value, `${label}: ${text}`])])));
  const answer = make("p", { class: "lede verdict", "aria-live": "polite" });
  const plot = make("div", { class: "plot tall", role: "img" });
  const caption = make("figcaption");
  const body = make("tbody"), head = make("tr");
  const frame = make("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Models on the frontier" }, make("table", { class: "data narrow dense" }, make("thead", {}, head), body));
  place.append(controls, answer);

  const table = ({ rows, order, cost, score }) => {
    head.replaceChildren(...["On the frontier", cost.noun[0].toUpperCase() + cost.noun.slice(1), "Score", "In draws"].map((name) => make("th", { scope: "col" }, name)));
    const shown = order.map((i) => rows[i]).filter((row) => row.on || row.share >= choices.leastShare);
    body.replaceChildren(...shown.map((row) => make("tr", {}, make("th", { scope: "row" }, row.model.name),
      ...[row.paid, row.shown, `${Math.round(100 * row.share)} %`].map((text) => make("td", { class: "number" }, text)))));
  };

  /* plotly reads a few tags in its texts: without this a name could be a link. */
  const plain = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const trace = (base, rows, { cost, score }, colour) => ({
    ...base,
    x: rows.map((row) => cost.id === "released" ? month(row.cost) : row.cost),
    y: rows.map((row) => row.value),
    error_y: { ...base.error_y, array: rows.map((row) => row.high - row.value), arrayminus: rows.map((row) => row.value - row.low), color: colour },
    hovertemplate: "%{customdata}<extra></extra>",
    customdata: rows.map((row) => `<b>${plain(row.model.name)}</b><br>${row.shown}<br>${row.paid}<br>on the frontier in ${Math.round(100 * row.share)} % of the draws`),
    marker: { ...base.marker, color: colour },
  });
  /* A name for each point that has room for one, the best first. */
  const labels = (rows, { cost }) => {
    const scale = (values) => { const low = Math.min(...values), span = Math.max(...values) - low || 1; return (value) => (value - low) / span; };
    const costs = rows.map((row) => cost.axis.type === "log" ? Math.log(row.cost) : row.cost);
    const across = scale(costs), up = scale(rows.map((row) => row.value)), taken = [], texts = rows.map(() => "");
    for (const i of rows.map((_, place) => place).sort((a, b) => rows[b].share - rows[a].share)) {
      const box = { x: across(costs[i]) * plot.clientWidth * 0.85, y: up(rows[i].value) * plot.clientHeight * 0.5, width: 7 * rows[i].model.name.length };
      if (taken.some((other) => Math.abs(other.x - box.x) < (other.width + box.width) / 2 && Math.abs(other.y - box.y) < 16)) continue;
      taken.push(box);
      texts[i] = plain(rows[i].model.name);
    }
    return texts;
  };
  const draw = (view) => {
    const style = getComputedStyle(document.body), at = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
    const probe = make("span", { class: "c0" });
    document.body.append(probe);
    const colour = (name) => { probe.className = name; return getComputedStyle(probe).color; };
    const [blue, orange, grey] = ["c0", "c1", "muted"].map(colour);
    probe.style.color = at("--grid");
    const grid = getComputedStyle(probe).color;
    probe.remove();
    const [models, frontier, steps] = view.figure.data, narrow = plot.clientWidth < 560;
    const on = view.order.map((i) => view.rows[i]).filter((row) => row.on), off = view.rows.filter((row) => !row.on);
    const line = { ...trace(steps, on, view, blue), error_y: undefined, customdata: undefined, hovertemplate: undefined, line: { ...steps.line, color: blue, width: 1, dash: "dot" } };
    const dominated = trace(models, off, view, grey);
    dominated.marker.color = off.map((row) => row.share >= choices.leastShare ? orange : grey);
    const named = { ...trace(frontier, on, view, blue), text: narrow ? on.map(() => "") : labels(on, view), textposition: on.map((_, i) => i ? "top center" : "top right"), textfont: { size: 12, color: style.color } };
    const axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, automargin: true };
    const layout = {
      ...view.figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: style.color, family: style.fontFamily, size: 12 }, margin: { t: 24, r: narrow ? 12 : 90, b: 48, l: 56 },
      xaxis: { ...view.cost.axis, ...axis }, yaxis: { ...view.figure.layout.yaxis, ...axis, title: { ...view.figure.layout.yaxis.title, standoff: 12 } }, dragmode: narrow ? false : "zoom",
    };
    window.Plotly.react(plot, [dominated, line, named], layout, { responsive: true, displayModeBar: false });
  };

  /* plotly.js is large: it is loaded once a quarter of the figure is on the screen; on a phone, when somebody scrolls to it. */
  let ready = null;
  const plotly = () => {
    for (const id of place.dataset.plotlyStyles.split(" ").filter(Boolean)) document.head.append(make("meta", { id }));
    return script(place.dataset.plotly);
  };
  let view = null;
  const visible = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    visible.disconnect();
    ready = plotly();
    ready.then(() => { if (view) draw(view); }, (error) => { caption.textContent = error.message; });
  }, { threshold: 0.25 });
  visible.observe(plot);
  new MutationObserver(() => { if (window.Plotly && view) draw(view); }).observe(document.documentElement, { attributeFilter: ["data-theme"] });

  const show = async () => {
    remember();
    const { file } = known(choices.scores, chosen.score), wanted = chosen.score;
    if (!loaded.has(wanted)) try { await script(file); } catch (error) { answer.textContent = error.message; return; }
    if (wanted !== chosen.score) return; /* another was chosen meanwhile */
    view = selection();
    answer.textContent = sentence(view);
    if (!plot.isConnected) place.append(make("figure", {}, plot, caption), frame); /* now that nothing above it moves it any more */
    plot.setAttribute("aria-label", `${view.score.title} against ${view.cost.title}; the table below has the models of the frontier`);
    caption.textContent = `Each point a model, with its 95 % interval. Blue: on the frontier by its score; orange: on it in at least ${100 * choices.leastShare} % of the draws. ${view.without ? `${view.without} without a known ${view.cost.noun} ${view.without === 1 ? "is" : "are"} left out.` : ""}`;
    table(view);
    if (window.Plotly) draw(view);
    place.dataset.shown = `${chosen.score} ${chosen.cost}`;
  };
  show();
})();
