/* Tables that sort, search and filter. Without this file they are in the order of their ranks, and complete but for long
   ones and for the optional columns of the table of all models. */
"use strict";
(() => {
  const { html, make, setQuery, bare, SIZES, sizesOf } = window.triathlon;
  const FILTERS = {
    has: "Results in",
    org: "Organisation",
    license: "Licence",
    open: "Weights",
    kind: "Kind",
    size: "Size",
    year: "Released",
    grade: "Evidence",
    run: "Run in",
    usable: "Availability",
    price: "Price out, $/M, at most",
  };
  /* Filters of one press: name, value, text. */
  const QUICK = [
    ["usable", "usable", "usable today"],
    ["open", "open", "open weights"],
    ["size", "under 10 B", "under 10 B"],
  ];

  /* ---- rows: each has `facts` to filter by and a `text` to find it by; of all models (`top`) is a mean ---- */

  const words = (value) => value.split(" ").filter(Boolean);
  /* What a row offers under a filter, where that is not its value alone. */
  const OFFERS = {
    has: words,
    grade: words,
    run: (day) => [day.slice(0, 7)],
    size: (billions) => sizesOf(billions).map(([, label]) => label),
  };
  const offers = (name, value) => (value ? (OFFERS[name]?.(value) ?? [value]) : []);
  /* All that rows offer under a filter. */
  const choices = (rows, name) => {
    const offered = new Set(rows.flatMap(({ facts }) => offers(name, facts[name])));
    if (name === "size") return SIZES.map(([, label]) => label).filter((label) => offered.has(label));
    /* Not by localeCompare: its tables alone take a phone 50 ms to load. */
    return [...offered].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  };
  /* `filters`: the value that is wanted, by name; `wanted`: what is looked for. */
  const fits = (row, filters, wanted) => {
    for (const [name, value] of filters) {
      const offered = offers(name, row.facts[name]);
      if (!(name === "price" ? Number(offered[0]) <= Number(value) : offered.includes(value))) return false;
    }
    const looked = wanted.split(/\s+/).map(bare).filter(Boolean);
    return looked.every((word) => row.text.includes(word));
  };

  /* `value`: what a cell sorts by, its `data-v`; without one, in a column of texts, its text. */
  const keyOf = (value, numeric) => {
    if (value === "") return null;
    if (!numeric) return value.toLowerCase();
    return Number.isNaN(Number(value)) ? null : Number(value);
  };
  /* Ties stay in their order; a missing key is last, a mean above the models that it is of, whichever way. */
  const sorted = (rows, keyOf, direction) => {
    const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
    keyed.sort((a, b) => {
      if (a.row.top !== b.row.top) return a.row.top ? -1 : 1;
      if (a.key === b.key) return 0;
      if (a.key === null || b.key === null) return a.key === null ? 1 : -1;
      return a.key < b.key === (direction === "ascending") ? -1 : 1;
    });
    return keyed.map(({ row }) => row);
  };

  /* Names of columns in an address: `output-tokens`; a second one of that name is `output-tokens~2`. */
  const keysOf = (titles) => {
    const slugs = titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^a-z0-9@+]+/g, "-")
        .replace(/^-|-$/g, ""),
    );
    return slugs.map((slug, place) => {
      const before = slugs.slice(0, place).filter((other) => other === slug).length;
      return before ? `${slug}~${before + 1}` : slug;
    });
  };
  /* `size.-model`: by size, in ties by model from Z. Its parts, the last to sort by first. */
  const withSort = (sorts, key, direction) => [
    (direction === "descending" ? "-" : "") + key,
    ...sorts.filter((one) => one.replace(/^-/, "") !== key),
  ];
  const sortsOf = (text) => (text ?? "").split(".").filter(Boolean);

  window.triathlon.tables = { choices, fits, keyOf, sorted, keysOf, withSort };
  if (!window.document) return;

  /* Of a table longer than LONG the FIRST rows are in the page: laying out a thousand rows of many lines takes longer than anybody waits. */
  const LONG = 200,
    FIRST = 40;
  /* Of rows that continue in scripts a phone shows so many at first, as site.css does before this file is there. */
  const ON_PHONE = matchMedia("(max-width: 46rem)").matches ? 20 : Infinity;

  /* A button that opens its content over the table. `listeners`: of the content. */
  const chooser = (name, content, listeners) => {
    const list = make(html`<div class="choices" id="${name}" popover>${content}</div>`, listeners);
    const opener = make(html`<span><button type="button" popovertarget="${name}">${name}</button></span>`);
    opener.append(list);
    return opener;
  };

  /* The address carries the state of the page's first table, so that a view can be sent to somebody. */
  const state = new URLSearchParams(location.search);
  const remember = (name, value) => {
    state.set(name, value);
    setQuery(state);
  };

  /* Rows that the page does not lay out: in a template behind the first ones, or in scripts of their own, which come before this one. */
  const laterRows = (table) => {
    const kept = table.tBodies[0].querySelector("template");
    kept?.remove();
    if (kept) return [...kept.content.children];
    return "rest" in table.dataset ? (window.triathlonRest ?? []) : [];
  };

  const entry = (row) => {
    const { id = "", org = "", license = "", open = "", kind = "" } = row.dataset;
    let text = null;
    return {
      row,
      facts: row.dataset,
      top: "ofAll" in row.dataset,
      shown: true,
      get text() {
        const name = () => row.querySelector("th").textContent;
        return (text ??= bare([name(), row.id, id, org, license, open, kind].join(" ")));
      },
    };
  };

  class Board {
    constructor(table, keeps) {
      this.table = table;
      this.keeps = keeps;
      this.sorts = [];
      this.filters = new Map();
      this.choices = new Map();
      this.body = table.tBodies[0];
      this.heads = [...table.tHead.rows[0].cells];
      this.names = this.heads.map((head) => head.textContent.replace(/\s+/g, " ").trim());
      this.keys = keysOf(this.names);
      this.numeric = this.heads.map((head) => head.dataset.type === "number");
      const first = this.body.rows.length,
        later = laterRows(table);
      this.rows = [...this.body.rows, ...later].map(entry);
      this.order = this.rows;
      this.missing = Number(table.dataset.rest ?? 0) - this.rows.length; /* where a script of rows did not come */
      const limit = later.length ? Math.min(first, ON_PHONE) : this.rows.length > LONG ? FIRST : Infinity;
      this.asked = this.rows.slice(limit).some(({ row }) => row.id && `#${row.id}` === location.hash);
      this.limit = this.asked ? Infinity : limit;
      this.heads.forEach((head, column) => this.addSorting(head, column));
    }

    addSorting(head, column) {
      if (!head.dataset.type) return;
      const click = () => {
        const now = head.getAttribute("aria-sort");
        this.sort(column, now ? (now === "ascending" ? "descending" : "ascending") : head.dataset.first);
      };
      const button = make(html`<button type="button" class="sort"></button>`, { click });
      button.append(...head.childNodes);
      head.append(button);
    }

    /* `named`: the address and the caption say it; else the order is that of this column alone, as the page has it. */
    sort(column, direction, named = true) {
      this.sorts = named ? withSort(this.sorts, this.keys[column], direction) : [];
      const numeric = this.numeric[column];
      const key = ({ row: { cells } }) => {
        const { dataset, firstChild } = cells[column];
        return keyOf(dataset.v ?? (numeric ? "" : (firstChild?.textContent ?? "").trim()), numeric);
      };
      this.order = sorted(named ? this.order : this.rows, key, direction);
      this.place();
      for (const head of this.heads) head.removeAttribute("aria-sort");
      this.heads[column].setAttribute("aria-sort", direction);
      const caption = this.table.querySelector("[data-order]");
      if (caption && named)
        caption.textContent = `Sorted by ${this.names[column]}, ${this.onTop(column, direction)} first`;
      if (this.keeps) remember("sort", this.sorts.join("."));
    }

    onTop(column, direction) {
      const is = (name) => this.rows.some(({ row }) => row.cells[column].matches(name));
      let ends = this.numeric[column] ? ["the lowest", "the highest"] : ["A", "Z"];
      if (is(".date")) ends = ["the oldest", "the newest"];
      if (is(".rank")) ends = ["the best", "the worst"];
      return ends[direction === "ascending" ? 0 : 1];
    }

    /* The rows that fit, in their order, as many as there is room for. */
    place() {
      const fitting = this.order.filter((item) => item.shown);
      const placed = fitting.slice(0, this.limit).map((item) => item.row);
      const now = this.body.rows;
      if (placed.length !== now.length || placed.some((row, place) => row !== now[place]))
        this.body.replaceChildren(...placed);
      if (!this.more) return;
      this.more.hidden = fitting.length <= this.limit;
      this.more.textContent = `The first ${this.limit} of ${fitting.length} are shown: show all`;
    }

    addMore() {
      if (this.limit === Infinity) return;
      const click = () => {
        this.limit = Infinity;
        this.place();
      };
      this.more = make(html`<button type="button" class="more"></button>`, { click });
      window.addEventListener("beforeprint", click);
      this.table.parentElement.after(this.more);
      this.place();
    }

    /* ---- search and filters ---- */

    addControls() {
      this.noun = this.table.dataset.noun ?? "models";
      const find = `Find a ${this.noun.slice(0, -1)}`;
      const input = () => {
        remember("q", this.search.value.trim());
        this.apply();
      };
      this.search = make(html`<input type="search" placeholder="${find}" aria-label="${find}">`, { input });
      this.search.value = state.get("q") ?? "";
      this.status = make(html`<output class="status"></output>`);
      this.chips = make(html`<span class="chips"></span>`);
      this.none = make(html`<p class="notice" role="status" hidden></p>`, { click: (event) => this.press(event) });
      this.controls = make(html`<div class="controls of-table"></div>`, { click: (event) => this.press(event) });
      const quick = QUICK.filter(
        ([name, value]) => this.offered(name).length > 1 && this.offered(name).includes(value),
      );
      const chips = quick.map(([name, value, text]) =>
        make(html`<button type="button" class="chip" data-filter="${name}" data-value="${value}">${text}</button>`),
      );
      const narrows = Object.keys(FILTERS).some((name) => this.offered(name).length > 1);
      this.controls.append(
        this.search,
        ...chips,
        narrows ? this.filterChooser() : "",
        this.columnChooser(),
        this.rowHeight(),
        this.chips,
        this.status,
      );
      this.table.parentElement.before(this.controls, this.none);
      this.addMore();
      for (const name of Object.keys(FILTERS)) this.setFilter(name, state.get(name));
      this.restore();
      this.apply();
    }

    /* The row that the address names is in the page only now, and what the other scripts add moves it. */
    showAsked() {
      if (!this.asked) return;
      this.place();
      location.replace(location.href);
      setTimeout(() => document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" }), 200);
    }

    offered(name) {
      if (!this.choices.has(name)) this.choices.set(name, choices(this.rows, name));
      return this.choices.get(name);
    }

    /* Lists of what the rows have, and the highest price; made when it is opened, because gathering takes a while. */
    filterChooser() {
      const field = ([name, label]) => {
        const now = this.filters.get(name) ?? "",
          offered = this.offered(name);
        if (offered.length < 2) return "";
        const option = (value) =>
          html`<option value="${value}" ${value === now ? "selected" : ""}>${value || "all"}</option>`;
        return html`<label>${label} ${
          name === "price"
            ? html`<input type="number" min="0" step="any" name="${name}" aria-label="${label}" value="${now}">`
            : html`<select name="${name}" aria-label="${label}">${["", ...offered].map(option)}</select>`
        }</label>`;
      };
      const beforetoggle = ({ newState, target }) => {
        if (newState === "open") target.innerHTML = html`${Object.entries(FILTERS).map(field)}`;
      };
      return chooser("Filters", "", { beforetoggle, input: ({ target }) => this.filter(target.name, target.value) });
    }

    /* A value that no row offers would show nothing: it is passed over. */
    setFilter(name, value) {
      const isOffered = () => (name === "price" ? Number(value) >= 0 : this.offered(name).includes(value));
      if (value && isOffered() && this.offered(name).length > 1) this.filters.set(name, value);
      else this.filters.delete(name);
    }

    filter(name, value) {
      this.setFilter(name, value);
      remember(name, value);
      this.apply();
    }

    /* A button that turns its filter on or off, or clears all. */
    press({ target }) {
      const { filter, value } = target.dataset;
      if (filter) this.filter(filter, this.filters.get(filter) === value ? "" : value);
      if ("clear" in target.dataset) {
        for (const name of [...this.filters.keys()]) this.filter(name, "");
        this.search.value = "";
        this.search.dispatchEvent(new Event("input"));
      }
      if (!target.isConnected) this.search.focus();
    }

    /* What is filtered by, each with a button that takes it away. */
    showFilters() {
      for (const chip of this.controls.querySelectorAll("[data-filter]"))
        chip.setAttribute("aria-pressed", String(this.filters.get(chip.dataset.filter) === chip.dataset.value));
      const isQuick = ([name, value]) => QUICK.some(([quick, its]) => quick === name && its === value);
      const others = [...this.filters].filter((one) => !isQuick(one));
      const chip = ([
        name,
        value,
      ]) => html`<button type="button" class="chip" data-filter="${name}" data-value="${value}"
        aria-label="Remove the filter ${FILTERS[name]}: ${value}">${FILTERS[name]}: ${value} ×</button>`;
      this.chips.innerHTML = html`${others.map(chip)}${this.wanted() ? CLEAR : ""}`;
    }

    /* What is looked for, in words. */
    wanted() {
      const looked = this.search.value.trim();
      const filters = [...this.filters].map(([name, value]) => `${FILTERS[name]}: ${value}`);
      return [...(looked ? [`“${looked}”`] : []), ...filters].join(", ");
    }

    apply() {
      let shown = 0;
      for (const item of this.rows) {
        item.shown = fits(item, this.filters, this.search.value);
        shown += item.shown;
      }
      this.place();
      const all = this.rows.length,
        one = this.noun.slice(0, -1);
      this.status.textContent =
        shown < all ? `${shown} of ${all} ${this.noun}` : `${all} ${all === 1 ? one : this.noun}`;
      if (this.missing > 0) this.status.textContent += `; ${this.missing} more could not be loaded`;
      this.showFilters();
      this.none.hidden = shown > 0;
      this.table.parentElement.hidden = !shown;
      this.none.innerHTML = shown ? "" : html`No ${one} matches ${this.wanted()}. ${CLEAR}`;
    }

    /* ---- columns ---- */

    columnChooser() {
      const hasRoom = window.matchMedia("(min-width: 80rem)").matches; /* as in site.css */
      const changed = { hide: new Set(sortsOf(state.get("hide"))), show: new Set(sortsOf(state.get("show"))) };
      const named = 1 + this.heads.findIndex((head) => head.dataset.type === "text"); /* rank and name stay */
      const list = this.heads.map((head, column) => {
        if (column < named || !head.dataset.type) return "";
        const { classList } = head;
        /* What is optional is not there until it is asked for. */
        const change = classList.contains("off") && !(hasRoom && classList.contains("wide")) ? "show" : "hide";
        const visible = changed[change].has(this.keys[column]) === (change === "show");
        this.showColumn(column, visible);
        return html`<label><input type="checkbox" value="${column}" data-change="${change}" ${visible ? "checked" : ""}>
          ${this.names[column]}</label>`;
      });
      const change = ({ target: { value, checked, dataset } }) => {
        const keys = changed[dataset.change];
        this.showColumn(value, checked);
        keys[checked === (dataset.change === "show") ? "add" : "delete"](this.keys[value]);
        remember(dataset.change, [...keys].join("."));
      };
      return chooser("Columns", list, { change });
    }

    showColumn(column, visible) {
      const head = this.heads[column];
      if (visible === !(head.hidden || head.classList.contains("off"))) return;
      for (const cell of [head, ...this.rows.map(({ row }) => row.cells[column])]) {
        cell.hidden = !visible;
        cell.classList.toggle("off", !visible);
      }
    }

    /* One line a row, unless the table says `data-rows`, or all that is known of each score below it. */
    rowHeight() {
      if (!this.table.classList.contains("compact") || "rows" in this.table.dataset) return "";
      const click = () => turn(this.table.classList.contains("compact"));
      const details = make(html`<button type="button">Details</button>`, { click });
      const turn = (open) => {
        this.table.classList.toggle("compact", !open);
        details.setAttribute("aria-pressed", String(open));
        remember("rows", open ? "details" : "");
      };
      turn(state.get("rows") === "details");
      return details;
    }

    restore() {
      for (const order of sortsOf(state.get("sort")).reverse()) {
        const column = this.keys.indexOf(order.replace(/^-/, ""));
        if (this.heads[column]?.dataset.type) this.sort(column, order.startsWith("-") ? "descending" : "ascending");
      }
    }
  }
  const CLEAR = html`<button type="button" data-clear>Clear all</button>`;

  /* A table that fits its frame needs no scrolling of its own: its head then sticks to the window. */
  const fitting = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const frame = target.parentElement;
      frame.classList.toggle("fits", target.offsetWidth <= frame.clientWidth);
    }
    window.triathlonStay();
  });

  window.triathlonBoards = [...document.querySelectorAll("table[data-table]")].map((table, place) => {
    const board = new Board(table, !place);
    if (table.classList.contains("board")) fitting.observe(table);
    if (!place && "filter" in table.dataset) board.addControls();
    else board.addMore();
    board.showAsked();
    return board;
  });
  window.triathlonView = { state, remember, chooser };
})();
