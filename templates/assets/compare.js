/* Models side by side. Data comes in small script files, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const MOST = 6;
  const NOT_SHOWN = "no difference shown";
  const VERDICTS = { b: "better", w: "worse", n: NOT_SHOWN };
  const OPPOSITES = { b: "w", w: "b", n: "n" };
  const place = document.getElementById("compare");
  const index = window.triathlonIndex;
  const known = new Map(index.models.map((model) => [model.id, model]));
  const loaded = new Map();
  const waiting = new Map();
  window.triathlonModel = (model) => {
    model.solved = bySuite(model.solved);
    loaded.set(model.id, model);
    waiting.get(model.id)?.();
  };

  /* Task → "1" solved or "0" not, of the tasks that were run. */
  const bySuite = (solved) => Object.fromEntries(Object.entries(solved).map(([suite, signs]) => {
    const tasks = index.clusters[index.clustersOf[suite]].map((name, i) => [name, signs[i]]);
    return [suite, Object.fromEntries(tasks.filter(([, sign]) => sign !== "-"))];
  }));

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

  /* The other way round: `+1.2` as `−1.2`; a zero has no sign. */
  const turned = (text) => text.replace(/^[+−]/, (sign) => sign === "+" ? "−" : "+");

  /* First minus second in a column, in the texts that were made when the site was built: null where they share no task.
     A pair stands in the file of the model that comes first in the index. */
  const places = new Map(index.models.map((model, i) => [model.id, i]));
  const difference = (id, first, second) => {
    const [upper, lower] = places.get(first.id) < places.get(second.id) ? [first, second] : [second, first];
    const column = upper.columns.find((entry) => entry.id === id);
    const text = column?.minus.split(";")[places.get(lower.id) - places.get(upper.id) - 1];
    if (!text) return null;
    const [centre, low, high, result] = text.split(" ");
    return upper === first
      ? { centre, low, high, verdict: VERDICTS[result] }
      : { centre: turned(centre), low: turned(high), high: turned(low), verdict: VERDICTS[OPPOSITES[result]] };
  };

  const asked = new Set((new URLSearchParams(location.search).get("m") ?? "").split(","));
  let chosen = [...asked].filter((id) => known.has(id)).slice(0, MOST);
  /* Too few are filled up with the best, as the tables of neighbours name them. */
  const pages = new Map(index.models.map(({ id, page }) => [page, id]));
  const best = [...document.querySelectorAll("[id^=neighbours] tbody a")].map((link) => pages.get(link.getAttribute("href")));
  for (const id of [...best, ...known.keys()]) if (chosen.length < 2 && id && !chosen.includes(id)) chosen.push(id);

  const remember = () => {
    try { history.replaceState(null, "", `${location.pathname}?m=${chosen.map(encodeURIComponent).join(",")}${location.hash}`); }
    catch { /* a page from a file may not */ }
  };

  const picker = () => {
    const bar = make("div", { class: "controls" });
    chosen.forEach((id, position) => {
      const button = make("button", { type: "button", "aria-label": `Remove ${known.get(id).name}`, class: `c${position}` }, make("bdi", {}, known.get(id).name), " ×");
      button.addEventListener("click", () => { chosen = chosen.filter((other) => other !== id); show(); });
      bar.append(button);
    });
    if (chosen.length < MOST) {
      const select = make("select", { "aria-label": "Add a model" }, make("option", { value: "" }, "Add a model"));
      const choices = index.models.filter(({ id }) => !chosen.includes(id)).sort((a, b) => a.name.localeCompare(b.name));
      for (const model of choices) select.append(make("option", { value: model.id }, model.name));
      select.addEventListener("change", () => { if (select.value) { chosen.push(select.value); show(); } });
      if (choices.length) bar.append(select);
    }
    return bar;
  };

  const sentence = (from, to) => {
    const comparisons = [];
    for (const column of to.columns.filter(({ headline }) => headline)) {
      const d = difference(column.id, to, from);
      if (d) comparisons.push({ title: column.label, d });
    }
    const verdicts = ["better", "worse", NOT_SHOWN];
    const inWords = ({ title, d }) => `${title} (${d.centre}, 95\u00a0%: ${d.low} to ${d.high})`;
    const reasons = verdicts.flatMap((name) => {
      const texts = comparisons.filter(({ d }) => d.verdict === name).map(inWords);
      if (name !== NOT_SHOWN) return texts.map((text) => [`${name} in ${text}`]);
      /* What shows no difference takes one line. */
      return texts.length ? [texts.map((text, i) => `${i ? "" : `${name} in `}${text}${i < texts.length - 1 ? ", " : ""}`)] : [];
    });
    const [better, worse] = verdicts.map((name) => reasons.some(([first]) => first.startsWith(name)));
    const head = better && !worse ? "Yes" : worse && !better ? "No" : better && worse ? "It depends" : "The tasks do not decide it";
    if (!comparisons.length) reasons.push(["they share no task"]);
    /* A line a reason: what each says is read at a glance. */
    const parts = reasons.map((texts, i) => {
      const boxes = texts.map((text) => make("span", {}, text));
      if (!i) boxes[0].textContent = texts[0][0].toUpperCase() + texts[0].slice(1);
      boxes.at(-1).append(i < reasons.length - 1 ? "; " : ".");
      return make("span", {}, ...boxes);
    });
    return make("p", { class: "lede verdict" }, make("b", {}, "Switch from ", make("bdi", {}, from.name), " to ", make("bdi", {}, to.name), `? ${head}. `), ...parts);
  };

  const table = (models) => {
    const head = make("tr", {}, make("th", { scope: "col" }, "Column"));
    models.forEach((model, i) => head.append(make("th", { scope: "col" }, make("a", { href: known.get(model.id).page }, model.name)), ...(i ? [make("th", { scope: "col" }, "minus ", make("bdi", {}, models[0].name))] : [])));
    const body = make("tbody");
    let lonely = 0;
    for (const column of index.columns) {
      const cells = models.map((model) => model.columns.find(({ id }) => id === column.id));
      const have = cells.filter(Boolean).length;
      if (have < 2) { lonely += have; continue; }
      const row = make("tr", {}, make("th", { scope: "row" }, column.title));
      for (const [i, cell] of cells.entries()) {
        row.append(cell
          ? make("td", { class: "score" }, make("b", {}, cell.shown), make("small", {}, cell.interval))
          : make("td", { class: "score none" }, "–"));
        if (!i) continue;
        const d = cell && cells[0] ? difference(column.id, models[i], models[0]) : null;
        row.append(d
          ? make("td", { class: "score" }, make("span", { class: d.verdict === NOT_SHOWN ? "unsure" : "sure" }, d.centre), make("small", {}, `${d.low} to ${d.high}${column.ranked ? `, ${d.verdict}` : ""}`))
          : make("td", { class: "score none" }, "–"));
      }
      body.append(row);
    }
    const frame = make("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Scores and differences" }, make("table", { class: "data narrow" }, make("thead", {}, head), body));
    return lonely ? [frame, make("p", { class: "footnote" }, `${lonely} ${lonely === 1 ? "column" : "columns"} that only one of them has: on its own page.`)] : [frame];
  };

  /* A task that leads to what the model wrote, beside the program of another model where its texts are here, too. */
  const programs = (models, i, suite, task) => {
    const page = models[i].evidence[suite];
    if (!page) return task;
    const rival = models.find((model, n) => n !== i && model.evidence[suite])?.evidence[suite].split("/")[1];
    return make("a", { href: `${page}${rival ? `?beside=${rival}` : ""}#${encodeURIComponent(task)}` }, task);
  };

  /* Tasks that exactly one of the models solves, set by set. */
  const alone = (models) => {
    const lists = models.map(() => new Map());
    for (const column of index.columns.filter(({ solving }) => solving)) {
      const suite = column.solving;
      if (models.some((model) => !model.solved[suite])) continue;
      for (const task of Object.keys(models[0].solved[suite])) {
        if (models.some((model) => !(task in model.solved[suite]))) continue;
        const solved = models.map((model) => model.solved[suite][task] === "1");
        if (solved.filter(Boolean).length !== 1) continue;
        const ofSolver = lists[solved.indexOf(true)];
        ofSolver.set(suite, [...ofSolver.get(suite) ?? [], task]);
      }
    }
    const section = make("section", {}, make("h2", {}, "Solved by one model only"));
    models.forEach((model, i) => {
      const count = [...lists[i].values()].reduce((sum, tasks) => sum + tasks.length, 0);
      const body = [...lists[i]].map(([suite, tasks]) => make("p", { class: "muted" },
        index.tasks[suite] ? make("a", { href: index.tasks[suite] }, suite) : suite, ": ",
        ...tasks.flatMap((task, n) => [...(n ? [", "] : []), programs(models, i, suite, task)])));
      section.append(make("details", {}, make("summary", {}, make("bdi", {}, model.name), `: ${count} ${count === 1 ? "task" : "tasks"}`), ...body));
    });
    return section;
  };

  /* Lines in the empty figures of the page; interactive ones, by plotly, only when asked for: it is large. */
  const figures = document.getElementById("compare-figures");
  const SVG = "http://www.w3.org/2000/svg";
  const drawn = [["curve", "line", "curvePath"], ["radar", "area", "radarPath"]];
  const draw = (models) => {
    figures.hidden = false;
    figures.querySelector(".legend").replaceChildren(...models.map((model, i) => {
      const [key, group, stroke] = ["svg", "g", "path"].map((tag) => document.createElementNS(SVG, tag));
      for (const [name, value] of Object.entries({ width: 28, height: 10, "aria-hidden": "true" })) key.setAttribute(name, value);
      group.setAttribute("class", `c${i}`);
      stroke.setAttribute("class", "line");
      stroke.setAttribute("d", "M1 5H27");
      group.append(stroke);
      key.append(group);
      return make("li", {}, key, ` ${model.name}`);
    }));
    for (const [name, shape, field] of drawn) {
      const group = figures.querySelector(`[data-series="${name}"]`);
      if (!group) continue;
      group.closest("figure").hidden = !models.some((model) => model[field]);
      group.replaceChildren(...models.flatMap((model, i) => {
        if (!model[field]) return [];
        const line = document.createElementNS(SVG, "path"), holder = document.createElementNS(SVG, "g");
        line.setAttribute("d", model[field]);
        line.setAttribute("class", shape === "area" ? `area c${i}` : "line");
        holder.setAttribute("class", `c${i}`);
        holder.append(line);
        return [holder];
      }));
    }
    figures.querySelector("[data-plots]").replaceChildren();
    figures.querySelector("[data-interactive]").disabled = false;
  };
  const interact = (button) => {
    button.disabled = true;
    const models = chosen.map((id) => loaded.get(id)), holder = figures.querySelector("[data-plots]");
    const plot = () => {
      /* Both places first: a plot takes the width that its place has when it is drawn. */
      const kinds = [["Degradation curves", curve, "curve"], ["All dimensions", radar, "radar"]];
      const places = kinds.filter(([, , field]) => models.some((model) => model[field])).map(([label, into]) => [add(holder, label), into]);
      for (const [div, into] of places) into(div, models);
    };
    if (window.Plotly) { plot(); return; }
    /* Elements that stand where plotly would else write style sheets of its maps, which the policy refuses. */
    for (const id of place.dataset.plotlyStyles.split(" ").filter(Boolean)) document.head.append(make("meta", { id }));
    const script = make("script", { src: place.dataset.plotly });
    script.addEventListener("load", plot);
    document.head.append(script);
  };
  figures.querySelector("[data-interactive]").addEventListener("click", (event) => interact(event.currentTarget));
  const layout = () => {
    const style = getComputedStyle(document.body);
    return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: style.color, family: style.fontFamily, size: 12 }, margin: { t: 20, r: 20, b: 40, l: 50 }, legend: { orientation: "h", y: -0.2 } };
  };
  /* Figures come as plotly's own from the build; the page adds its colours. */
  const gridded = (axis) => {
    const color = getComputedStyle(figures.querySelector(".grid")).stroke;
    return { ...axis, gridcolor: color, linecolor: color, zerolinecolor: color };
  };
  const colour = (i) => getComputedStyle(place.querySelector(`.c${i}`)).color;
  const add = (holder, label) => { const div = make("div", { class: "plot", role: "img", "aria-label": label }); holder.append(div); return div; };
  const plotted = (div, traces, axes) => window.Plotly.newPlot(div, traces, { ...layout(), ...axes }, { displaylogo: false, responsive: true });
  const curve = (div, models) => {
    const { xaxis, yaxis } = index.layouts.curve;
    const traces = models.flatMap((m, i) => m.curve ? [{ ...m.curve, line: { color: colour(i) }, marker: { symbol: i } }] : []);
    plotted(div, traces, { xaxis: gridded(xaxis), yaxis: gridded(yaxis) });
  };
  const radar = (div, models) => {
    const { polar } = index.layouts.radar;
    const traces = models.flatMap((m, i) => m.radar ? [{ ...m.radar, line: { color: colour(i) } }] : []);
    if (!traces.length) return;
    plotted(div, traces, { polar: { ...polar, radialaxis: gridded(polar.radialaxis), angularaxis: gridded(polar.angularaxis) } });
  };

  const tables = document.getElementById("compare-tables");
  let turn = 0;
  const show = async () => {
    const thisTurn = turn += 1;
    remember();
    place.replaceChildren(picker());
    figures.hidden = true;
    tables.replaceChildren();
    if (chosen.length < 2) { place.classList.add("ready"); place.append(make("p", { class: "notice" }, "Choose at least two models.")); return; }
    place.classList.remove("ready");
    const wait = make("p", { class: "muted" }, "Loading …");
    place.append(wait);
    try { await Promise.all(chosen.map(load)); } catch (error) { wait.replaceWith(make("p", { class: "notice" }, String(error.message))); return; }
    const models = chosen.map((id) => loaded.get(id)), sentences = [];
    for (const model of models.slice(1)) sentences.push(sentence(models[0], model));
    if (thisTurn !== turn) return; /* other models were chosen meanwhile */
    wait.replaceWith(...sentences);
    draw(models);
    place.classList.add("ready");
    window.triathlonStay();
    const scores = make("section", {}, make("h2", {}, "Column by column"), ...table(models));
    if (thisTurn !== turn) return;
    tables.replaceChildren(scores, alone(models));
    window.triathlonStay();
  };
  show();
})();
