/* Tables that sort, search and filter. Without this file they are in the order of their ranks, and complete but for long
   ones and for the optional columns of the table of all models. */
"use strict";
(() => {
  const { make, button, setQuery, bare, SIZES } = window.triathlon;
  const FILTERS = [
    ["has", "Results in"],
    ["org", "Organisation"],
    ["license", "Licence"],
    ["open", "Weights"],
    ["kind", "Kind"],
    ["size", "Size"],
    ["year", "Released"],
    ["grade", "Evidence"],
    ["run", "Run in"],
    ["usable", "Availability"],
    ["price", "Price out, $/M, at most"],
  ];
  /* Filters of one press: name, value, text. */
  const QUICK = [
    ["usable", "usable", "usable today"],
    ["open", "open", "open weights"],
    ["size", "under 10 B", "under 10 B"],
  ];
  const words = (value) => value.split(" ").filter(Boolean);
  /* What a row offers under a filter, where that is not its value alone. */
  const OFFERS = {
    has: words,
    grade: words,
    run: (day) => [day.slice(0, 7)],
    size: (billions) => SIZES.filter(([, , low, high]) => low <= billions && billions < high).map(([, label]) => label),
  };
  const offers = (name, value) => (value ? (OFFERS[name]?.(value) ?? [value]) : []);
  /* Of a table longer than LONG the FIRST rows are in the page: laying out a thousand rows of many lines takes longer than anybody waits. */
  const LONG = 200,
    FIRST = 40;
  /* Of rows that continue in scripts a phone shows so many at first, as site.css does before this file is there. */
  const ON_PHONE = matchMedia("(max-width: 46rem)").matches ? 20 : Infinity;
  const slug = (text) =>
    text
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9@+]+/g, "-")
      .replace(/^-|-$/g, "");

  /* What a cell without a value of its own says: its text, or the first number of it. */
  const plain = (cell, numeric) => {
    const text = (cell.firstChild?.textContent ?? "").trim();
    return numeric ? (/^[+−]?[\d,]*\.?\d+/.exec(text)?.[0] ?? "").replace("−", "-").replaceAll(",", "") : text;
  };

  /* A button that opens its content over the table. `fill` is called once, before it is first opened. */
  const chooser = (name, content, fill = () => {}) => {
    const choices = make("div", { class: "choices", id: name, popover: "" }, ...content);
    choices.addEventListener("beforetoggle", () => fill(choices), { once: true });
    return make("span", {}, make("button", { type: "button", popovertarget: name }, name), choices);
  };

  /* The address carries the state of the page's first table, so that a view can be sent to somebody. */
  const state = new URLSearchParams(location.search);
  const remember = (name, value) => {
    if (value) state.set(name, value);
    else state.delete(name);
    setQuery(state.toString());
  };

  /* Rows that the page does not lay out: in a template behind the first ones, or in scripts of their own, which come before this one. */
  const laterRows = (table) => {
    const kept = table.tBodies[0].querySelector("template");
    kept?.remove();
    if (kept) return [...kept.content.children];
    return "rest" in table.dataset ? window.triathlonRest : [];
  };

  class Board {
    constructor(table, keeps) {
      this.table = table;
      this.keeps = keeps;
      this.sorts = [];
      this.body = table.tBodies[0];
      this.heads = [...table.tHead.rows[0].cells];
      this.numeric = this.heads.map((head) => head.dataset.type === "number");
      const first = this.body.rows.length,
        later = laterRows(table);
      this.rows = [...this.body.rows, ...later].map((row) => ({
        row,
        keys: null,
        text: null,
        rank: row.querySelector("td.rank"),
        shown: true,
        top: "ofAll" in row.dataset /* a mean stands above the models that it is of, whatever the order */,
      }));
      this.order = this.rows;
      const limit = later.length ? Math.min(first, ON_PHONE) : this.rows.length > LONG ? FIRST : Infinity;
      this.asked = this.rows.slice(limit).some(({ row }) => row.id && `#${row.id}` === location.hash);
      this.limit = this.asked ? Infinity : limit;
      this.filters = new Map();
      this.heads.forEach((head, column) => this.addSorting(head, column));
    }

    textOf(item) {
      const { id = "", org = "", license = "", open = "", kind = "" } = item.row.dataset;
      item.text ??= bare(
        [item.row.querySelector("th").textContent, item.row.id, id, org, license, open, kind].join(" "),
      );
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
      const key = slug(head.textContent),
        same = this.heads.filter((other) => other.dataset.key?.replace(/~\d+$/, "") === key).length;
      head.dataset.key = same ? `${key}~${same + 1}` : key;
      head.append(
        button(
          () => {
            const now = head.getAttribute("aria-sort");
            this.sort(column, now ? (now === "ascending" ? "descending" : "ascending") : head.dataset.first);
          },
          { class: "sort" },
          ...head.childNodes,
        ),
      );
    }

    /* Ties stay in the order that there was. `named`: the address and the caption say it; else the order is that of
       this column alone, as the page has it. */
    sort(column, direction, named = true) {
      const sign = direction === "ascending" ? 1 : -1,
        { key } = this.heads[column].dataset;
      this.sorts = named
        ? [(sign < 0 ? "-" : "") + key, ...this.sorts.filter((one) => one.replace(/^-/, "") !== key)]
        : [];
      this.order = [...(named ? this.order : this.rows)].sort((a, b) => {
        if (a.top !== b.top) return a.top ? -1 : 1;
        const x = this.keysOf(a)[column],
          y = this.keysOf(b)[column];
        if (x === y) return 0;
        if (x === null) return 1; /* a missing value is last, whichever way */
        if (y === null) return -1;
        return (x < y ? -1 : 1) * sign;
      });
      this.place();
      this.heads.forEach((head, index) => {
        if (index === column) head.setAttribute("aria-sort", direction);
        else head.removeAttribute("aria-sort");
      });
      const caption = this.table.querySelector("[data-order]");
      if (caption && named) {
        const is = (name) => this.rows.some(({ row }) => row.cells[column].matches(name));
        const ends = is(".rank")
          ? ["the best", "the worst"]
          : is(".date")
            ? ["the oldest", "the newest"]
            : this.numeric[column]
              ? ["the lowest", "the highest"]
              : ["A", "Z"];
        const first = ends[sign < 0 ? 1 : 0];
        caption.textContent = `Sorted by ${this.nameOf(this.heads[column])}, ${first} first`;
      }
      if (this.keeps) remember("sort", this.sorts.join("."));
    }

    nameOf(head) {
      return [...(head.querySelector("button") ?? head).childNodes]
        .map((node) => node.textContent.trim())
        .filter(Boolean)
        .join(" ");
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
      const all = () => {
        this.limit = Infinity;
        this.more.hidden = true;
        this.place();
      };
      this.more = button(all, { class: "more" });
      window.addEventListener("beforeprint", all);
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
      this.search = make("input", { type: "search", placeholder: find, "aria-label": find, input });
      this.search.value = state.get("q") ?? "";
      this.status = make("output", { class: "status" });
      this.chips = make("span", { class: "chips" });
      const labelled = (field) => make("label", {}, `${field.getAttribute("aria-label")} `, field);
      const fill = (list) => list.append(...[...this.inputs.values()].map(labelled));
      const narrows = FILTERS.some(([name]) => this.choices(name).length > 1);
      const filters = narrows ? [chooser("Filters", [], fill)] : [];
      this.controls = make(
        "div",
        { class: "controls of-table" },
        this.search,
        ...this.quick(),
        ...filters,
        this.columnChooser(),
        ...this.rowHeight(),
        this.chips,
        this.status,
      );
      const frame = this.table.parentElement;
      this.none = make("p", { class: "notice", role: "status", hidden: "" });
      frame.before(this.controls, this.none);
      this.addMore();
      this.restoreFilters();
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

    /* By filter, a list of what the rows have, or the highest price: made when it is needed, because gathering it from all rows takes a while. */
    get inputs() {
      return (this.made ??= new Map(
        FILTERS.flatMap(([name, label]) => {
          const choices = this.choices(name);
          if (choices.length < 2) return [];
          const shared = { "aria-label": label, input: ({ target }) => this.filter(name, target.value) };
          const options = ["", ...choices].map((value) => make("option", { value }, value || "all"));
          return [
            [
              name,
              name === "price"
                ? make("input", { type: "number", min: "0", step: "any", ...shared })
                : make("select", shared, ...options),
            ],
          ];
        }),
      ));
    }

    /* The filters that the address states. */
    restoreFilters() {
      for (const [name] of FILTERS.filter(([name]) => state.has(name))) {
        const field = this.inputs.get(name),
          stated = state.get(name);
        if (!field) continue;
        field.value = name === "price" && !(Number(stated) >= 0) ? "" : stated;
        if (field.value) this.filters.set(name, field.value);
        else field.value = ""; /* a list that lacks what is stated would show nothing, not "all" */
      }
    }

    filter(name, value) {
      if (value) this.filters.set(name, value);
      else this.filters.delete(name);
      this.inputs.get(name).value = value;
      remember(name, value);
      this.apply();
    }

    quick() {
      return QUICK.filter(([name, value]) => this.choices(name).length > 1 && this.choices(name).includes(value)).map(
        ([name, value, text]) => {
          const press = () => this.filter(name, this.filters.get(name) === value ? "" : value);
          return button(press, { class: "chip", "data-filter": name, "data-value": value }, text);
        },
      );
    }

    clear() {
      for (const name of [...this.filters.keys()]) this.filter(name, "");
      this.search.value = "";
      this.search.dispatchEvent(new Event("input"));
      this.search.focus();
    }

    /* What is filtered by, each with a button that takes it away. */
    showFilters() {
      for (const chip of this.controls.querySelectorAll("[data-filter]")) {
        const { filter, value } = chip.dataset;
        chip.setAttribute("aria-pressed", String(this.filters.get(filter) === value));
      }
      const others = [...this.filters].filter(
        ([name, value]) => !QUICK.some(([quick, its]) => quick === name && its === value),
      );
      this.chips.replaceChildren(
        ...others.map(([name, value]) => {
          const label = FILTERS.find(([other]) => other === name)[1];
          const remove = () => {
            this.filter(name, "");
            this.search.focus();
          };
          return button(
            remove,
            { class: "chip", "aria-label": `Remove the filter ${label}: ${value}` },
            `${label}: ${value} ×`,
          );
        }),
        ...(this.filters.size || this.search.value.trim() ? [this.clearButton()] : []),
      );
    }

    clearButton() {
      return button(() => this.clear(), {}, "Clear all");
    }

    /* What is looked for, in words. */
    wanted() {
      return [
        ...(this.search.value.trim() ? [`“${this.search.value.trim()}”`] : []),
        ...[...this.filters].map(([name, value]) => `${FILTERS.find(([other]) => other === name)[1]}: ${value}`),
      ].join(", ");
    }

    choices(name) {
      const offered = new Set(this.rows.flatMap(({ row }) => offers(name, row.dataset[name])));
      if (name === "size") return SIZES.map(([, label]) => label).filter((label) => offered.has(label));
      /* Not by localeCompare: its tables alone take a phone 50 ms to load. */
      return [...offered].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
    }

    fits(item, words) {
      for (const [name, wanted] of this.filters) {
        const offered = offers(name, item.row.dataset[name]);
        if (!(name === "price" ? Number(offered[0]) <= Number(wanted) : offered.includes(wanted))) return false;
      }
      return words.every((word) => this.textOf(item).includes(word));
    }

    apply() {
      const words = this.search.value.split(/\s+/).map(bare).filter(Boolean);
      let shown = 0;
      for (const item of this.rows) {
        item.shown = this.fits(item, words);
        shown += item.shown;
      }
      this.place();
      const all = this.rows.length;
      this.status.textContent =
        shown < all ? `${shown} of ${all} ${this.noun}` : `${all} ${all === 1 ? this.noun.slice(0, -1) : this.noun}`;
      this.showFilters();
      this.none.hidden = shown > 0;
      this.table.parentElement.hidden = !shown;
      this.none.replaceChildren(
        ...(shown ? [] : [`No ${this.noun.slice(0, -1)} matches ${this.wanted()}. `, this.clearButton()]),
      );
    }

    /* ---- columns ---- */

    columnChooser() {
      const hasRoom = window.matchMedia("(min-width: 80rem)").matches; /* as in site.css */
      const isOff = ({ classList }) => classList.contains("off") && !(hasRoom && classList.contains("wide"));
      const read = (name) => new Set((state.get(name) ?? "").split(".").filter(Boolean));
      const hide = read("hide"),
        show = read("show");
      const list = [];
      const named = 1 + this.heads.findIndex((head) => head.dataset.type === "text"); /* rank and name stay */
      this.heads.forEach((head, column) => {
        const key = head.dataset.key;
        if (column < named || !key) return;
        const optional = isOff(head); /* such a column is not there until it is asked for */
        const changed = optional ? show : hide;
        const change = () => {
          this.showColumn(column, box.checked);
          changed[box.checked === optional ? "add" : "delete"](key);
          remember(optional ? "show" : "hide", [...changed].join("."));
        };
        const box = make("input", { type: "checkbox", change });
        box.checked = changed.has(key) === optional;
        this.showColumn(column, box.checked);
        list.push(make("label", {}, box, ` ${this.nameOf(head)}`));
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

    /* One line a row, unless the table says `data-rows`, or all that is known of each score below it. */
    rowHeight() {
      if (!this.table.classList.contains("compact") || "rows" in this.table.dataset) return [];
      const details = button(() => turn(this.table.classList.contains("compact")), {}, "Details");
      const turn = (open) => {
        this.table.classList.toggle("compact", !open);
        details.setAttribute("aria-pressed", String(open));
        remember("rows", open ? "details" : "");
      };
      turn(state.get("rows") === "details");
      return [details];
    }

    restore() {
      for (const order of (state.get("sort") ?? "").split(".").reverse()) {
        const column = this.heads.findIndex((head) => head.dataset.key === order.replace(/^-/, ""));
        if (order && column >= 0) this.sort(column, order.startsWith("-") ? "descending" : "ascending");
      }
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
