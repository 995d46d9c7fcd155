/* Tables that sort, search and filter. Without this file they are complete, in the order of their ranks. */
"use strict";
(() => {
  const FILTERS = [
    ["has", "Results in"], ["org", "Organisation"], ["license", "Licence"], ["open", "Weights"], ["kind", "Kind"],
    ["size", "Size"], ["year", "Released"], ["grade", "Evidence"], ["run", "Run in"],
  ];
  const SEVERAL = "two disciplines or more";
  /* What a row offers under a filter: several words, a month of a day, or the value itself. */
  const offers = (name, value) => {
    if (name !== "has" && name !== "grade") return [name === "run" ? value.slice(0, 7) : value];
    const words = value.split(" ").filter(Boolean);
    return name === "has" && words.length > 1 ? [...words, SEVERAL] : words;
  };
  const SIZES = [["under 1 B", 0, 1], ["under 10 B", 0, 10], ["under 50 B", 0, 50], ["50 B and more", 50, Infinity]];
  /* Of a table longer than LONG the FIRST rows are in the page, unless it says `data-whole`: laying out a thousand rows of
     many lines takes longer than anybody waits. */
  const LONG = 200, FIRST = 40;
  /* Ties of an order are left as the orders before it had them: so many stand in the address. */
  const ORDERS = 3;
  const slug = (text) => text.trim().toLowerCase().replace(/[^a-z0-9@+]+/g, "-").replace(/^-|-$/g, "");

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  /* What a cell without a value of its own says: its text, or the first number of it. */
  const plain = (cell, numeric) => {
    const text = (cell.firstChild?.textContent ?? "").trim();
    return numeric ? (/^[+−]?[\d,]*\.?\d+/.exec(text)?.[0] ?? "").replace("−", "-").replaceAll(",", "") : text;
  };

  /* Opens over the table; Escape and a press elsewhere close it. */
  const chooser = (name, content) => {
    const summary = make("summary", {}, name), details = make("details", { class: "chooser" }, summary, content);
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      details.open = false;
      summary.focus();
    });
    document.addEventListener("pointerdown", (event) => { if (!details.contains(event.target)) details.open = false; });
    return details;
  };

  /* The address carries the state of the page's first table, so that a view can be sent to somebody. */
  const state = new URLSearchParams(location.search);
  const remember = (name, value) => {
    if (value) state.set(name, value); else state.delete(name);
    const query = state.toString();
    try {
      history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
    } catch { /* a page from a file may not: the view stays, its address does not */ }
  };

  class Board {
    constructor(table, keeps) {
      this.table = table;
      this.keeps = keeps;
      this.body = table.tBodies[0];
      this.rest = table.tBodies[1]; /* the rows that a switch above the table shows */
      this.before = this.body.rows.length;
      this.heads = [...table.tHead.rows[0].cells];
      this.numeric = this.heads.map((head) => head.dataset.type === "number");
      this.rows = [...this.body.rows, ...this.rest?.rows ?? []].map((row, index) => ({
        row, index, keys: null, text: null, rank: row.querySelector("td.rank"), shown: true,
        top: "ofAll" in row.dataset, /* a mean stands above the models that it is of, whatever the order */
      }));
      this.order = this.rows;
      this.orders = [];
      this.limit = this.rows.length > LONG && !("whole" in table.dataset) && !this.rows.slice(FIRST).some(({ row }) => row.id && `#${row.id}` === location.hash) ? FIRST : Infinity;
      this.filters = new Map();
      this.words = [];
      this.status = null;
      this.heads.forEach((head, column) => this.addSorting(head, column));
      this.prepare();
    }

    /* What sorting and searching need of each row is read while nothing else is to do, some rows at a time. */
    prepare(from = 0) {
      if (!window.requestIdleCallback || from >= this.rows.length) return;
      window.requestIdleCallback((idle) => {
        let next = from;
        while (next < this.rows.length && (idle.timeRemaining() > 2 || next === from)) {
          this.keysOf(this.rows[next]);
          this.textOf(this.rows[next]);
          next += 1;
        }
        this.prepare(next);
      });
    }

    textOf(item) {
      const { org = "", license = "", open = "", kind = "" } = item.row.dataset;
      item.text ??= [item.row.querySelector("th").textContent, org, license, open, kind].join(" ").toLowerCase();
      return item.text;
    }

    keysOf(item) {
      item.keys ??= [...item.row.cells].map((cell, column) => {
        const value = cell.dataset.v ?? plain(cell, this.numeric[column]);
        if (value === "") return null;
        if (!this.numeric[column]) return value.toLowerCase();
        return Number.isNaN(Number(value)) ? null : Number(value);
      });
      return item.keys;
    }

    addSorting(head, column) {
      if (!head.dataset.type) return;
      const key = slug(head.textContent), same = this.heads.filter((other) => other.dataset.key?.replace(/~\d+$/, "") === key).length;
      head.dataset.key = same ? `${key}~${same + 1}` : key;
      const button = make("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        /* Best first: high scores, low ranks, prices and drops, names from A. */
        const first = this.numeric[column] && !/^(rank|tier|size|open.*|price.*|cost.*|drop.*|output.*|reasoning.*|cut.*)$/.test(head.dataset.key) ? "descending" : "ascending";
        this.sort(column, now ? (now === "ascending" ? "descending" : "ascending") : first);
      });
    }

    sort(column, direction) {
      const sign = direction === "ascending" ? 1 : -1;
      this.orders = [[column, sign], ...this.orders.filter(([other]) => other !== column)].slice(0, ORDERS);
      this.order = [...this.rows].sort((a, b) => {
        if (a.top !== b.top) return a.top ? -1 : 1;
        const first = this.keysOf(a), second = this.keysOf(b);
        for (const [key, sense] of this.orders) {
          const x = first[key], y = second[key];
          if (x === y) continue;
          if (x === null) return 1; /* a missing value is last, whichever way */
          if (y === null) return -1;
          return (x < y ? -1 : 1) * sense;
        }
        return a.index - b.index;
      });
      this.place();
      this.heads.forEach((head, index) => {
        if (index === column) head.setAttribute("aria-sort", direction); else head.removeAttribute("aria-sort");
      });
      if (this.keeps) remember("sort", this.orders.map(([key, sense]) => (sense < 0 ? "-" : "") + this.heads[key].dataset.key).join("."));
    }

    /* The rows that fit, in their order, as many as there is room for. */
    place() {
      const fitting = this.order.filter((item) => item.shown);
      const placed = fitting.slice(0, this.limit).map((item) => item.row);
      const now = this.body.rows;
      if (this.rest) {
        this.body.replaceChildren(...placed.slice(0, this.before));
        this.rest.replaceChildren(...placed.slice(this.before));
      } else if (placed.length !== now.length || placed.some((row, place) => row !== now[place])) this.body.replaceChildren(...placed);
      if (!this.more) return;
      this.more.hidden = fitting.length <= this.limit;
      this.more.textContent = `The first ${this.limit} of ${fitting.length} are shown: show all`;
    }

    addMore() {
      if (this.limit === Infinity) return;
      this.more = make("button", { type: "button", class: "more" });
      const all = () => { this.limit = Infinity; this.more.hidden = true; this.place(); };
      this.more.addEventListener("click", all);
      window.addEventListener("beforeprint", all);
      this.table.parentElement.after(this.more);
    }

    /* ---- search and filters ---- */

    addControls() {
      this.noun = this.table.dataset.noun ?? "models";
      const find = `Find a ${this.noun.slice(0, -1)}`;
      const search = make("input", { type: "search", placeholder: find, "aria-label": find });
      search.value = state.get("q") ?? "";
      search.addEventListener("input", () => {
        this.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        remember("q", search.value.trim());
        this.apply();
      });
      this.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.status = make("output", { class: "status", "aria-live": "polite" });
      const controls = make("div", { class: "controls" }, search, ...this.folded(this.selects()), this.columnChooser(), ...this.rowHeight(), this.status);
      this.table.parentElement.before(controls);
      this.table.parentElement.classList.add("ready");
      this.addMore();
      this.restore();
      this.apply();
    }

    selects() {
      return FILTERS.flatMap(([name, label]) => {
        const choices = this.choices(name);
        if (choices.length < 2) return [];
        const select = make("select", { "aria-label": label }, make("option", { value: "" }, `${label}: all`));
        for (const choice of choices) select.append(make("option", { value: choice }, choice));
        select.value = choices.includes(state.get(name)) ? state.get(name) : "";
        if (select.value) this.filters.set(name, select.value);
        select.addEventListener("change", () => {
          if (select.value) this.filters.set(name, select.value); else this.filters.delete(name);
          remember(name, select.value);
          this.apply();
        });
        return [select];
      });
    }

    /* On a phone the filters are one button until one of them is at work. */
    folded(selects) {
      if (!matchMedia("(max-width: 46rem)").matches || this.filters.size || selects.length < 2) return selects;
      return [chooser("Filters", make("div", { class: "choices" }, ...selects))];
    }

    choices(name) {
      const values = this.rows.map(({ row }) => row.dataset[name]).filter(Boolean);
      if (name !== "size") return [...new Set(values.flatMap((value) => offers(name, value)))].sort((a, b) => a.localeCompare(b));
      return SIZES.filter(([, low, high]) => values.some((v) => low <= v && v < high)).map(([label]) => label);
    }

    fits(item) {
      for (const [name, wanted] of this.filters) {
        const value = item.row.dataset[name];
        if (name === "size") {
          const [, low, high] = SIZES.find(([label]) => label === wanted);
          if (!value || !(low <= value && value < high)) return false;
        } else if (!value || !offers(name, value).includes(wanted)) return false;
      }
      if (!this.words.length) return true;
      const text = this.textOf(item);
      return this.words.every((word) => text.includes(word));
    }

    apply() {
      let shown = 0;
      for (const item of this.rows) {
        item.shown = this.fits(item);
        shown += item.shown;
      }
      this.place();
      this.rerank();
      if (!this.status) return;
      const part = shown < this.rows.length;
      this.status.textContent = part
        ? `${shown} of ${this.rows.length} ${this.noun}${this.rows[0]?.rank ? `; ranks count these ${shown}` : ""}`
        : `${shown} ${shown === 1 ? this.noun.slice(0, -1) : this.noun}`;
      this.sayRanks(part ? `of these ${shown}` : "");
    }

    /* The head of the ranks says what they count, where that is not the whole board. */
    sayRanks(text) {
      if (!this.rows[0]?.rank) return;
      const button = this.heads[0].querySelector("button");
      let note = button.querySelector("small");
      if (!note) { if (!text) return; note = make("small"); button.append(note); }
      note.textContent = text;
    }

    /* Ranks among the rows shown: higher places and ties as on the whole board. */
    rerank() {
      const part = this.rows.some((item) => !item.shown);
      const all = this.rows.filter((item) => item.shown && item.rank && this.placeOf(item) !== null);
      all.sort((a, b) => this.placeOf(a) - this.placeOf(b));
      const ranked = all.filter((item) => !this.isBeside(item));
      ranked.forEach((item, position) => {
        const before = ranked[position - 1];
        item.place = before && this.placeOf(before) === this.placeOf(item) ? before.place : position + 1;
      });
      this.rankBeside(all.filter((item) => this.isBeside(item)), ranked);
      const counts = new Map();
      for (const item of ranked) counts.set(item.place, (counts.get(item.place) ?? 0) + 1);
      for (const item of this.rows) {
        item.bold ??= item.rank?.querySelector("b") ?? false;
        if (!item.bold || !item.shown) continue;
        item.small ??= item.rank.querySelector("small") ?? false;
        item.label ??= item.bold.textContent;
        item.rankText ??= item.label;
        const place = this.isBeside(item) ? `(${item.place})` : (counts.get(item.place) > 1 ? "=" : "") + item.place;
        const now = this.placeOf(item) === null ? "–" : place;  // without a mean by the visitor's weights
        const text = part || this.weighted ? now : item.label;
        if (item.rankText !== text) { item.bold.textContent = text; item.rankText = text; }
        const hidden = part || Boolean(this.weighted);
        if (item.small && item.small.hidden !== hidden) item.small.hidden = hidden;
      }
    }

    /* Rows of reported figures move no other's rank; where they are alone, they count each other. */
    isBeside(item) { return "beside" in item.rank.dataset; }

    rankBeside(beside, ranked) {
      beside.forEach((item, position) => {
        const above = ranked.filter((other) => this.placeOf(other) < this.placeOf(item)).length;
        item.place = 1 + (ranked.length ? above : position);
      });
    }

    placeOf(item) {
      if (this.weighted) return this.weighted.has(item) ? -this.weighted.get(item) : null;
      item.ranked ??= item.rank.dataset.v === "" ? NaN : Number(item.rank.dataset.v);
      return Number.isNaN(item.ranked) ? null : item.ranked;
    }

    /* ---- columns ---- */

    columnChooser() {
      const hasRoom = window.matchMedia("(min-width: 94rem)").matches; /* as in site.css */
      const isOff = ({ classList }) => classList.contains("off") && !(hasRoom && classList.contains("wide"));
      const read = (name) => new Set((state.get(name) ?? "").split(".").filter(Boolean));
      const hide = read("hide"), show = read("show");
      const list = make("div", { class: "choices" });
      const named = 1 + this.heads.findIndex((head) => head.dataset.type === "text"); /* rank and name stay */
      this.heads.forEach((head, column) => {
        const key = head.dataset.key;
        if (column < named || !key) return;
        const optional = isOff(head); /* such a column is not there until it is asked for */
        const box = make("input", { type: "checkbox" });
        box.checked = optional ? show.has(key) : !hide.has(key);
        this.showColumn(column, box.checked);
        box.addEventListener("change", () => {
          this.showColumn(column, box.checked);
          const changed = optional ? show : hide;
          if (box.checked === optional) changed.add(key); else changed.delete(key);
          remember(optional ? "show" : "hide", [...changed].join("."));
        });
        const name = [...head.querySelector("button").childNodes].map((node) => node.textContent).join(" ");
        list.append(make("label", {}, box, ` ${name}`));
      });
      return chooser("Columns", list);
    }

    showColumn(column, visible) {
      const head = this.heads[column];
      if (visible === !(head.hidden || head.classList.contains("off"))) return;
      for (const cell of [head, ...this.rows.map(({ row }) => row.cells[column])]) {
        cell.hidden = !visible;
        cell.classList.toggle("off", !visible);
      }
    }

    /* One line a row, or all that is known of each score below it. */
    rowHeight() {
      if (!this.table.classList.contains("compact")) return [];
      const button = make("button", { type: "button" }, "Details");
      const turn = (open) => {
        this.table.classList.toggle("compact", !open);
        button.setAttribute("aria-pressed", String(open));
        remember("rows", open ? "details" : "");
      };
      turn(state.get("rows") === "details");
      button.addEventListener("click", () => turn(this.table.classList.contains("compact")));
      return [button];
    }

    restore() {
      for (const order of (state.get("sort") ?? "").split(".").slice(0, ORDERS).reverse()) {
        const column = this.heads.findIndex((head) => head.dataset.key === order.replace(/^-/, ""));
        if (column >= 0) this.sort(column, order.startsWith("-") ? "descending" : "ascending");
      }
    }

    /* ---- the visitor's own weights of the disciplines ---- */

    addWeights(place) {
      const names = place.dataset.weights.split(" ");
      const stated = (state.get("w") ?? "").split(".").map(Number);
      const inputs = names.map((name, index) => {
        const start = stated.length === names.length && stated[index] >= 0 ? stated[index] : 50;
        return make("input", { type: "range", min: "0", max: "100", step: "5", value: String(start), "aria-label": `Weight of ${name}` });
      });
      const note = make("output", { class: "status", "aria-live": "polite" });
      const start = place.dataset.unweighted;
      const reset = make("button", { type: "button" }, start ? "Back to the index" : "Equal weights");
      const update = (restored = false) => {
        const weights = inputs.map((input) => Number(input.value));
        const equal = weights.every((weight) => weight === weights[0]);
        remember("w", equal ? "" : weights.join("."));
        if (!equal) this.weigh(weights, restored); else if (this.weighted) this.unweigh();
        const total = weights.reduce((a, b) => a + b, 0);
        note.textContent = equal
          ? start ?? "All disciplines weigh the same."
          : `${names.map((n, i) => `${n} ${Math.round((100 * weights[i]) / total)} %`).join(", ")}. Intervals of ranks are not for these weights and are not shown.`;
        reset.hidden = equal;
      };
      inputs.forEach((input) => input.addEventListener("input", () => update()));
      reset.addEventListener("click", () => { inputs.forEach((input) => { input.value = "50"; }); update(); });
      place.append(
        make("span", { class: "muted" }, "Your own weights"),
        ...names.map((name, index) => make("label", { class: `discipline ${name}` }, `${name} `, inputs[index])),
        reset, note,
      );
      place.hidden = false;
      update(true);
    }

    /* The mean of the percentiles in the disciplines that weigh something, for rows that have all of these. */
    weigh(weights, restored) {
      const total = weights.reduce((a, b) => a + b, 0);
      const column = this.weightedColumn();
      this.weighted = new Map();
      for (const item of this.rows) {
        const parts = (item.row.dataset.p ?? "").split(" ");
        const known = weights.every((weight, i) => !weight || parts[i]);
        const mean = known ? weights.reduce((sum, weight, i) => sum + (weight && weight * Number(parts[i])), 0) / total : null;
        if (known) this.weighted.set(item, Math.round(mean * 1e6) / 1e6);
        const cell = item.row.cells[column];
        item.unweighted ??= { value: cell.dataset.v, nodes: [...cell.childNodes] };
        cell.dataset.v = known ? String(mean) : "";
        cell.replaceChildren(known ? mean.toFixed(1) : "–");
        item.keys = null;
      }
      this.sayWeighted(column, this.heads[column].dataset.weighted);
      this.rerank();
      if (restored && this.orders.length) this.sort(this.orders[0][0], this.orders[0][1] < 0 ? "descending" : "ascending");
      else this.sort(column, "descending");
    }

    unweigh() {
      const column = this.weightedColumn();
      for (const item of this.rows) {
        const cell = item.row.cells[column];
        cell.dataset.v = item.unweighted.value;
        cell.replaceChildren(...item.unweighted.nodes);
        item.keys = null;
      }
      this.weighted = null;
      this.sayWeighted(column, "");
      this.rerank();
      this.sort(column, "descending");
    }

    weightedColumn() { return this.heads.findIndex((head) => "weighted" in head.dataset); }

    /* What the column is called while it shows the visitor's own order. */
    sayWeighted(column, text) {
      const name = this.heads[column].querySelector("button").firstChild;
      this.unweightedName ??= name.textContent;
      name.textContent = text || this.unweightedName;
      /* Only the front page's caption says what the order is. */
      const order = document.querySelector("#all-caption span");
      if (order) order.textContent = text ? "All models, by your weights" : "All models, by the index over all columns";
    }
  }

  /* A table that fits its frame needs no scrolling of its own: its head then sticks to the window. */
  const fitting = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const frame = target.parentElement;
      frame.classList.toggle("fits", target.offsetWidth <= frame.clientWidth);
    }
    window.triathlonStay();
  });

  let first = true;
  for (const table of document.querySelectorAll("table[data-table]")) {
    const board = new Board(table, first);
    if (table.classList.contains("board")) fitting.observe(table);
    if (first && "filter" in table.dataset) {
      board.addControls();
      const weights = document.querySelector("[data-weights]");
      if (weights) board.addWeights(weights);
    }
    first = false;
  }
})();
