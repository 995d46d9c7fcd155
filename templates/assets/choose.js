/* The chosen score against the chosen cost: a sentence, a figure and a table of the models that pass the filters. Who
   cannot be told from whom was computed when the site was built. */
"use strict";
(() => {
  const { html, make, setQuery, SIZES, sizesOf } = window.triathlon;
  const choices = window.triathlonChoices;
  const known = (list, id) => list.find((entry) => entry.id === id) ?? list[0];

  /* By filter whether a model passes. Without a value all do, but of `usable` usable models alone. */
  const most = (name) => (model, value) => model[name] !== null && model[name] <= Number(value);
  const PASSES = {
    usable: (model, value) => value === "all" || model.usable,
    open: (model, value) => model.open === value,
    size: ({ size }, value) => size !== null && sizesOf(size).some(([id]) => id === value),
    license: (model, value) => model.license === value,
    context: (model, value) => model.context !== null && model.context >= Number(value),
    price: most("price"),
    input: most("input"),
    memory: most("memory"),
  };
  const passes = (model, chosen) =>
    model.ran &&
    Object.entries(PASSES).every(([id, fits]) => (!chosen[id] && id !== "usable") || fits(model, chosen[id]));

  /* The models that pass, the lowest cost first; which of them no other beats (`on`), which tie with the best (`alike`).
   */
  const selection = (chosen) => {
    const score = known(choices.scores, chosen.score),
      cost = known(choices.costs, chosen.cost);
    const { value, shown, low, high } = score;
    const passing = score.rows
      .map((place, i) => ({ i, model: choices.models[place] }))
      .filter(({ model }) => passes(model, chosen));
    const rows = passing
      .filter(({ model }) => model[cost.id] !== null)
      .map(({ i, model }) => ({ i, model, value: value[i], shown: shown[i], low: low[i], high: high[i] }))
      .map((row) => ({ ...row, cost: row.model[cost.id], paid: row.model.shown[cost.id] }))
      .sort((a, b) => a.cost - b.cost || a.i - b.i);
    const best = rows.toSorted((a, b) => b.value - a.value || a.i - b.i)[0];
    /* A bit for each row of the score, four in a hexadecimal digit. */
    const tied = (i) => (parseInt(score.alike[best.i][i >> 2], 16) >> (3 - (i % 4))) & 1;
    for (const row of rows) {
      row.on = !rows.some(
        (other) =>
          (other.value > row.value && other.cost <= row.cost) || (other.value === row.value && other.cost < row.cost),
      );
      row.alike = row === best || Boolean(tied(row.i));
    }
    return { rows, cost, best, score, without: passing.length - rows.length };
  };

  /* ---- in words ---- */

  const listed = (names) => {
    const left = names.length - choices.named;
    if (left > 1) return `${names.slice(0, choices.named).join(", ")} or ${left} others`;
    return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names[0];
  };
  const tokens = (count) => `${Number(count).toLocaleString("en")} tokens`;
  /* What was asked for: `usable open models under 10 B`. */
  const words = ({ usable, open, size, license, context, price, input, memory }) => {
    const ofSize = SIZES.find(([id]) => id === size)?.[1];
    const parts = [
      usable ? "" : "usable",
      open,
      "models",
      size && (size.endsWith("-") ? `of ${ofSize}` : ofSize),
      license && `under ${license}`,
      context && `with a context of at least ${tokens(context)}`,
      price && `at up to $${price} per million tokens of output`,
      input && `at up to $${input} per million tokens of input`,
      memory && `in ${memory} GB with 4 bits`,
    ];
    return parts.filter(Boolean).join(" ");
  };
  const sentence = ({ rows, cost, score, best }, chosen) => {
    const asked = words(chosen),
      having = `a score in ${score.short} and a known ${cost.noun}`;
    if (!rows.length) return `Of ${asked} none has ${having}: take a filter away, or choose another score or cost.`;
    if (rows.length === 1 || (rows.length < choices.fewest && !score.advised.includes(cost.id))) {
      const who = rows.length > 1 ? rows.length : rows[0].model.name;
      return `Only ${who} of the ${asked} ${rows.length > 1 ? "have" : "has"} ${having}: too few to advise one.`;
    }
    const tied = rows.filter((row) => row.alike),
      cheapest = tied.filter((row) => row.cost === tied[0].cost);
    const names = listed(cheapest.map((row) => row.model.name));
    const take = `Take ${names} (${cheapest[0].paid}${cheapest.length > 1 ? " each" : ""}):`;
    const withCost = `${asked} with a known ${cost.noun}`;
    const highest = `of ${rows.length} ${withCost} it scores highest in ${score.short}, ${best.shown},`;
    if (tied.length === 1) return `${take} ${highest} and no other comes close enough to doubt it.`;
    if (cheapest.length === 1 && cheapest[0] === best)
      return `${take} ${highest} and none of the others that tie with it (${tied.length - 1}) is ${cost.low}er.`;
    const top = `the best in ${score.short}, ${best.model.name} with ${best.shown}`;
    return `${take} the ${cost.low}est of the ${tied.length} ${asked} that cannot be told from ${top}.`;
  };

  /* Where the axis of scores begins: far lower scores would press all others together. */
  const floor = ({ rows, best }) => Math.max(Math.min(...rows.map((row) => row.value)), 0.5 * (best?.value ?? 0));
  const caption = (view) => {
    const { rows, cost, score, without } = view;
    const about = [
      `Upwards: ${score.title}. Shaded: ties with the best. Blue: no other is as ${cost.low} and as good.`,
      rows.some((row) => row.value < floor(view)) && "On the lower edge: scores below it.",
      rows.some((row) => row.cost === 0) && "On the left edge: models that cost nothing.",
    ];
    const left = `${without} without a known ${cost.noun} ${without === 1 ? "is" : "are"} left out.`;
    return [...(rows.length > 1 ? about : []), without && left, score.origin].filter(Boolean).join(" ");
  };

  /* ---- the figure: a point a model, which leads to its page; shaded from the lowest that ties with the best ---- */

  /* Round numbers, which the axis of costs has; that of scores has equal steps of such a length. */
  const ROUND = Array.from({ length: 14 }, (_, i) => [1, 2, 5].map((one) => Number(`${one}e${i - 6}`))).flat();
  const ticks = (low, high) => {
    const step = ROUND.find((one) => (high - low) / one <= 5),
      first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
  };
  /* Where names have room beside their points, the best of the frontier first: of each its row, place and anchor. */
  const placed = (rows, across, up, { left, right, most }) => {
    const taken = rows.map((row) => [across(row.cost) - 5, up(row.value) - 5, across(row.cost) + 5, up(row.value) + 5]);
    const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
    const first = rows.toSorted((a, b) => b.on - a.on || b.value - a.value).slice(0, most);
    return first.flatMap((row) => {
      const x = across(row.cost),
        y = up(row.value),
        long = 7 * row.model.name.length;
      const ways = [
        { anchor: "start", x: x + 8, start: x + 8, y: y + 4 },
        { anchor: "end", x: x - 8, start: x - 8 - long, y: y + 4 },
        { anchor: "middle", x, start: x - long / 2, y: y - 9 },
        { anchor: "middle", x, start: x - long / 2, y: y + 18 },
      ];
      const box = ({ start, y }) => [start, y - 11, start + long, y + 3];
      const isFree = (way) =>
        way.start >= left && way.start + long <= right && way.y >= 11 && !taken.some((other) => meet(box(way), other));
      const way = ways.find(isFree);
      if (way) taken.push(box(way));
      return way ? [{ row, ...way }] : [];
    });
  };
  const figure = (view, width, label) => {
    const { rows, cost } = view;
    const height = width < 560 ? 300 : 420,
      [left, right, top, base] = [36, width - 12, 10, height - 40];
    const costs = rows.map((row) => row.cost).filter((value) => value > 0);
    const ends = costs.length ? [Math.min(...costs), Math.max(...costs)] : [];
    const [cheap, dear] = [ends[0] / 1.2, ends[1] * 1.2];
    const round = ROUND.filter((one) => one >= cheap && one <= dear);
    const most = Math.max(...rows.map((row) => row.high)),
      least = floor(view);
    const share = (value) => Math.max(0, Math.min(1, (value - least) / (most - least || 1)));
    const across = (value) =>
      value === 0 ? left : left + (Math.log(value / cheap) / Math.log(dear / cheap)) * (right - left);
    const up = (value) => base - share(value) * (base - top);
    const level = (value) => html`<path class="grid" d="M${left} ${up(value)}H${right}"></path>
      <text class="tick" x="${left - 6}" y="${up(value) + 4}" text-anchor="end">${Number(value.toPrecision(3))}</text>`;
    let end = -Infinity;
    const number = (value) => {
      const text = cost.unit.replace("{}", Number(value.toPrecision(2))),
        x = Math.min(across(value), width - 3.7 * text.length);
      if (x - 4 * text.length < end) return "";
      end = x + 4 * text.length;
      return html`<text class="tick" x="${x}" y="${base + 16}" text-anchor="middle">${text}</text>`;
    };
    const names = placed(rows, across, up, { left, right, most: width < 560 ? 10 : 30 });
    const point = (row) => {
      const x = across(row.cost),
        name = names.find((one) => one.row === row);
      const ends = html`<path class="ends" d="M${x} ${up(row.low)}V${up(row.high)}"></path>`;
      const label = ({ x, y, anchor }) =>
        html`<text class="note" x="${x}" y="${y}" text-anchor="${anchor}">${row.model.name}</text>`;
      return html`<a href="${row.model.page}" ${name ? "" : html`tabindex="-1"`}>
        <title>${row.model.name}, ${row.paid}: ${row.shown}</title><g class="${row.on ? "c0" : "other"}">
        ${row.on ? ends : ""}<circle cx="${x}" cy="${up(row.value)}" r="${row.on ? 5 : 4}"></circle></g>
        ${name ? label(name) : ""}</a>`;
    };
    const lowest = Math.min(...rows.filter((row) => row.alike).map((row) => row.value));
    return html`<svg class="figure prices" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
      role="group" aria-label="${label}"><rect class="band" x="${left}" y="${top}" width="${right - left}"
      height="${Math.max(2, up(lowest) - top)}"></rect>
      ${ticks(least, most).map(level)}${(round.length > 1 ? round : ends).map(number)}
      <text class="tick" x="${(left + right) / 2}" y="${height - 6}" text-anchor="middle">${cost.title}</text>
      ${rows.map(point)}</svg>`;
  };
  const table = ({
    rows,
    cost,
  }) => html`<table class="data narrow dense"><thead><tr><th scope="col">On the frontier</th>
    <th scope="col">${cost.head}</th><th scope="col">Score</th></tr></thead><tbody>
    ${rows
      .filter((row) => row.on)
      .map(
        ({ model, paid, shown }) => html`<tr><th scope="row"><a href="${model.page}">${model.name}</a></th>
          <td class="number">${paid}</td><td class="number">${shown}</td></tr>`,
      )}</tbody></table>`;

  window.triathlon.choose = { selection, sentence, caption, ticks, figure, table };
  if (!window.document) return;

  const place = document.getElementById("choose");
  const LICENCES = [...new Set(choices.models.map((model) => model.license).filter(Boolean))].sort();
  const itself = (values) => values.map((value) => [value, value]);
  /* Fields by name, each with its label, its options, what it says without a value; one without options is a number. */
  const FIELDS = [
    ["usable", "Availability", [["all", "retired models, too"]], "usable today"],
    ["open", "Weights", itself(["open", "closed"])],
    ["size", "Size", SIZES],
    ["license", "Licence", itself(LICENCES)],
    ["context", "Context from", ["8000", "32000", "128000", "1000000"].map((count) => [count, tokens(count)])],
    ["price", "Output at most, $ / M"],
    ["input", "Input at most, $ / M"],
    ["memory", "GPU memory at most, GB (4 bits)"],
  ];

  /* ---- what was chosen, as the address has it ---- */

  const asked = new URLSearchParams(location.search);
  const chosen = {
    score: known(choices.scores, asked.get("score")).id,
    cost: known(choices.costs, asked.get("cost")).id,
  };
  const checked = (value, options) =>
    (options ? options.some(([known]) => known === value) : Number(value) > 0) ? value : "";
  for (const [name, , options] of FIELDS) chosen[name] = checked(asked.get(name), options);

  const select = (name, label, options) => html`<select name="${name}" aria-label="${label}">
    ${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>`;
  const titles = (list) => list.map(({ id, title }) => [id, title]);
  const field = ([name, label, options, any = "any"]) => {
    if (options)
      return select(
        name,
        label,
        [["", any], ...options].map(([value, text]) => [value, `${label}: ${text}`]),
      );
    return html`<label>${label} <input name="${name}" type="number" min="0" step="any" placeholder="any"></label>`;
  };
  const input = ({ target: { name, type, value } }) => {
    chosen[name] = type === "number" ? checked(value) : value;
    show();
  };
  const controls = make(
    html`<div class="controls choices-row">${select("score", "Score", titles(choices.scores))}
      <span class="muted">against</span>${select("cost", "Cost", titles(choices.costs))}${FIELDS.map(field)}</div>`,
    { input },
  );
  for (const element of controls.querySelectorAll("[name]")) element.value = chosen[element.name];
  const answer = make(html`<p class="lede verdict" aria-live="polite"></p>`);
  const shown = make(html`<figure><div class="plot-frame"></div><figcaption></figcaption></figure>`);
  const [plot, below] = shown.children;
  const frame = make(
    html`<div class="table-frame" tabindex="0" role="region" aria-label="Models on the frontier"></div>`,
  );
  place.append(controls, answer);

  let view = null,
    drawn = 0;
  const draw = () => {
    const label = `${view.score.title} against ${view.cost.title}; the table below has the models of the frontier`;
    plot.innerHTML = view.rows.length > 1 ? figure(view, Math.max(300, place.clientWidth || 700), label) : "";
  };
  new ResizeObserver(() => {
    if (view && drawn !== place.clientWidth) draw();
    drawn = place.clientWidth;
  }).observe(place);
  const show = () => {
    setQuery(Object.entries(chosen));
    view = selection(chosen);
    answer.textContent = sentence(view, chosen);
    if (!shown.isConnected) place.append(shown, frame); /* now that nothing above it moves it any more */
    below.textContent = caption(view);
    frame.innerHTML = table(view);
    frame.hidden = !view.rows.length;
    draw();
    place.dataset.shown = `${chosen.score} ${chosen.cost}`;
  };
  show();
})();
