/* Finds a task on all boards: in a box of its own, else in the one that finds models. */
"use strict";
(() => {
  const { make, load, bare, anchor } = window.triathlon;
  const MOST = 10;
  const own = document.querySelector("[data-find-task]"),
    board = window.triathlonBoards?.[0];
  const box = own ?? board?.search;
  if (!box) return;
  const found = make("div", { class: "tasks-found", "aria-live": "polite", hidden: "" });
  (own?.closest("p") ?? board.none).after(found);
  if (own) own.closest("p").hidden = false;
  else {
    box.placeholder = "Model or task";
    box.setAttribute("aria-label", "Find a model or a task");
  }

  /* Each task once, with its pages on all boards. */
  const tasks = new Map();
  window.triathlonTasks = ({ suites }) => {
    for (const [title, page, step, names] of suites)
      names.forEach((name, place) => {
        if (!tasks.has(name)) tasks.set(name, { key: bare(name), pages: [] });
        tasks
          .get(name)
          .pages.push(make("a", { href: `${page}/${Math.floor(place / step) + 1}.html#${anchor(name)}` }, title));
      });
  };
  let loading = null;

  const show = async () => {
    const wanted = bare(box.value);
    /* Under the models tasks stand only where no model is found. */
    if (wanted.length < 2 || (!own && board.none.hidden)) {
      found.hidden = true;
      return;
    }
    await (loading ??= load("data/tasks.js"));
    if (wanted !== bare(box.value)) return;
    /* The name itself first, then those that begin with it. */
    const order = ({ key }) => (key === wanted ? 0 : key.startsWith(wanted) ? 1 : 2);
    const fitting = [...tasks].filter(([, { key }]) => key.includes(wanted));
    fitting.sort(([one, a], [other, b]) => order(a) - order(b) || one.localeCompare(other, "en", { numeric: true }));
    const items = fitting
      .slice(0, MOST)
      .map(([name, { pages }]) =>
        make("li", {}, make("b", {}, name), " ", ...pages.flatMap((link, place) => (place ? [" · ", link] : [link]))),
      );
    const more =
      fitting.length > MOST ? [make("p", { class: "muted" }, `and ${fitting.length - MOST} more tasks`)] : [];
    const none = make("p", { class: "notice" }, `No task matches “${box.value.trim()}”.`);
    if (!own && items.length) board.none.hidden = true;
    found.hidden = false;
    found.replaceChildren(...(items.length ? [make("ul", { class: "plain tight" }, ...items), ...more] : [none]));
  };
  box.addEventListener("input", show);
  if (box.value) show();
})();
