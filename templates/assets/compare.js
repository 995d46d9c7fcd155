/* Models side by side. Data comes in small script files, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const DRAWS = 2000, MOST = 6;
  const place = document.getElementById("compare");
  const index = window.triathlonIndex;
  const known = new Map(index.models.map((model) => [model.id, model]));
  const loaded = new Map();
  const waiting = new Map();
  window.triathlonModel = (model) => { loaded.set(model.id, model); waiting.get(model.id)?.(); };

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const load = (id) => loaded.has(id) ? Promise.resolve() : new Promise((resolve, reject) => {
    waiting.set(id, resolve);
    const script = make("script", { src: known.get(id).data });
    script.addEventListener("error", () => reject(new Error(`no data for ${id}`)));
    document.head.append(script);
  });

  const number = (value, maximum) => maximum === 1 ? (100 * value).toFixed(1) : value.toFixed(maximum <= 10 ? 2 : 1);
  const signed = (value, maximum) => (value < 0 ? "−" : "+") + number(Math.abs(value), maximum);

  /* Random weights of one task: seeded by its name, so that every column and pair of models shares them. */
  const kept = new Map();
  const weightsOf = (name) => {
    if (kept.has(name)) return kept.get(name);
    let seed = 2166136261;
    for (let i = 0; i < name.length; i += 1) seed = Math.imul(seed ^ name.charCodeAt(i), 16777619);
    const weights = new Float64Array(DRAWS);
    for (let draw = 0; draw < DRAWS; draw += 1) {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      weights[draw] = -Math.log(1 - ((t ^ (t >>> 14)) >>> 0) / 4294967296);
    }
    kept.set(name, weights);
    return weights;
  };

  /* The paired bootstrap of the method page, on the tasks that both have: first minus second. */
  const difference = (a, first, b, second) => {
    const total = new Float64Array(DRAWS);
    let centre = 0, tasks = 0;
    for (const key of a.parts) {
      const own = first.parts[key], other = second.parts[key];
      if (!own || !other) return null;
      const suite = key.split(":")[0];
      const shared = Object.keys(own).filter((name) => name in other);
      if (!shared.length) return null;
      tasks += shared.length;
      const sums = [0, 0, 0, 0];
      for (const name of shared) [...own[name], ...other[name]].forEach((value, i) => { sums[i] += value; });
      centre += (sums[0] / sums[1] - sums[2] / sums[3]) * a.scale;
      const top = a.maximum / a.scale, unitA = sums[1] / shared.length, unitB = sums[3] / shared.length;
      const won = weightsOf(`${suite} won`), lost = weightsOf(`${suite} lost`);
      const na = won.map((w) => w * unitA * top), da = won.map((w, i) => (w + lost[i]) * unitA);
      const nb = lost.map((w) => w * unitB * top), db = won.map((w, i) => (w + lost[i]) * unitB);
      for (const name of shared) {
        const weights = weightsOf(`${suite} ${name}`), [x0, x1] = own[name], [y0, y1] = other[name];
        for (let draw = 0; draw < DRAWS; draw += 1) {
          const weight = weights[draw];
          na[draw] += weight * x0; da[draw] += weight * x1; nb[draw] += weight * y0; db[draw] += weight * y1;
        }
      }
      for (let draw = 0; draw < DRAWS; draw += 1) total[draw] += (na[draw] / da[draw] - nb[draw] / db[draw]) * a.scale;
    }
    const sorted = total.map((value) => value / a.parts.length).sort();
    centre /= a.parts.length;
    return {
      centre, tasks,
      low: Math.min(centre, sorted[Math.round(0.025 * (DRAWS - 1))]),
      high: Math.max(centre, sorted[Math.round(0.975 * (DRAWS - 1))]),
    };
  };

  const verdict = (d) => d.low > 0 ? "better" : d.high < 0 ? "worse" : "no telling";

  let chosen = (new URLSearchParams(location.search).get("m") ?? "").split(",").filter((id) => known.has(id)).slice(0, MOST);
  if (!chosen.length) chosen = index.models.slice(0, 2).map((model) => model.id);

  const remember = () => {
    try { history.replaceState(null, "", `${location.pathname}?m=${chosen.map(encodeURIComponent).join(",")}`); }
    catch { /* a page from a file may not */ }
  };

  const picker = () => {
    const bar = make("div", { class: "controls" });
    chosen.forEach((id, position) => {
      const button = make("button", { type: "button", "aria-label": `Remove ${known.get(id).name}`, class: `c${position}` }, `${known.get(id).name} ×`);
      button.addEventListener("click", () => { chosen = chosen.filter((other) => other !== id); show(); });
      bar.append(button);
    });
    if (chosen.length < MOST) {
      const select = make("select", { "aria-label": "Add a model" }, make("option", { value: "" }, "Add a model"));
      for (const model of index.models) if (!chosen.includes(model.id)) select.append(make("option", { value: model.id }, model.name));
      select.addEventListener("change", () => { if (select.value) { chosen.push(select.value); show(); } });
      bar.append(select);
    }
    return bar;
  };

  const sentence = (from, to) => {
    const found = to.columns.filter((column) => column.headline).map((column) => {
      const other = from.columns.find((one) => one.id === column.id);
      return other && { title: column.discipline, d: difference(column, to, other, from), maximum: column.maximum };
    }).filter((one) => one?.d);
    const say = (kind) => found.filter((one) => verdict(one.d) === kind)
      .map((one) => `${one.title} (${signed(one.d.centre, one.maximum)}, 95 %: ${signed(one.d.low, one.maximum)} to ${signed(one.d.high, one.maximum)})`).join(", ");
    const better = say("better"), worse = say("worse"), open = say("no telling");
    const head = better && !worse ? "Yes" : worse && !better ? "No" : better && worse ? "It depends" : "The tasks cannot tell";
    return make("p", { class: "lede" }, make("b", {}, `Switch from ${from.name} to ${to.name}? ${head}. `),
      [better && `Better in ${better}`, worse && `worse in ${worse}`, open && `no telling in ${open}`].filter(Boolean).join("; "), ".");
  };

  const table = (models) => {
    const head = make("tr", {}, make("th", { scope: "col" }, "Column"));
    models.forEach((model, i) => head.append(make("th", { scope: "col" }, make("a", { href: known.get(model.id).page }, model.name)), ...(i ? [make("th", { scope: "col" }, `minus ${models[0].name}`)] : [])));
    const body = make("tbody");
    for (const column of index.columns) {
      const cells = models.map((model) => model.columns.find((one) => one.id === column.id));
      if (cells.every((cell) => !cell)) continue;
      const row = make("tr", {}, make("th", { scope: "row" }, column.title));
      cells.forEach((cell, i) => {
        row.append(cell
          ? make("td", { class: "score" }, make("b", {}, number(cell.value, cell.maximum)), make("small", {}, `${number(cell.low, cell.maximum)}–${number(cell.high, cell.maximum)}`))
          : make("td", { class: "score none" }, "–"));
        if (!i) return;
        const d = cell && cells[0] ? difference(cell, models[i], cells[0], models[0]) : null;
        row.append(d
          ? make("td", { class: "score" }, make("span", { class: verdict(d) === "no telling" ? "unsure" : "sure" }, signed(d.centre, cell.maximum)), make("small", {}, `${signed(d.low, cell.maximum)} to ${signed(d.high, cell.maximum)}${column.ranked ? `, ${verdict(d)}` : ""}`))
          : make("td", { class: "score none" }, "–"));
      });
      body.append(row);
    }
    return make("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Scores and differences" }, make("table", { class: "data" }, make("thead", {}, head), body));
  };

  /* Tasks of the baselines that exactly one of the models solves. */
  const alone = (models) => {
    const lists = models.map(() => []);
    for (const column of index.columns.filter((one) => one.baseline)) {
      const cells = models.map((model) => model.columns.find((one) => one.id === column.id));
      if (cells.some((cell) => !cell)) continue;
      for (const key of cells[0].parts) {
        for (const task of Object.keys(models[0].parts[key])) {
          const solved = models.map((model) => (model.parts[key]?.[task]?.[0] ?? 0) > 0);
          if (solved.filter(Boolean).length === 1) lists[solved.indexOf(true)].push(`${key.split(":")[0]}: ${task}`);
        }
      }
    }
    const section = make("section", {}, make("h2", {}, "Solved by one alone"));
    models.forEach((model, i) => section.append(make("details", {}, make("summary", {}, `${model.name}: ${lists[i].length} tasks`), make("p", { class: "muted" }, lists[i].join(", ") || "none"))));
    return section;
  };

  /* Interactive figures: plotly is large, so it is loaded when asked for. */
  const figures = (models) => {
    const holder = make("div", { class: "figures" });
    const button = make("button", { type: "button" }, "Draw curves and radar");
    button.addEventListener("click", () => {
      button.disabled = true;
      const draw = () => {
        button.remove();
        const left = add(holder, "Degradation curves"), right = add(holder, "Radar over all columns");
        curve(left, models);
        radar(right, models);
      };
      if (window.Plotly) { draw(); return; }
      const script = make("script", { src: place.dataset.plotly });
      script.addEventListener("load", draw);
      document.head.append(script);
    });
    return make("section", {}, button, holder);
  };
  const layout = () => {
    const style = getComputedStyle(document.body);
    return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: style.color, family: style.fontFamily, size: 12 }, margin: { t: 20, r: 20, b: 40, l: 50 }, legend: { orientation: "h", y: -0.2 } };
  };
  const colour = (i) => getComputedStyle(place.querySelector(`.c${i}`)).color;
  const add = (holder, label) => { const div = make("div", { class: "plot", role: "img", "aria-label": label }); holder.append(div); return div; };
  const curve = (div, models) => window.Plotly.newPlot(div,
    models.flatMap((m, i) => m.curve ? [{ x: m.curve.map((_, j) => j + 1), y: m.curve, name: m.name, mode: "lines+markers", line: { color: colour(i) }, marker: { symbol: i } }] : []),
    { ...layout(), xaxis: { title: { text: "loop" }, dtick: 1 }, yaxis: { title: { text: "still passing, %" }, range: [0, 100] } }, { displaylogo: false, responsive: true });
  const radar = (div, models) => {
    const axes = index.columns.filter((column) => column.axis && models.every((m) => m.columns.some((one) => one.id === column.id)));
    if (axes.length < 3) return;
    const value = (m, column) => { const cell = m.columns.find((one) => one.id === column.id); return 100 * cell.value / cell.maximum; };
    window.Plotly.newPlot(div,
      models.map((m, i) => ({ type: "scatterpolar", name: m.name, r: [...axes, axes[0]].map((c) => value(m, c)), theta: [...axes, axes[0]].map((c) => c.title), line: { color: colour(i) }, fill: "none" })),
      { ...layout(), polar: { radialaxis: { range: [0, 100] }, bgcolor: "rgba(0,0,0,0)" } }, { displaylogo: false, responsive: true });
  };

  const show = async () => {
    remember();
    place.replaceChildren(picker());
    if (chosen.length < 2) { place.append(make("p", { class: "notice" }, "Choose at least two models.")); return; }
    try { await Promise.all(chosen.map(load)); } catch (error) { place.append(make("p", { class: "notice" }, String(error.message))); return; }
    const models = chosen.map((id) => loaded.get(id));
    place.append(sentence(models[0], models[1]), table(models), figures(models), alone(models));
  };
  show();
})();
