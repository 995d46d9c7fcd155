/* The front page: what its table is ranked by, which chart a phone shows, and rows to compare. */
"use strict";
(() => {
  const { make, button, draw } = window.triathlon;
  const { state, remember } = window.triathlonView;
  const board = window.triathlonBoards[0];
  const MOST = 6;
  const phone = matchMedia("(max-width: 46rem)");
  const charts = document.querySelector(".charts");
  const order = board.table.querySelector("[data-order]");
  const heads = board.heads.filter((head) => head.dataset.by);
  const start = (heads.find((head) => head.hasAttribute("aria-sort")) ?? heads[0]).dataset.by;
  const title = (head) => head.querySelector("button").firstChild.textContent.trim();

  /* The bar of a cell, as the build draws it for the first column. */
  const addBar = (cell, maximum) => {
    if (cell.dataset.v === "" || cell.querySelector(".gauge")) return;
    const small = cell.querySelector("small"),
      share = (value) => `${Math.max(0, Math.min(100, (100 * value) / maximum))}%`;
    const ends = /^(\d[\d.]*)–(\d[\d.]*)/.exec(small?.textContent ?? "");
    const hollow = cell.querySelector("sup")?.textContent === "p";
    const bar = draw(
      "svg",
      { class: hollow ? "gauge hollow" : "gauge", "aria-hidden": "true" },
      draw("rect", { width: share(Number(cell.dataset.v)) }),
    );
    if (ends) bar.append(draw("line", { x1: share(Number(ends[1])), x2: share(Number(ends[2])) }));
    if (small) small.before(bar);
    else cell.append(bar);
  };

  const said = (text) => make("i", { class: "said" }, text);
  /* `=3 1 80`: a rank and where it may lie; `(5)`: the place of a figure that was not checked. */
  const showRank = (item, text, place) => {
    const cell = item.rank,
      [rank, low, high] = (text ?? "").split(" ");
    cell.dataset.v = place ?? "";
    cell.toggleAttribute("data-beside", Boolean(rank) && rank.startsWith("("));
    if (!rank) cell.replaceChildren(make("span", { class: "none" }, "–"));
    else {
      const ends =
        low && low !== high ? [make("small", {}, said(", "), low, said(" to "), make("span", {}, high))] : [];
      cell.replaceChildren(said("rank "), make("b", {}, rank), ...ends);
    }
    item.keys = null;
  };

  const rankBy = (key) => {
    const head = heads.find((one) => one.dataset.by === key),
      column = board.heads.indexOf(head);
    const values = board.rows
      .map(({ row }) => row.cells[column].dataset.v)
      .filter(Boolean)
      .map(Number)
      .sort((a, b) => b - a);
    board.showColumn(column, true);
    for (const item of board.rows) {
      const cell = item.row.cells[column];
      for (const old of item.row.querySelectorAll(".by")) old.classList.remove("by");
      cell.classList.add("by");
      addBar(cell, Number(head.dataset.maximum));
      showRank(item, cell.dataset.r, cell.dataset.v === "" ? null : values.indexOf(Number(cell.dataset.v)) + 1);
    }
    for (const one of board.heads) one.classList.toggle("by", one === head);
    board.sort(column, "descending", false);
    order.textContent = `All models, by ${title(head)}: ${head.dataset.about}`;
    const chart = charts.querySelector(`[data-by="${CSS.escape(key)}"]`);
    if (chart) for (const one of charts.children) one.classList.toggle("chosen", one === chart);
    remember("by", key === start ? "" : key);
    check(key);
  };

  const group = make(
    "fieldset",
    { class: "rank-by", change: ({ target }) => rankBy(target.value) },
    make("legend", {}, "Rank by"),
    ...heads.map((head) =>
      make(
        "label",
        { title: head.dataset.about },
        make("input", { type: "radio", name: "by", value: head.dataset.by }),
        make("span", {}, title(head)),
      ),
    ),
  );
  const check = (key) => {
    group.querySelector(`[value="${CSS.escape(key)}"]`).checked = true;
  };
  check(start);
  /* On a phone it chooses the chart, too, and stands above it. */
  const settle = () => {
    if (phone.matches) charts.before(group);
    else board.controls.prepend(group);
  };
  phone.addEventListener("change", settle);
  settle();
  order.parentElement.append(" ", board.status);
  /* A press on the head of such a column, from the best down, ranks by it. */
  for (const head of heads)
    head.querySelector("button").addEventListener("click", () => {
      if (head.getAttribute("aria-sort") === "descending") rankBy(head.dataset.by);
    });
  const asked = state.get("by"),
    sorted = state.get("sort");
  if (heads.some((head) => head.dataset.by === asked)) {
    rankBy(asked);
    if (sorted) {
      remember("sort", sorted);
      board.restore();
    }
  }

  /* ---- rows to compare ---- */
  const rows = board.rows.filter(({ row }) => row.dataset.id);
  if (rows.length > 1) {
    const chosen = new Set(),
      boxes = [];
    const link = make("a", { class: "button" }),
      note = make("output", { class: "status" });
    const say = () => {
      link.hidden = chosen.size < 2;
      link.textContent = `Compare these ${chosen.size}`;
      link.href = `compare.html?m=${[...chosen].map(encodeURIComponent).join(",")}`;
      note.textContent = chosen.size < 2 ? "tick two to six models" : chosen.size === MOST ? "six are the most" : "";
      for (const box of boxes) box.disabled = chosen.size === MOST && !box.checked;
    };
    const bar = make("span", { class: "comparing", hidden: "" }, link, " ", note);
    const tick = button(
      () => {
        const ticking = board.table.classList.toggle("ticking");
        tick.setAttribute("aria-pressed", String(ticking));
        bar.hidden = !ticking;
        if (ticking && !boxes.length)
          for (const { row } of rows) {
            const label = `Compare ${row.querySelector("th a").textContent}`;
            const change = () => {
              chosen[box.checked ? "add" : "delete"](row.dataset.id);
              say();
            };
            const box = make("input", { type: "checkbox", "aria-label": label, change });
            row.querySelector("th").prepend(box);
            boxes.push(box);
          }
        say();
      },
      { "aria-pressed": "false" },
      "Compare",
    );
    board.chips.before(tick, bar);
  }
})();
