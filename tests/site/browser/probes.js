/* What the browser tests ask of a page: `page.evaluate("probe.seen", ".chart li")`. */
"use strict";
window.probe = (() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const board = () => document.querySelector("table[data-table]");
  const numbers = (path) => path.getAttribute("d").match(/[\d.]+/g).map(Number);

  /* How many elements lie within the window. */
  const seen = (selector) => all(selector).filter((one) => {
    const box = one.getBoundingClientRect();
    return box.height && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
  }).length;

  /* Whether nothing covers what has the focus. */
  const focusSeen = () => {
    const { left, top, width, height } = document.activeElement.getBoundingClientRect();
    return document.activeElement.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  };

  /* The cells of a table that are seen without their heads, or the other way round. */
  const shifted = (table) => {
    const [heads, ...rows] = table.rows, hidden = (cell) => !cell.getClientRects().length;
    const whole = rows.filter((row) => row.cells.length === heads.cells.length);
    const cells = whole.flatMap((row) => [...row.cells].filter((cell, i) => hidden(cell) !== hidden(heads.cells[i])));
    return cells.map((cell) => cell.outerHTML);
  };

  /* The texts of visible elements that are cut off, the heights of lines of the charts, and whether both ends of each
     axis stand apart. */
  const cut = (selector) => all(selector).filter(
    (one) => one.offsetParent && (one.scrollWidth > one.clientWidth || one.textContent.includes("…")),
  ).map((one) => one.textContent);
  const lines = () => all(".chart li").map((line) => line.offsetHeight);
  const endsApart = () => all(".chart .axis")
    .map((axis) => all("text", axis).map((text) => text.getBoundingClientRect()))
    .filter(([first]) => first.width).every(([first, last]) => first.right < last.left);

  /* How many boards scroll in a box of their own; where frame, head and name of the first one are. */
  const boxes = () => all(".table-frame:has(> .board)").filter(
    (box) => box.scrollHeight > box.clientHeight + 2 && getComputedStyle(box).overflowY !== "visible",
  ).length;
  const places = () => {
    const at = (selector) => document.querySelector(selector).getBoundingClientRect();
    const frame = at(".table-frame:has(table.board)");
    const head = at("table.board thead").top, name = at("table.board tbody th").left;
    return { top: frame.top, left: frame.left, head, name };
  };

  /* How far, in pixels, lines in the page’s own figure lie from where the levels of its axis say. */
  const heights = () => {
    const figure = document.querySelector('[data-series="curve"]').closest("svg");
    const levels = all(".grid", figure).map((line) => numbers(line)[1]), base = levels[0], top = levels.at(-1);
    const { data, layout } = document.querySelector(".plot"), [low, high] = layout.yaxis.range;
    const drawn = all("[data-series] path", figure).map(numbers);
    const wanted = (value) => base - ((value - low) / (high - low)) * (base - top);
    return Math.max(...data.flatMap(({ y }, line) => y.map((value, i) => Math.abs(drawn[line][2 * i + 1] - wanted(value)))));
  };
  /* How plotly's text looks when a point is pointed at: a style of our figures must not make it hollow. */
  const fillOfText = (svg) => {
    const text = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "tspan"));
    text.setAttribute("class", "line");
    return getComputedStyle(text).fill;
  };

  /* Elements that a page of ours has not: handlers, scripts in addresses, scripts of others. */
  const strange = () => all("*").filter((element) =>
    [...element.attributes].some(({ name, value }) => /^on/i.test(name)
      || (name === "href" && /^\s*(javascript|data):/i.test(value))
      || (name === "src" && !/^((\.\.\/)*(assets|data|badges)|[\w.+-]+)\//.test(value)))
    || (element.tagName === "SCRIPT" && !element.src && !element.textContent.startsWith("/* Stands in the page")),
  ).map((element) => element.outerHTML.slice(0, 100));

  /* By how much visible parts have moved since the page began to load. */
  const moves = [];
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) moves.push(value); })
    .observe({ type: "layout-shift", buffered: true });
  const shifts = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(moves))));

  return {
    seen, focusSeen, shifted, cut, lines, endsApart, boxes, places, heights, fillOfText,
    strange, shifts,
  };
})();
