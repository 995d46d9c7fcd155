/* The front page: what its table is ranked by, which chart a phone shows, and rows to compare. */
"use strict";
(() => {
  const { html, make } = window.triathlon;

  /* `=3 1 80`: a rank and where it may lie, in the words of the page; `(5)`: the place of a figure that was not checked. */
  const rankCell = (rank, low, high) => {
    if (!rank) return html`<span class="none">–</span>`;
    const ends = html`<small><i class="said">, </i>${low}<i class="said"> to </i><span>${high}</span></small>`;
    return html`<i class="said">rank </i><b>${rank}</b>${low === high ? "" : ends}`;
  };

  window.triathlon.front = { rankCell };
  if (!window.document) return;

  const { state, remember } = window.triathlonView;
  const board = window.triathlonBoards[0];
  const MOST = 6;
  const phone = matchMedia("(max-width: 46rem)");
  const charts = document.querySelector(".charts");
  const order = board.table.querySelector("[data-order]");
  const heads = board.heads.filter((head) => head.dataset.by);
  const start = heads.find((head) => head.classList.contains("by")).dataset.by; /* as the page came */
  const title = (head) => head.querySelector("button").firstChild.textContent.trim();

  const rankBy = (key) => {
    const head = heads.find((one) => one.dataset.by === key),
      column = board.heads.indexOf(head);
    const cells = board.rows.map(({ row }) => row.cells[column]);
    board.showColumn(column, true);
    board.rows.forEach(({ row }, i) => {
      for (const old of row.querySelectorAll(".by")) old.classList.remove("by");
      cells[i].classList.add("by");
      const rank = row.cells[0],
        [place, ...text] = (cells[i].dataset.r ?? "").split(" ");
      rank.dataset.v = place;
      rank.toggleAttribute("data-beside", Boolean(text[0]?.startsWith("(")));
      rank.innerHTML = rankCell(...text);
    });
    for (const one of board.heads) one.classList.toggle("by", one === head);
    board.sort(column, "descending", false);
    order.textContent = `All models, by ${title(head)}: ${head.dataset.about}`;
    if ([...charts.children].some((one) => one.dataset.by === key))
      for (const one of charts.children) one.classList.toggle("chosen", one.dataset.by === key);
    remember("by", key === start ? "" : key);
    check(key);
  };

  const choice = (head) => html`<label title="${head.dataset.about}">
    <input type="radio" name="by" value="${head.dataset.by}"><span>${title(head)}</span></label>`;
  const group = make(html`<fieldset class="rank-by"><legend>Rank by</legend>${heads.map(choice)}</fieldset>`, {
    change: ({ target }) => rankBy(target.value),
  });
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
  if (rows.length < 2) return;
  const chosen = new Set(),
    boxes = [];
  const bar = make(html`<span class="comparing" hidden><a class="button"></a> <output class="status"></output></span>`);
  const [link, note] = bar.children;
  const say = () => {
    link.hidden = chosen.size < 2;
    link.textContent = `Compare these ${chosen.size}`;
    link.href = `compare.html?m=${[...chosen].map(encodeURIComponent).join(",")}`;
    note.textContent = chosen.size < 2 ? "tick two to six models" : chosen.size === MOST ? "six are the most" : "";
    for (const box of boxes) box.disabled = chosen.size === MOST && !box.checked;
  };
  const addBox = ({ row }) => {
    const change = () => {
      chosen[box.checked ? "add" : "delete"](row.dataset.id);
      say();
    };
    const name = row.querySelector("th a").textContent;
    const box = make(html`<input type="checkbox" aria-label="Compare ${name}">`, { change });
    row.querySelector("th").prepend(box);
    boxes.push(box);
  };
  const click = () => {
    const ticking = board.table.classList.toggle("ticking");
    tick.setAttribute("aria-pressed", String(ticking));
    bar.hidden = !ticking;
    if (ticking && !boxes.length) rows.forEach(addBox);
    say();
  };
  const tick = make(html`<button type="button" aria-pressed="false">Compare</button>`, { click });
  board.chips.before(tick, bar);
})();
