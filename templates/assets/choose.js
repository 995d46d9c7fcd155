/* The chosen score against the chosen cost: a sentence, a figure and a table of the models that pass the filters. Who
   cannot be told from whom was computed when the site was built. */
"use strict";
(() => {
  const { make, draw: shape, setQuery, SIZES } = window.triathlon;
  const choices = window.triathlonChoices,
    place = document.getElementById("choose");
  const CONTEXTS = [
    ["8000", "8,000 tokens"],
    ["32000", "32,000 tokens"],
    ["128000", "128,000 tokens"],
    ["1000000", "1,000,000 tokens"],
  ];
  const licences = [...new Set(choices.models.map((model) => model.license).filter(Boolean))].sort();
  /* Without a value a filter lets all pass, but `usable`, which lets only usable models pass until it has one. */
  const most = (name) => (model, value) =>
    model[name] !== null && model[name] !== undefined && model[name] <= Number(value);
  const FILTERS = [
    {
      id: "usable",
      label: "Availability",
      any: "usable today",
      options: [["all", "retired models, too"]],
      passes: (model, value) => value === "all" || model.usable,
    },
    {
      id: "open",
      label: "Weights",
      options: [
        ["open", "open"],
        ["closed", "closed"],
      ],
      passes: (model, value) => model.open === value,
    },
    {
      id: "size",
      label: "Size",
      options: SIZES,
      passes: ({ size }, value) => {
        const [, , low, high] = SIZES.find(([id]) => id === value);
        return size !== null && low <= size && size < high;
      },
    },
    {
      id: "license",
      label: "Licence",
      options: licences.map((name) => [name, name]),
      passes: (model, value) => model.license === value,
    },
    {
      id: "context",
      label: "Context from",
      options: CONTEXTS,
      passes: (model, value) => model.context !== null && model.context >= Number(value),
    },
    { id: "price", label: "Output at most, $ / M", number: true, passes: most("price") },
    { id: "input", label: "Input at most, $ / M", number: true, passes: most("input") },
    { id: "memory", label: "GPU memory at most, GB (4 bits)", number: true, passes: most("memory") },
  ];

  /* ---- what was chosen, as the address has it ---- */

  const asked = new URLSearchParams(location.search);
  const known = (list, id) => list.find((entry) => entry.id === id) ?? list[0];
  const chosen = {
    score: known(choices.scores, asked.get("score")).id,
    cost: known(choices.costs, asked.get("cost")).id,
  };
  const fits = ({ number, options }, value) =>
    number ? Number(value) > 0 : options.some(([known]) => known === value);
  for (const filter of FILTERS) chosen[filter.id] = fits(filter, asked.get(filter.id)) ? asked.get(filter.id) : "";
  const remember = () => setQuery(new URLSearchParams(Object.entries(chosen).filter(([, value]) => value)).toString());

  /* ---- which models pass, which no other beats, which cannot be told from the best ---- */

  const selection = () => {
    const score = known(choices.scores, chosen.score),
      cost = known(choices.costs, chosen.cost);
    const passing = score.rows
      .map((row, i) => [choices.models[row], i])
      .filter(
        ([model]) =>
          model.ran && FILTERS.every(({ id, any, passes }) => (!chosen[id] && !any) || passes(model, chosen[id])),
      );
    const rows = passing
      .filter(([model]) => model[cost.id] !== null)
      .map(([model, i]) => ({
        i,
        model,
        cost: model[cost.id],
        paid: model.shown[cost.id],
        value: score.value[i],
        shown: score.shown[i],
        low: score.low[i],
        high: score.high[i],
      }));
    rows.sort((a, b) => a.cost - b.cost || a.i - b.i);
    for (const row of rows)
      row.on = !rows.some(
        (other) =>
          (other.value > row.value && other.cost <= row.cost) || (other.value === row.value && other.cost < row.cost),
      );
    const best = rows.reduce(
      (first, row) =>
        !first || row.value > first.value || (row.value === first.value && row.i < first.i) ? row : first,
      null,
    );
    /* A bit for each row of the score, four in a hexadecimal digit. */
    const tied = (i) => (parseInt(score.alike[best.i][i >> 2], 16) >> (3 - (i % 4))) & 1;
    for (const row of rows) row.alike = row === best || Boolean(tied(row.i));
    return { rows, cost, best, score, without: passing.length - rows.length };
  };

  /* ---- in words ---- */

  const listed = (names) =>
    names.length > choices.named + 1
      ? `${names.slice(0, choices.named).join(", ")} or ${names.length - choices.named} others`
      : names.length > 1
        ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
        : names[0];
  const words = () => {
    const label = (id) => FILTERS.find((filter) => filter.id === id).options.find(([value]) => value === chosen[id])[1];
    const after = [];
    if (chosen.size) after.push(chosen.size.endsWith("-") ? `of ${label("size")}` : label("size"));
    if (chosen.license) after.push(`under ${chosen.license}`);
    if (chosen.context) after.push(`with a context of at least ${label("context")}`);
    if (chosen.price) after.push(`at up to $${chosen.price} per million tokens of output`);
    if (chosen.input) after.push(`at up to $${chosen.input} per million tokens of input`);
    if (chosen.memory) after.push(`in ${chosen.memory} GB with 4 bits`);
    return [chosen.usable ? "" : "usable", chosen.open, "models", ...after].filter(Boolean).join(" ");
  };
  const sentence = ({ rows, cost, score, best }) => {
    if (!rows.length)
      return `Of ${words()} none has a score in ${score.short} and a known ${cost.noun}: take a filter away.`;
    if (rows.length === 1 || (rows.length < choices.fewest && !score.advised.includes(cost.id))) {
      return `Only ${rows.length > 1 ? rows.length : rows[0].model.name} of the ${words()} ${rows.length > 1 ? "have" : "has"} a score in ${score.short} and a known ${cost.noun}: too few to advise one.`;
    }
    const tied = rows.filter((row) => row.alike),
      lowest = Math.min(...tied.map((row) => row.cost));
    const cheapest = tied.filter((row) => row.cost === lowest),
      paid = `${cheapest[0].paid}${cheapest.length > 1 ? " each" : ""}`;
    const names = listed(cheapest.map((row) => row.model.name));
    const take = `Take ${names} (${paid}):`;
    const highest = `of ${rows.length} ${words()} with a known ${cost.noun} it scores highest in ${score.short}, ${best.shown},`;
    if (tied.length === 1) return `${take} ${highest} and no other comes close enough to doubt it.`;
    if (cheapest.length === 1 && cheapest[0] === best)
      return `${take} ${highest} and none of the others that tie with it (${tied.length - 1}) is ${cost.low}er.`;
    return `${take} the ${cost.low}est of the ${tied.length} ${words()} that cannot be told from the best in ${score.short}, ${best.model.name} with ${best.shown}.`;
  };

  /* ---- controls, table, figure ---- */

  const select = (name, label, options) =>
    make("select", { name, "aria-label": label }, ...options.map(([value, text]) => make("option", { value }, text)));
  const amount = (name, label) =>
    make("label", {}, `${label} `, make("input", { name, type: "number", min: "0", step: "any", placeholder: "any" }));
  const change = ({ target: { name, type, value } }) => {
    chosen[name] = type !== "number" || Number(value) > 0 ? value : "";
    show();
  };
  const controls = make(
    "div",
    { class: "controls choices-row", input: change },
    select(
      "score",
      "Score",
      choices.scores.map(({ id, title }) => [id, title]),
    ),
    make("span", { class: "muted" }, "against"),
    select(
      "cost",
      "Cost",
      choices.costs.map(({ id, title }) => [id, title]),
    ),
    ...FILTERS.map(({ id, label, number, any = "any", options }) =>
      number
        ? amount(id, label)
        : select(id, label, [
            ["", `${label}: ${any}`],
            ...options.map(([value, text]) => [value, `${label}: ${text}`]),
          ]),
    ),
  );
  for (const field of controls.querySelectorAll("[name]")) field.value = chosen[field.name];
  const answer = make("p", { class: "lede verdict", "aria-live": "polite" });
  const plot = make("div", { class: "plot-frame" });
  const caption = make("figcaption");
  const body = make("tbody"),
    head = make("tr");
  const frame = make(
    "div",
    { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Models on the frontier" },
    make("table", { class: "data narrow dense" }, make("thead", {}, head), body),
  );
  place.append(controls, answer);

  const table = ({ rows, cost }) => {
    head.replaceChildren(
      ...["On the frontier", cost.noun[0].toUpperCase() + cost.noun.slice(1), "Score"].map((name) =>
        make("th", { scope: "col" }, name),
      ),
    );
    body.replaceChildren(
      ...rows
        .filter((row) => row.on)
        .map((row) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, make("a", { href: row.model.page }, row.model.name)),
            ...[row.paid, row.shown].map((text) => make("td", { class: "number" }, text)),
          ),
        ),
    );
  };

  /* ---- the figure: a point a model, which leads to its page; shaded from the lowest that ties with the best ---- */

  /* Round numbers, which the axis of costs has; that of scores has equal steps of such a length. */
  const round = [-2, -1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power));
  const ticks = (low, high) => {
    const step = round.find((one) => (high - low) / one <= 5) ?? 5000;
    return Array.from(
      { length: Math.floor(high / step) - Math.ceil(low / step) + 1 },
      (_, i) => (Math.ceil(low / step) + i) * step,
    );
  };
  /* Where the axis of scores begins: far lower scores would press all others together. */
  const floor = ({ rows, best }) => Math.max(Math.min(...rows.map((row) => row.value)), 0.5 * (best?.value ?? 0));
  const draw = (view) => {
    const { rows, cost, best } = view;
    if (rows.length < 2) {
      plot.replaceChildren();
      return;
    }
    const width = Math.max(300, place.clientWidth || 700),
      height = width < 560 ? 300 : 420,
      left = 36,
      right = width - 12,
      top = 10,
      base = height - 40;
    const costs = rows.map((row) => row.cost).filter((value) => value > 0);
    const most = Math.max(...rows.map((row) => row.high)),
      least = floor(view);
    const cheap = Math.min(...costs) / 1.2,
      dear = Math.max(...costs) * 1.2;
    const across = (value) =>
      value === 0 ? left : left + (Math.log(value / cheap) / Math.log(dear / cheap)) * (right - left);
    const up = (value) => base - Math.max(0, Math.min(1, (value - least) / (most - least || 1))) * (base - top);
    const svg = shape("svg", {
      class: "figure prices",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": plot.dataset.label,
    });
    const lowest = Math.min(...rows.filter((row) => row.alike).map((row) => row.value));
    svg.append(
      shape("rect", { class: "band", x: left, y: top, width: right - left, height: Math.max(2, up(lowest) - top) }),
    );
    for (const value of ticks(least, most))
      svg.append(
        shape("path", { class: "grid", d: `M${left} ${up(value)}H${right}` }),
        shape(
          "text",
          { class: "tick", x: left - 6, y: up(value) + 4, "text-anchor": "end" },
          String(Number(value.toPrecision(3))),
        ),
      );
    let end = -Infinity;
    for (const value of round.filter((one) => one >= cheap && one <= dear)) {
      const text = cost.unit.replace("{}", Number(value.toPrecision(2))),
        x = Math.min(across(value), width - 3.7 * text.length);
      if (x - 4 * text.length < end) continue;
      end = x + 4 * text.length;
      svg.append(shape("text", { class: "tick", x, y: base + 16, "text-anchor": "middle" }, text));
    }
    svg.append(
      shape("text", { class: "tick", x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, cost.title),
    );
    const taken = rows.map((row) => [across(row.cost) - 5, up(row.value) - 5, across(row.cost) + 5, up(row.value) + 5]);
    const free = (box) =>
      box[0] >= left &&
      box[2] <= right &&
      box[1] >= 0 &&
      !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    const names = new Map();
    for (const row of [...rows].sort((a, b) => b.on - a.on || b.value - a.value).slice(0, width < 560 ? 10 : 30)) {
      const x = across(row.cost),
        y = up(row.value),
        long = 6.4 * row.model.name.length;
      for (const [anchor, start, line] of [
        ["start", x + 8, y + 4],
        ["end", x - 8 - long, y + 4],
        ["middle", x - long / 2, y - 9],
        ["middle", x - long / 2, y + 18],
      ]) {
        const box = [start, line - 11, start + long, line + 3];
        if (!free(box)) continue;
        taken.push(box);
        names.set(
          row,
          shape(
            "text",
            {
              class: "note",
              x: anchor === "start" ? start : anchor === "end" ? x - 8 : x,
              y: line,
              "text-anchor": anchor,
            },
            row.model.name,
          ),
        );
        break;
      }
    }
    for (const row of rows) {
      const x = across(row.cost),
        y = up(row.value),
        group = shape("g", { class: row.on ? "c0" : "other" });
      if (row.on) group.append(shape("path", { class: "ends", d: `M${x} ${up(row.low)}V${up(row.high)}` }));
      group.append(shape("circle", { cx: x, cy: y, r: row.on ? 5 : 4 }));
      const link = shape(
        "a",
        { href: row.model.page },
        shape("title", {}, `${row.model.name}, ${row.paid}: ${row.shown}`),
        group,
      );
      if (names.has(row)) link.append(names.get(row));
      else link.setAttribute("tabindex", "-1");
      svg.append(link);
    }
    plot.replaceChildren(svg);
  };
  let view = null;
  let drawn = 0;
  new ResizeObserver(() => {
    if (view && drawn !== place.clientWidth) draw(view);
    drawn = place.clientWidth;
  }).observe(place);

  const show = () => {
    remember();
    view = selection();
    answer.textContent = sentence(view);
    if (!plot.isConnected)
      place.append(make("figure", {}, plot, caption), frame); /* now that nothing above it moves it any more */
    plot.dataset.label = `${view.score.title} against ${view.cost.title}; the table below has the models of the frontier`;
    const lower = view.rows.some((row) => row.value < floor(view)) ? "On the lower edge: scores below it. " : "";
    const free = view.rows.some((row) => row.cost === 0) ? "On the left edge: models that cost nothing. " : "";
    const about =
      view.rows.length > 1
        ? `Upwards: ${view.score.title}. Shaded: ties with the best. Blue: no other is as ${view.cost.low} and as good. ${lower}${free}`
        : "";
    caption.textContent = `${about}${view.without ? `${view.without} without a known ${view.cost.noun} ${view.without === 1 ? "is" : "are"} left out. ` : ""}${view.score.origin}`;
    table(view);
    draw(view);
    place.dataset.shown = `${chosen.score} ${chosen.cost}`;
  };
  show();
})();
