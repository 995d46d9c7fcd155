/* Models side by side. Data comes in small script files, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const { make, button, draw: svg, load, setQuery, bare, anchor } = window.triathlon;
  const MOST = 6;
  const NOT_SHOWN = "no difference shown",
    NOT_SHARED = "no task in common under one protocol and without open units";
  const VERDICTS = { b: "better", w: "worse", n: NOT_SHOWN };
  const OPPOSITES = { b: "w", w: "b", n: "n" };
  const place = document.getElementById("compare");
  const index = window.triathlonIndex;
  const known = new Map(index.models.map((model) => [model.id, model]));
  const loaded = new Map();
  window.triathlonModel = (model) => {
    model.solved = bySuite(model.solved);
    loaded.set(model.id, model);
  };

  /* Task → "1" solved or "0" not, of the tasks that were run. */
  const bySuite = (solved) =>
    Object.fromEntries(
      Object.entries(solved).map(([suite, signs]) => {
        const tasks = index.clusters[index.clustersOf[suite]].map((name, i) => [name, signs[i]]);
        return [suite, Object.fromEntries(tasks.filter(([, sign]) => sign !== "-"))];
      }),
    );

  const fetchModel = async (id) => {
    if (!loaded.has(id)) await load(known.get(id).data);
  };

  /* The other way round: `+1.2` as `−1.2`; a zero has no sign. */
  const turned = (text) => text.replace(/^[+−]/, (sign) => (sign === "+" ? "−" : "+"));

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
  const unknown = [...asked].filter((id) => id && !known.has(id));
  /* Too few are filled up with models that share tasks; with any where there are none. */
  if (!chosen.length && index.start) chosen.push(index.start);
  for (const id of [known.get(chosen[0])?.rival, ...known.keys()])
    if (id && chosen.length < 2 && !chosen.includes(id)) chosen.push(id);

  const remember = () => setQuery(`m=${chosen.map(encodeURIComponent).join(",")}`);

  const search = () => {
    const names = [...index.models.map(({ name }) => name), ...index.reported].sort((a, b) => a.localeCompare(b));
    const list = make("datalist", { id: "models" }, ...names.map((name) => make("option", { value: name })));
    /* Said once, of an address that names models which are not here. */
    const said = make("output", { class: "status" }, ...unknown.splice(0).map((id) => `There is no model “${id}”. `));
    const add = () => {
      const wanted = bare(field.value);
      if (!wanted) return;
      const exact = index.models.filter(({ id, name }) => [id, name].some((text) => bare(text) === wanted));
      const found = exact.length
        ? exact
        : index.models.filter(({ id, name }) => bare(id + " " + name).includes(wanted));
      const reported = index.reported.find((name) => bare(name) === wanted);
      if (found.length === 1 && !chosen.includes(found[0].id)) {
        chosen.push(found[0].id);
        show();
      } else if (found.length === 1) said.textContent = `${found[0].name} is there already`;
      else if (found.length)
        said.textContent = `${found.length} models: ${found
          .slice(0, 3)
          .map(({ name }) => name)
          .join(", ")}${found.length > 3 ? " …" : ""}`;
      else
        said.textContent = reported
          ? `of ${reported} others reported figures alone: no task is known to compare`
          : "no model of that name";
    };
    /* Enter, or a name that was picked from the list: one that is being typed may be the beginning of another. */
    const input = ({ inputType }) => {
      if (inputType === "insertReplacementText") add();
    };
    const label = "Add a model",
      look = { type: "search", list: "models", placeholder: label, "aria-label": label };
    const field = make("input", { ...look, change: add, input });
    return [field, list, said];
  };

  const picker = () => {
    const bar = make("div", { class: "controls" });
    chosen.forEach((id, position) => {
      const remove = () => {
        chosen = chosen.filter((other) => other !== id);
        show();
      };
      bar.append(
        button(
          remove,
          { "aria-label": `Remove ${known.get(id).name}`, class: `c${position}` },
          make("bdi", {}, known.get(id).name),
          " ×",
        ),
      );
    });
    bar.append(
      ...(chosen.length < MOST
        ? search()
        : [make("span", { class: "status" }, "Six are the most: remove one to add another.")]),
    );
    return bar;
  };

  /* The difference of the second to the first in each board's headline; where they share none, in the columns that they do. */
  const comparisons = (from, to) => {
    const board = ({ id }) => id.split(" ")[0];
    const ranked = new Map(index.columns.filter((column) => column.ranked).map((column) => [column.id, column]));
    const shared = to.columns.filter(({ id }) => ranked.has(id) && difference(id, to, from));
    const headed = new Set(shared.filter(({ headline }) => headline).map(board));
    const compared = shared.filter((column) => column.headline || !headed.has(board(column)));
    return compared.map(({ id, label }) => ({ title: label, column: ranked.get(id), to, d: difference(id, to, from) }));
  };

  const sentence = (from, to, found) => {
    const verdicts = ["better", "worse", NOT_SHOWN];
    const inWords = ({ title, d }) => `${title} (${d.centre}, 95\u00a0%: ${d.low} to ${d.high})`;
    const reasons = verdicts.flatMap((name) => {
      const texts = found.filter(({ d }) => d.verdict === name).map(inWords);
      return texts.length ? [`${name} in ${texts.join(", ")}`] : [];
    });
    const [better, worse] = verdicts.map((name) => found.some(({ d }) => d.verdict === name));
    const head =
      better && !worse
        ? "Yes"
        : worse && !better
          ? "No"
          : better && worse
            ? "It depends"
            : "The tasks do not decide it";
    const text = reasons.join("; ");
    return make(
      "p",
      { class: "lede verdict" },
      make("b", {}, "Switch from ", make("bdi", {}, from.name), " to ", make("bdi", {}, to.name), `? ${head}. `),
      make("span", {}, `${text[0].toUpperCase()}${text.slice(1)}.`),
    );
  };

  /* One line for several: who is better, who worse than the first. */
  const summary = (from, others, found) => {
    const parts = ["better", "worse"].flatMap((name) => {
      const models = others.filter((model) => found.some(({ to, d }) => to === model && d.verdict === name));
      return models.length ? [`${name} in some column: ${models.map(({ name: own }) => own).join(", ")}`] : [];
    });
    const verdicts = (model) => found.filter(({ to }) => to === model).map(({ d }) => d.verdict);
    const alike = others.filter(
      (model) => verdicts(model).length && verdicts(model).every((name) => name === NOT_SHOWN),
    );
    const alone = others.filter((model) => !verdicts(model).length);
    for (const [title, models] of [
      [NOT_SHOWN, alike],
      [NOT_SHARED, alone],
    ]) {
      if (models.length) parts.push(`${title}: ${models.map(({ name }) => name).join(", ")}`);
    }
    return make(
      "p",
      { class: "lede verdict" },
      make("b", {}, "Against ", make("bdi", {}, from.name), ": "),
      `${parts.join("; ")}.`,
    );
  };

  /* Differences to the first model with their intervals, as shares of each column's scale: right of the line is better. */
  const forest = (from, found) => {
    const number = (text) => Number(text.replace("−", "-").replace("+", ""));
    const rows = found.map(({ title, column, to, d }) => ({
      title,
      to,
      d,
      ends: [d.low, d.centre, d.high].map((text) => (100 * number(text)) / column.maximum),
    }));
    const most = Math.max(1, ...rows.flatMap(({ ends }) => ends.map(Math.abs))),
      across = (value) => `${50 + (48 * value) / most}%`;
    const list = make("ol", { class: "forest" });
    for (const {
      title,
      to,
      d,
      ends: [low, centre, high],
    } of rows) {
      const plot = svg(
        "svg",
        { "aria-hidden": "true", class: d.verdict === NOT_SHOWN ? "unsure" : `c${chosen.indexOf(to.id)}` },
        svg("line", { x1: "50%", x2: "50%", y1: "0", y2: "100%", class: "zero" }),
        svg("line", { x1: across(low), x2: across(high), y1: "50%", y2: "50%" }),
        svg("circle", { cx: across(centre), cy: "50%", r: 4.5 }),
      );
      list.append(
        make(
          "li",
          {},
          make("span", {}, make("bdi", {}, to.name), make("small", {}, ` ${title}`)),
          plot,
          make("b", {}, d.centre),
          make("small", {}, `${d.low} to ${d.high}${d.verdict === NOT_SHOWN ? "" : `, ${d.verdict}`}`),
        ),
      );
    }
    return make(
      "section",
      { class: "differences" },
      make("h2", {}, "Differences to ", make("bdi", {}, from.name)),
      make("p", { class: "muted" }, "Right of the line: better."),
      list,
    );
  };

  const table = (models) => {
    const head = make("tr", {}, make("th", { scope: "col" }, "Column"));
    models.forEach((model, i) =>
      head.append(
        make("th", { scope: "col" }, make("a", { href: known.get(model.id).page }, model.name)),
        ...(i ? [make("th", { scope: "col" }, "minus ", make("bdi", {}, models[0].name))] : []),
      ),
    );
    const body = make("tbody");
    const facts = models.map((model) => known.get(model.id).facts);
    index.facts.forEach((title, i) => {
      if (facts.some((own) => own[i]))
        body.append(
          make(
            "tr",
            {},
            make("th", { scope: "row" }, title),
            ...facts.flatMap((own, place) => [make("td", place ? { colspan: "2" } : {}, own[i] || "–")]),
          ),
        );
    });
    let lonely = 0;
    for (const column of index.columns) {
      const cells = models.map((model) => model.columns.find(({ id }) => id === column.id));
      const have = cells.filter(Boolean).length;
      if (have < 2) {
        lonely += have;
        continue;
      }
      const row = make("tr", {}, make("th", { scope: "row" }, column.title));
      for (const [i, cell] of cells.entries()) {
        row.append(
          cell
            ? make("td", { class: "score" }, make("b", {}, cell.shown), make("small", {}, cell.interval))
            : make("td", { class: "score none" }, "–"),
        );
        if (!i) continue;
        const d = cell && cells[0] ? difference(column.id, models[i], models[0]) : null;
        row.append(
          d
            ? make(
                "td",
                { class: "score" },
                make("span", { class: d.verdict === NOT_SHOWN ? "unsure" : "sure" }, d.centre),
                make("small", {}, `${d.low} to ${d.high}`),
                ...(column.ranked ? [make("small", {}, d.verdict)] : []),
              )
            : make("td", { class: "score none" }, "–"),
        );
      }
      body.append(row);
    }
    const frame = make(
      "div",
      { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Scores and differences" },
      make("table", { class: "data narrow" }, make("thead", {}, head), body),
    );
    const rest = lonely
      ? [
          make(
            "p",
            { class: "footnote" },
            `${lonely} ${lonely === 1 ? "column" : "columns"} in which no two can be set side by side: on each model’s own page.`,
          ),
        ]
      : [];
    return body.rows.length ? [frame, ...rest] : rest;
  };

  /* A task that leads to what the model wrote, beside the program of another model where its texts are here, too. */
  const programs = (models, i, suite, task) => {
    const page = models[i].evidence[suite];
    if (!page) return task;
    const rival = models.find((model, n) => n !== i && model.evidence[suite])?.evidence[suite].split("/")[1];
    return make("a", { href: `${page}${rival ? `?beside=${rival}` : ""}#${anchor(task)}` }, task);
  };

  /* Tasks that exactly one of the models solves, set by set; nothing where no set is of all of them. */
  const alone = (models) => {
    const lists = models.map(() => new Map());
    const shared = index.columns
      .map(({ solving }) => solving)
      .filter((suite) => suite && models.every((model) => Object.keys(model.solved[suite] ?? {}).length));
    if (!shared.length) return [];
    for (const suite of shared) {
      for (const task of Object.keys(models[0].solved[suite])) {
        if (models.some((model) => !(task in model.solved[suite]))) continue;
        const solved = models.map((model) => model.solved[suite][task] === "1");
        if (solved.filter(Boolean).length !== 1) continue;
        const ofSolver = lists[solved.indexOf(true)];
        ofSolver.set(suite, [...(ofSolver.get(suite) ?? []), task]);
      }
    }
    const section = make(
      "section",
      {},
      make("h2", {}, "Solved by one model only"),
      make("p", { class: "muted" }, "Of several samples one that passes is enough."),
    );
    models.forEach((model, i) => {
      const count = [...lists[i].values()].reduce((sum, tasks) => sum + tasks.length, 0);
      const body = [...lists[i]].map(([suite, tasks]) =>
        make(
          "p",
          { class: "muted" },
          index.tasks[suite] ? make("a", { href: index.tasks[suite] }, suite) : suite,
          ": ",
          ...tasks.flatMap((task, n) => [...(n ? [", "] : []), programs(models, i, suite, task)]),
        ),
      );
      section.append(
        make(
          "details",
          {},
          make("summary", {}, make("bdi", {}, model.name), `: ${count} ${count === 1 ? "task" : "tasks"}`),
          ...body,
        ),
      );
    });
    return [section];
  };

  /* Lines in the empty figures of the page; interactive ones, by plotly, only when asked for: it is large. */
  const figures = document.getElementById("compare-figures");
  const pictures = figures.querySelector(".figures"),
    plots = figures.querySelector("[data-plots]");
  const switching = figures.querySelector("[data-interactive]");
  const showPictures = () => {
    pictures.hidden = false;
    plots.replaceChildren();
    switching.textContent = "Draw interactively";
  };
  let range = [0, 100];
  /* Curves on an axis that ends where they do, in tens; the build draws its lines from 0 to 100 per cent. */
  const curvePaths = (figure, curves) => {
    const lines = [...figure.querySelectorAll("path.grid")].map((line) =>
      line
        .getAttribute("d")
        .match(/[\d.]+/g)
        .map(Number),
    );
    const [left, base, right] = lines[0],
      height = base - lines.at(-1)[1],
      values = curves.flat();
    const low = Math.min(90, 10 * Math.floor(Math.min(...values) / 10)),
      high = Math.max(low + 10, 10 * Math.ceil(Math.max(...values) / 10));
    range = values.length ? [low, high] : [0, 100];
    figure.querySelectorAll("text[text-anchor=end]").forEach((text, i) => {
      text.textContent = String(Math.round((range[0] + (i / (lines.length - 1)) * (range[1] - range[0])) * 10) / 10);
    });
    const step =
      (right - left) /
      (figure.querySelectorAll("text[text-anchor=middle]").length - 2); /* numbers of loops, and a title */
    const point = (value, i) =>
      `${(left + i * step).toFixed(1)},${(base - ((value - low) / (high - low)) * height).toFixed(1)}`;
    return curves.map((curve) => (curve.length ? `M${curve.map(point).join(" ")}` : null));
  };
  const draw = (models) => {
    figures.hidden = false;
    figures
      .querySelector(".legend")
      .replaceChildren(
        ...models.map((model, i) =>
          make(
            "li",
            {},
            svg(
              "svg",
              { class: "figure", width: 28, height: 10, "aria-hidden": "true" },
              svg("g", { class: `c${i}` }, svg("path", { class: "line", d: "M1 5H27" })),
            ),
            ` ${model.name}`,
          ),
        ),
      );
    for (const group of figures.querySelectorAll("[data-series]")) {
      const isCurve = group.dataset.series === "curve",
        shape = isCurve ? "line" : "line area";
      const paths = isCurve
        ? curvePaths(
            group.closest("svg"),
            models.map(({ curve }) => curve?.y ?? []),
          )
        : models.map(({ radarPath }) => radarPath);
      group.closest("figure").hidden = !paths.some(Boolean);
      group.replaceChildren(
        ...paths.flatMap((d, i) => (d ? [svg("g", { class: `c${i}` }, svg("path", { d, class: shape }))] : [])),
      );
    }
    showPictures();
  };
  /* Elements with these ids stand where plotly would else write style sheets of its maps, which the content policy refuses. */
  const loadPlotly = async () => {
    if (window.Plotly) return;
    for (const id of place.dataset.plotlyStyles.split(" ").filter(Boolean)) document.head.append(make("meta", { id }));
    await load(place.dataset.plotly);
  };
  const interact = async () => {
    switching.disabled = true;
    try {
      await loadPlotly();
    } finally {
      switching.disabled = false;
    }
    const models = chosen.map((id) => loaded.get(id));
    /* Traces and axes come as plotly's own from the build; the page adds its colours. */
    const { color, backgroundColor, fontFamily } = getComputedStyle(document.body);
    const grid = getComputedStyle(figures.querySelector(".grid")).stroke;
    const gridded = (axis) => ({ ...axis, gridcolor: grid, linecolor: grid, zerolinecolor: grid });
    const page = {
      paper_bgcolor: backgroundColor,
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color, family: fontFamily, size: 12 },
      margin: { t: 20, r: 20, b: 40, l: 50 },
      hoverlabel: { font: { color: backgroundColor } } /* on the colour of the line */,
      legend: { orientation: "h", y: -0.2 },
    };
    const traces = (name) =>
      models.flatMap((model, i) =>
        model[name]
          ? [
              {
                ...model[name],
                line: { color: getComputedStyle(place.querySelector(`.c${i}`)).color },
                marker: { symbol: name === "curve" ? i : 0 },
              },
            ]
          : [],
      );
    const {
      curve: { xaxis, yaxis },
      radar: { polar },
    } = index.layouts;
    const drawings = [
      ["Degradation curves", traces("curve"), { xaxis: gridded(xaxis), yaxis: gridded({ ...yaxis, range }) }],
      [
        "All dimensions",
        traces("radar"),
        { polar: { ...polar, radialaxis: gridded(polar.radialaxis), angularaxis: gridded(polar.angularaxis) } },
      ],
    ].filter(([, lines]) => lines.length);
    /* All places first: a plot takes the width that its place has when it is drawn. */
    const places = drawings.map(([label]) => make("div", { class: "plot", role: "group", "aria-label": label }));
    plots.replaceChildren(...places);
    drawings.forEach(([, lines, layout], i) =>
      window.Plotly.newPlot(places[i], lines, { ...layout, ...page }, { displaylogo: false, responsive: true }),
    );
    pictures.hidden = true;
    switching.textContent = "Show the pictures";
  };
  switching.addEventListener("click", () => {
    if (pictures.hidden) showPictures();
    else interact();
  });
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
    remember();
    place.replaceChildren(picker());
    figures.hidden = true;
    tables.replaceChildren();
    if (chosen.length < 2) {
      place.classList.add("ready");
      place.append(make("p", { class: "notice" }, "Choose at least two models."));
      return;
    }
    place.classList.remove("ready");
    const wait = make("p", { class: "muted" }, "Loading …");
    place.append(wait);
    try {
      await Promise.all(chosen.map(fetchModel));
    } catch (error) {
      wait.replaceWith(make("p", { class: "notice" }, String(error.message)));
      return;
    }
    if (thisTurn !== turn) return; /* other models were chosen meanwhile */
    const models = chosen.map((id) => loaded.get(id)),
      [from, ...others] = models;
    const found = others.flatMap((model) => comparisons(from, model));
    if (!found.length)
      wait.replaceWith(
        make(
          "p",
          { class: "lede verdict" },
          make("b", {}, "They cannot be compared: "),
          make("bdi", {}, from.name),
          ` and ${others.map(({ name }) => name).join(", ")} have ${NOT_SHARED}.`,
        ),
      );
    else {
      wait.replaceWith(
        others.length > 1 ? summary(from, others, found) : sentence(from, others[0], found),
        forest(from, found),
      );
      draw(models);
    }
    place.classList.add("ready");
    window.triathlonStay();
    tables.replaceChildren(
      make("section", {}, make("h2", {}, "Column by column"), ...table(models)),
      ...(found.length ? alone(models) : []),
    );
    window.triathlonStay();
  };
  show();
})();
