/* Models side by side. Data comes in small script files, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const { html, make, load, setQuery, bare, anchor } = window.triathlon;
  const MOST = 6;
  const NOT_SHOWN = "no difference shown",
    NOT_SHARED = "no task in common under one protocol and without open units";
  const VERDICTS = { b: "better", w: "worse", n: NOT_SHOWN };
  const OPPOSITES = { better: "worse", worse: "better", [NOT_SHOWN]: NOT_SHOWN };
  const index = window.triathlonIndex;
  /* By id the models, in their order; what their own scripts say of them is added when these are loaded. */
  const known = new Map(index.models.map((model, place) => [model.id, { ...model, place }]));
  window.triathlonModel = (model) => Object.assign(known.get(model.id), model);
  const names = (models) => models.map(({ name }) => name).join(", ");
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  /* The models that the address names, filled up to two with models that share tasks, or any where there are none. */
  const startingWith = (asked) => {
    const ids = asked.filter((id) => known.has(id)).slice(0, MOST);
    if (!ids.length && index.start) ids.push(index.start);
    for (const id of [known.get(ids[0])?.rival, ...known.keys()])
      if (id && ids.length < 2 && !ids.includes(id)) ids.push(id);
    return ids;
  };

  /* What is said of an address that names models which are not here, or more than there is room for. */
  const notesOf = (asked) => {
    const left = asked.filter((id) => known.has(id)).slice(MOST);
    const unknown = asked.filter((id) => id && !known.has(id)).map((id) => `There is no model “${id}”. `);
    return left.length ? [...unknown, `Left out: ${names(left.map((id) => known.get(id)))}. `] : unknown;
  };

  /* The id of the one model that is meant, else what is said instead. */
  const search = (text, chosen) => {
    const wanted = bare(text);
    const exact = index.models.filter(({ id, name }) => [id, name].some((one) => bare(one) === wanted));
    const found = exact.length ? exact : index.models.filter(({ id, name }) => bare(`${id} ${name}`).includes(wanted));
    const reported = index.reported.find((name) => bare(name) === wanted);
    if (found.length > 1)
      return { said: `${found.length} models: ${names(found.slice(0, 3))}${found.length > 3 ? " …" : ""}` };
    if (found.length)
      return chosen.includes(found[0].id) ? { said: `${found[0].name} is there already` } : { id: found[0].id };
    if (reported) return { said: `of ${reported} others reported figures alone: no task is known to compare` };
    return { said: "no model of that name" };
  };

  /* The other way round: `+1.2` as `−1.2`; a zero has no sign. */
  const turned = (text) => text.replace(/^[+−]/, (sign) => (sign === "+" ? "−" : "+"));

  /* First minus second in a column, in the texts that were made when the site was built: null where they share no task.
     A pair stands in the file of the model that comes first in the index. */
  const difference = (id, first, second) => {
    if (first.place > second.place) {
      const d = difference(id, second, first);
      return d && { centre: turned(d.centre), low: turned(d.high), high: turned(d.low), verdict: OPPOSITES[d.verdict] };
    }
    const minus = first.columns.find((column) => column.id === id)?.minus.split(";") ?? [];
    const [centre, low, high, result] = minus[second.place - first.place - 1]?.split(" ") ?? [];
    return result ? { centre, low, high, verdict: VERDICTS[result] } : null;
  };

  /* The differences of the others to the first model in each board's headline; where two share none, in the columns that
     they do. */
  const comparisons = ([from, ...others]) =>
    others.flatMap((to) => {
      const board = ({ column }) => column.id.split(" ")[0];
      const shared = index.columns
        .filter(({ ranked }) => ranked)
        .map((column) => ({ column, to, d: difference(column.id, to, from) }))
        .filter(({ d }) => d);
      const headed = new Set(shared.filter(({ column }) => column.headline).map(board));
      return shared.filter((one) => one.column.headline || !headed.has(board(one)));
    });

  /* ---- what is shown of the chosen models; they are compared with the first of them ---- */

  const sentence = (from, to, found) => {
    const by = Object.groupBy(found, ({ d }) => d.verdict);
    const inWords = ({ column, d }) => `${column.label} (${d.centre}, 95\u00a0%: ${d.low} to ${d.high})`;
    const reasons = Object.values(VERDICTS)
      .filter((name) => by[name])
      .map((name) => `${name} in ${by[name].map(inWords).join(", ")}`)
      .join("; ");
    const worse = by.worse ? "No" : "The tasks do not decide it";
    const head = by.better ? (by.worse ? "It depends" : "Yes") : worse;
    return html`<p class="lede verdict"><b>Switch from <bdi>${from.name}</bdi> to <bdi>${to.name}</bdi>? ${head}. </b>
      <span>${reasons[0].toUpperCase()}${reasons.slice(1)}.</span></p>`;
  };

  /* One line for several: who is better, who worse than the first. */
  const summary = (from, others, found) => {
    const groups = {
      "better in some column": (verdicts) => verdicts.includes("better"),
      "worse in some column": (verdicts) => verdicts.includes("worse"),
      [NOT_SHOWN]: (verdicts) => verdicts.length && verdicts.every((name) => name === NOT_SHOWN),
      [NOT_SHARED]: (verdicts) => !verdicts.length,
    };
    const verdicts = (model) => found.filter(({ to }) => to === model).map(({ d }) => d.verdict);
    const parts = Object.entries(groups)
      .map(([title, belongs]) => [title, others.filter((model) => belongs(verdicts(model)))])
      .filter(([, models]) => models.length)
      .map(([title, models]) => `${title}: ${names(models)}`);
    return html`<p class="lede verdict"><b>Against <bdi>${from.name}</bdi>: </b>${parts.join("; ")}.</p>`;
  };

  const verdict = ([from, ...others], found) => {
    if (!found.length)
      return html`<p class="lede verdict"><b>They cannot be compared: </b><bdi>${from.name}</bdi> and ${names(others)} have
        ${NOT_SHARED}.</p>`;
    return others.length > 1 ? summary(from, others, found) : sentence(from, others[0], found);
  };

  /* Differences to the first model with their intervals, as shares of each column's scale: right of the line is better. */
  const forest = (models, found) => {
    const number = (text) => Number(text.replace("−", "-"));
    const ends = ({ column, d }) => [d.low, d.centre, d.high].map((text) => (100 * number(text)) / column.maximum);
    const most = Math.max(1, ...found.flatMap(ends).map(Math.abs));
    const row = (one) => {
      const { column, to, d } = one;
      const [low, centre, high] = ends(one).map((value) => `${50 + (48 * value) / most}%`);
      const unsure = d.verdict === NOT_SHOWN;
      return html`<li><span><bdi>${to.name}</bdi><small> ${column.label}</small></span>
        <svg aria-hidden="true" class="${unsure ? "unsure" : `c${models.indexOf(to)}`}">
        <line x1="50%" x2="50%" y1="0" y2="100%" class="zero"></line>
        <line x1="${low}" x2="${high}" y1="50%" y2="50%"></line><circle cx="${centre}" cy="50%" r="4.5"></circle></svg>
        <b>${d.centre}</b><small>${d.low} to ${d.high}${unsure ? "" : `, ${d.verdict}`}</small></li>`;
    };
    return html`<section class="differences"><h2>Differences to <bdi>${models[0].name}</bdi></h2>
      <p class="muted">Right of the line: better.</p><ol class="forest">${found.map(row)}</ol></section>`;
  };

  const table = (models) => {
    const [from, ...others] = models;
    const missing = html`<td class="score none">–</td>`;
    const minus = (column, model) => {
      const d = [from, model].every((one) => scoreOf(one, column)) && difference(column.id, model, from);
      if (!d) return missing;
      return html`<td class="score"><span class="${d.verdict === NOT_SHOWN ? "unsure" : "sure"}">${d.centre}</span>
        <small>${d.low} to ${d.high}</small>${column.ranked ? html`<small>${d.verdict}</small>` : ""}</td>`;
    };
    const scoreOf = (model, column) => model.columns.find(({ id }) => id === column.id);
    const cell = (score) =>
      score ? html`<td class="score"><b>${score.shown}</b><small>${score.interval}</small></td>` : missing;
    const having = (column) => models.filter((model) => scoreOf(model, column)).length;
    const head = ({ page, name }) => html`<th scope="col"><a href="${page}">${name}</a></th>`;
    const facts = index.facts
      .map((title, i) => [title, models.map((model) => model.facts[i])])
      .filter(([, texts]) => texts.some(Boolean))
      .map(
        ([title, [text, ...rest]]) => html`<tr><th scope="row">${title}</th><td>${text || "–"}</td>
          ${rest.map((text) => html`<td colspan="2">${text || "–"}</td>`)}</tr>`,
      );
    const scores = index.columns
      .filter((column) => having(column) > 1)
      .map(
        (column) => html`<tr><th scope="row">${column.title}</th>${cell(scoreOf(from, column))}
          ${others.map((model) => [cell(scoreOf(model, column)), minus(column, model)])}</tr>`,
      );
    const frame = html`<div class="table-frame" tabindex="0" role="region" aria-label="Scores and differences">
      <table class="data narrow"><thead><tr><th scope="col">Column</th>${head(from)}
      ${others.map((model) => [head(model), html`<th scope="col">minus <bdi>${from.name}</bdi></th>`])}</tr></thead>
      <tbody>${facts}${scores}</tbody></table></div>`;
    const lonely = index.columns.filter((column) => having(column) === 1).length;
    const note = html`<p class="footnote">${counted(lonely, "column")} in which no two can be set side by side: on each
      model’s own page.</p>`;
    return html`${facts.length + scores.length ? frame : ""}${lonely ? note : ""}`;
  };

  /* A task that leads to what the model wrote, beside the program of another model where its texts are here, too. */
  const program = (models, model, suite, task) => {
    const page = model.evidence[suite];
    if (!page) return html`${task}`;
    const rival = models.find((other) => other !== model && other.evidence[suite])?.evidence[suite].split("/")[1];
    return html`<a href="${page}${rival ? `?beside=${rival}` : ""}#${anchor(task)}">${task}</a>`;
  };

  /* Of each model and suite the tasks that it alone solves of those that all ran; null where no suite is of all. */
  const solvedAlone = (models) => {
    const suites = index.columns
      .map(({ solving }) => solving)
      .filter((suite) => suite && models.every(({ solved }) => /[01]/.test(solved[suite])));
    if (!suites.length) return null;
    const signs = (suite, i) => models.map(({ solved }) => solved[suite][i]).join("");
    return models.map((_, place) => {
      const alone = models.map((_, other) => (other === place ? "1" : "0")).join("");
      const tasks = (suite) => index.clusters[index.clustersOf[suite]].filter((_, i) => signs(suite, i) === alone);
      return suites.map((suite) => [suite, tasks(suite)]).filter(([, tasks]) => tasks.length);
    });
  };
  const alone = (models) => {
    const solved = solvedAlone(models);
    if (!solved) return "";
    const ofSuite = (model, [suite, tasks]) => {
      const title = index.tasks[suite] ? html`<a href="${index.tasks[suite]}">${suite}</a>` : suite;
      const programs = tasks.map((task, n) => [n ? ", " : "", program(models, model, suite, task)]);
      return html`<p class="muted">${title}: ${programs}</p>`;
    };
    const ofModel = (model, i) => {
      const count = solved[i].reduce((sum, [, tasks]) => sum + tasks.length, 0);
      return html`<details><summary><bdi>${model.name}</bdi>: ${counted(count, "task")}</summary>
        ${solved[i].map((one) => ofSuite(model, one))}</details>`;
    };
    return html`<section><h2>Solved by one model only</h2>
      <p class="muted">Of several samples one that passes is enough.</p>${models.map(ofModel)}</section>`;
  };

  /* The curves that are drawn are of one board: the first of those on which most of the models have one. */
  const curvesOn = (models) => {
    const having = (board) => models.filter(({ curves }) => curves[board]).length;
    return Object.keys(index.boards)
      .filter(having)
      .sort((a, b) => having(b) - having(a))[0];
  };
  /* Where an axis of curves begins and ends, in tens; the build draws its lines from 0 to 100 per cent. */
  const axis = (values) => {
    if (!values.length) return [0, 100];
    const low = Math.min(90, 10 * Math.floor(Math.min(...values) / 10));
    return [low, Math.max(low + 10, 10 * Math.ceil(Math.max(...values) / 10))];
  };
  /* `places`: the edges of the plot and its number of loops, as the figure states them. */
  const curvePath = (curve, [low, high], places) => {
    const [left, right, base, top, loops] = places.split(" ").map(Number);
    const x = (i) => left + (i * (right - left)) / (loops - 1),
      y = (value) => base - ((value - low) / (high - low)) * (base - top);
    return `M${curve.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}`;
  };

  const shown = { verdict, forest, table, alone, curvesOn, axis, curvePath };
  window.triathlon.compare = { known, startingWith, notesOf, search, difference, comparisons, solvedAlone, ...shown };
  if (!window.document) return;

  const place = document.getElementById("compare");
  const asked = [...new Set((new URLSearchParams(location.search).get("m") ?? "").split(","))];
  const notes = notesOf(asked); /* said once */
  let chosen = startingWith(asked);

  const showPicker = () => {
    const chip = (id, i) => {
      const { name } = known.get(id);
      return html`<button type="button" data-remove="${id}" aria-label="Remove ${name}" class="c${i}">
        <bdi>${name}</bdi> ×</button>`;
    };
    const all = [...index.models.map(({ name }) => name), ...index.reported].sort((a, b) => a.localeCompare(b));
    const said = notes.splice(0);
    const adding = html`<input type="search" list="models" placeholder="Add a model" aria-label="Add a model">
      <datalist id="models">${all.map((name) => html`<option value="${name}"></option>`)}</datalist>
      <output class="status">${said}</output>`;
    const full = html`<span class="status">${said}Six are the most: remove one to add another.</span>`;
    place.innerHTML = html`<div class="controls">${chosen.map(chip)}${chosen.length < MOST ? adding : full}</div>`;
    for (const remove of place.querySelectorAll("[data-remove]"))
      remove.addEventListener("click", () => {
        chosen = chosen.filter((id) => id !== remove.dataset.remove);
        show();
      });
    const field = place.querySelector("input");
    const add = () => {
      if (!bare(field.value)) return;
      const { id, said } = search(field.value, chosen);
      if (id) {
        chosen.push(id);
        show();
      } else place.querySelector("output").textContent = said;
    };
    /* Enter, or a name that was picked from the list: one that is being typed may be the beginning of another. */
    field?.addEventListener("change", add);
    field?.addEventListener("input", ({ inputType }) => inputType === "insertReplacementText" && add());
  };

  /* Lines in the empty figures of the page; interactive ones, by plotly, only when asked for: it is large. */
  const figures = document.getElementById("compare-figures");
  const pictures = figures.querySelector(".figures"),
    plots = figures.querySelector("[data-plots]"),
    switching = figures.querySelector("[data-interactive]");
  const showPictures = () => {
    pictures.hidden = false;
    plots.replaceChildren();
    switching.textContent = "Draw interactively";
  };
  let range = [0, 100],
    board;
  const draw = (models) => {
    board = curvesOn(models);
    figures.querySelector("[data-board]").textContent = board ? `The curves are of ${index.boards[board]}.` : "";
    const sample = (i) => html`<svg class="figure" width="28" height="10" aria-hidden="true"><g class="c${i}">
      <path class="line" d="M1 5H27"></path></g></svg>`;
    figures.querySelector(".legend").innerHTML =
      html`${models.map(({ name }, i) => html`<li>${sample(i)} ${name}</li>`)}`;
    range = axis(models.flatMap(({ curves }) => curves[board]?.y ?? []));
    for (const group of figures.querySelectorAll("[data-series]")) {
      const figure = group.closest("figure"),
        { places } = group.dataset;
      const path = ({ curves, radarPath }) =>
        places ? curves[board] && curvePath(curves[board].y, range, places) : radarPath;
      const line = (d, i) => html`<g class="c${i}"><path d="${d}" class="${places ? "line" : "line area"}"></path></g>`;
      figure.hidden = !models.some(path);
      group.innerHTML = html`${models.map((model, i) => (path(model) ? line(path(model), i) : ""))}`;
      if (places)
        figure.querySelectorAll("text[text-anchor=end]").forEach((text, i, { length }) => {
          const level = range[0] + (i / (length - 1)) * (range[1] - range[0]);
          text.textContent = String(Math.round(level * 10) / 10);
        });
    }
    showPictures();
    figures.hidden = ![...pictures.children].some((one) => !one.hidden);
  };
  /* Elements with these ids stand where plotly would else write style sheets of its maps, which the content policy refuses. */
  const loadPlotly = async () => {
    if (window.Plotly) return;
    for (const id of place.dataset.plotlyStyles.split(" ").filter(Boolean))
      document.head.append(make(html`<meta id="${id}">`));
    await load(place.dataset.plotly);
  };
  /* Traces and axes come as plotly's own from the build; the page adds its colours. */
  const interact = async () => {
    switching.disabled = true;
    await loadPlotly().finally(() => {
      switching.disabled = false;
    });
    const { color, backgroundColor, fontFamily } = getComputedStyle(document.body);
    const grid = getComputedStyle(figures.querySelector(".grid")).stroke;
    const lines = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, showline: true };
    const page = {
      template: { layout: { xaxis: lines, yaxis: lines, polar: { radialaxis: lines, angularaxis: lines } } },
      paper_bgcolor: backgroundColor,
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color, family: fontFamily, size: 12 },
      margin: { t: 20, r: 20, b: 40, l: 50 },
      hoverlabel: { font: { color: backgroundColor } } /* on the colour of the line */,
      legend: { orientation: "h", y: -0.2 },
    };
    const trace = (shape, symbol, i) => {
      const line = { color: getComputedStyle(place.querySelector(`.c${i}`)).color };
      return shape && { ...shape, line, marker: { symbol } };
    };
    const models = chosen.map((id) => known.get(id));
    const { curve, radar } = index.layouts;
    const drawings = [
      [
        "Degradation curves",
        models.map((model, i) => trace(model.curves[board], i, i)),
        { ...curve, yaxis: { ...curve.yaxis, range } },
      ],
      ["All dimensions", models.map((model, i) => trace(model.radar, 0, i)), radar],
    ].filter(([, traces]) => traces.some(Boolean));
    /* All places first: a plot takes the width that its place has when it is drawn. */
    const frame = ([label]) => html`<div class="plot" role="group" aria-label="${label}"></div>`;
    plots.innerHTML = html`${drawings.map(frame)}`;
    drawings.forEach(([, traces, layout], i) =>
      window.Plotly.newPlot(
        plots.children[i],
        traces.filter(Boolean),
        { ...layout, ...page },
        { displaylogo: false, responsive: true },
      ),
    );
    pictures.hidden = true;
    switching.textContent = "Show the pictures";
  };
  switching.addEventListener("click", () => (pictures.hidden ? showPictures() : interact()));
  /* Plots have the colours that the page had when they were drawn. */
  const recolour = () => {
    if (pictures.hidden && !figures.hidden) interact();
  };
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);

  const tables = document.getElementById("compare-tables");
  let turn = 0;
  const show = async () => {
    const thisTurn = (turn += 1);
    setQuery([["m", chosen.join(",")]]);
    showPicker();
    figures.hidden = true;
    tables.replaceChildren();
    const answer = place.appendChild(document.createElement("div"));
    place.classList.toggle("ready", chosen.length < 2);
    if (chosen.length < 2) {
      answer.innerHTML = html`<p class="notice">Choose at least two models.</p>`;
      return;
    }
    answer.innerHTML = html`<p class="muted">Loading …</p>`;
    const models = chosen.map((id) => known.get(id));
    try {
      await Promise.all(models.map(({ data }) => load(data)));
    } catch (error) {
      answer.innerHTML = html`<p class="notice">${error.message}</p>`;
      return;
    }
    if (thisTurn !== turn) return; /* other models were chosen meanwhile */
    const found = comparisons(models);
    answer.innerHTML = html`${verdict(models, found)}${found.length ? forest(models, found) : ""}`;
    if (found.length) draw(models);
    place.classList.add("ready");
    window.triathlonStay();
    tables.innerHTML = html`<section><h2>Column by column</h2>${table(models)}</section>
      ${found.length ? alone(models) : ""}`;
    window.triathlonStay();
  };
  show();
})();
