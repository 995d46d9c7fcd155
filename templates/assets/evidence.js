/* The units of one suite: a list to filter, and what was written for the task that the address names. Packs are small
   scripts, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const { html, make, load, setQuery, bare, anchor } = window.triathlon;

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  /* `#task`, `#task@2` for its second sample. */
  const named = (hash) => {
    const [, task, sample] = /^#?(.*?)(?:@(\d+))?$/.exec(hash);
    try {
      return { task: decodeURIComponent(task), sample };
    } catch {
      return {};
    }
  };
  /* A task as the command in a shell names it. */
  const quoted = (task) => (/^[\w/.-]+$/.test(task) ? task : `'${task.replaceAll("'", "'\\''")}'`);
  /* Whether a task is listed; `rival`: by task, how the units of the model beside ended. */
  const fits = ([task, , ended, kinds], { show, text, rival }) => {
    const differs = () => rival?.has(task) && (rival.get(task) === "passed") !== (ended === "passed");
    return (!show || (show === "differs" ? differs() : kinds.includes(show))) && bare(task).includes(bare(text));
  };

  window.triathlon.evidence = { unpack, named, quoted, fits };
  if (!window.document) return;

  const place = document.getElementById("unit"),
    items = [...document.getElementById("units").children];
  const filters = document.getElementById("filters"),
    count = filters.querySelector("output");
  const [show, beside, search] = ["show", "beside", "task"].map((name) => filters.querySelector(`[name=${name}]`));
  const asked = new URLSearchParams(location.search);
  const { packs, model: ownName } = place.dataset;
  const command = document.querySelector("[data-command]"),
    verify = command.textContent;

  const unpacked = new Map();
  window.triathlonPack = (text) => unpacked.set(document.currentScript.src, unpack(text));
  /* A file of the packs of this model, or of the other one whose folder is named. */
  const fetched = async (other, file) => {
    const path = `${other ? `../${other}/` : ""}${packs}/${file}.js`;
    await load(path);
    return unpacked.get(new URL(path, location.href).href);
  };

  const written = async (other, task) => {
    const { tasks } = await fetched(other, "index");
    const entry = tasks.find(([name]) => name === task);
    const name = other ? beside.selectedOptions[0].text : ownName;
    const holder = make(html`<div>${beside.value ? html`<h3>${name}</h3>` : ""}</div>`);
    /* Made of escaped templates when the site was built; the content policy lets no script in it run. */
    const unit = entry ? (await fetched(other, entry[1]))[task] : html`<p class="muted">was not asked.</p>`;
    holder.insertAdjacentHTML("beforeend", unit);
    return holder;
  };
  const step = (label, task) => (task === null ? label : html`<a href="#${anchor(task)}">${label}</a>`);
  const stepsOf = (task) => {
    const listed = items.filter((item) => !item.hidden || item.dataset.task === task);
    const at = listed.findIndex((item) => item.dataset.task === task);
    const failing = (item) => !item.querySelector("a").classList.contains("passed");
    const previous = listed.slice(0, at).findLast(failing)?.dataset.task ?? null,
      next = listed.slice(at + 1).find(failing)?.dataset.task ?? null;
    return html`<p class="steps">${step("previous not passed", previous)} · ${step("next not passed", next)} ·
      ${step("address of this unit", task)} · <a href="#check">check it yourself</a></p>`;
  };

  /* Opens the box with the command and the files; the address stays that of the unit. */
  const check = (event) => {
    event.preventDefault();
    const box = document.getElementById("check");
    box.open = true;
    box.scrollIntoView({ behavior: "instant" });
    box.querySelector("summary").focus({ preventScroll: true });
  };

  let turn = 0;
  const open = async ({ tasks }) => {
    const { task, sample } = named(location.hash);
    const isKnown = tasks.some(([name]) => name === task);
    if (!isKnown && document.getElementById(location.hash.slice(1))) return; /* of another part of the page */
    const thisTurn = (turn += 1);
    place.hidden = !isKnown;
    command.textContent = isKnown ? `${verify} --tasks ${quoted(task)}` : verify;
    for (const item of items) item.ariaCurrent = item.dataset.task === task ? "true" : null;
    if (!isKnown) return;
    const sides = await Promise.all((beside.value ? ["", beside.value] : [""]).map((other) => written(other, task)));
    if (thisTurn !== turn) return; /* another was opened meanwhile */
    place.innerHTML = html`${stepsOf(task)}<div class="${beside.value && "beside"}"></div>`;
    place.lastElementChild.append(...sides);
    place.querySelector("[href='#check']").addEventListener("click", check);
    window.triathlonReach(place);
    const samples = [...place.querySelectorAll("[data-samples]")];
    const part = sample && samples.find((one) => one.dataset.samples.split(" ").includes(sample));
    (part || place).scrollIntoView({ behavior: "instant" });
    place.querySelector("h2")?.focus({ preventScroll: true });
    document.documentElement.dataset.shown = task;
  };

  const filter = async ({ tasks }) => {
    const differs = show.querySelector("[value=differs]");
    if (differs) differs.disabled = !beside.value;
    if (!beside.value && show.value === "differs") show.value = "";
    const ends = async () => (await fetched(beside.value, "index")).tasks.map(([task, , ended]) => [task, ended]);
    const rival = beside.value ? new Map(await ends()) : null;
    tasks.forEach((task, i) => {
      items[i].hidden = !fits(task, { show: show.value, text: search.value, rival });
    });
    count.textContent = `${items.filter((item) => !item.hidden).length} of ${tasks.length}`;
  };

  const start = async () => {
    const index = await fetched("", "index");
    index.tasks.forEach(([task], i) => {
      items[i].dataset.task = task;
      items[i].querySelector("a").href = `#${anchor(task)}`;
    });
    const differs = beside.length > 1 ? [["differs", "other outcome than the model beside"]] : [];
    for (const [value, text] of [...index.kinds, ...differs]) show.add(new Option(text, value));
    for (const select of [show, beside]) {
      select.value = asked.get(select.name) ?? "";
      if (select.selectedIndex < 0) select.value = "";
    }
    filters.hidden = false;
    const again = async () => {
      await filter(index);
      setQuery([show, beside].map((select) => [select.name, select.value]));
      await open(index);
    };
    for (const select of [show, beside]) select.addEventListener("change", again);
    search.addEventListener("input", () => filter(index));
    addEventListener("hashchange", () => open(index));
    await filter(index);
    await open(index);
  };
  start().catch((error) => {
    place.hidden = false;
    place.innerHTML = html`<p class="notice">${error.message}</p>`;
  });
})();
