/* Finds a task on all boards: in a box of its own, else in the one that finds models. */
"use strict";
(() => {
  const { html, make, load, bare, anchor } = window.triathlon;
  const MOST = 10;

  /* Each task once, with its pages on all boards: title and address. */
  const tasksOf = (suites) => {
    const tasks = new Map();
    for (const [title, pages] of suites)
      for (const [page, names] of Object.entries(pages))
        for (const name of names) {
          if (!tasks.has(name)) tasks.set(name, { name, key: bare(name), pages: [] });
          tasks.get(name).pages.push([title, `${page}#${anchor(name)}`]);
        }
    return [...tasks.values()];
  };
  /* The tasks with these letters: the name itself first, then those that begin with it. */
  const search = (tasks, wanted) => {
    const order = ({ key }) => (key === wanted ? 0 : key.startsWith(wanted) ? 1 : 2);
    const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
    return tasks.filter(({ key }) => key.includes(wanted)).sort((a, b) => order(a) - order(b) || byName(a, b));
  };
  const list = (found, text) => {
    const links = ({ pages }) =>
      pages.map(([title, page], i) => [i ? " · " : "", html`<a href="${page}">${title}</a>`]);
    const items = found.slice(0, MOST).map((task) => html`<li><b>${task.name}</b> ${links(task)}</li>`);
    if (!found.length) return html`<p class="notice">No task matches “${text.trim()}”.</p>`;
    const more = html`<p class="muted">and ${found.length - MOST} more tasks</p>`;
    return html`<ul class="plain tight">${items}</ul>${found.length > MOST ? more : ""}`;
  };

  window.triathlon.find = { tasksOf, search, list };
  if (!window.document) return;

  const own = document.querySelector("[data-find-task]"),
    board = window.triathlonBoards?.[0];
  const box = own ?? board?.search;
  if (!box) return;
  const found = make(html`<div class="tasks-found" aria-live="polite" hidden></div>`);
  (own?.closest("p") ?? board.none).after(found);
  if (own) own.closest("p").hidden = false;
  else {
    box.placeholder = "Model or task";
    box.setAttribute("aria-label", "Find a model or a task");
  }
  let tasks = [];
  window.triathlonTasks = ({ suites }) => {
    tasks = tasksOf(suites);
  };
  const show = async () => {
    const wanted = bare(box.value);
    /* Under the models tasks stand only where no model is found. */
    found.hidden = wanted.length < 2 || (!own && board.none.hidden);
    if (found.hidden) return;
    await load("data/tasks.js");
    if (wanted !== bare(box.value)) return;
    const fitting = search(tasks, wanted);
    if (!own && fitting.length) board.none.hidden = true;
    found.innerHTML = list(fitting, box.value);
  };
  box.addEventListener("input", show);
  if (box.value) show();
})();
