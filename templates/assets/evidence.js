/* The units of one suite: a list to filter, and what was written for the task that the address names. Packs are small
   scripts, because a page opened from a file may not fetch. */
"use strict";
(() => {
  const { make, load, setQuery, bare, anchor } = window.triathlon;
  const place = document.getElementById("unit"),
    list = document.getElementById("units");
  const filters = document.getElementById("filters"),
    count = filters.querySelector("output");
  const [show, beside, search] = ["show", "beside", "task"].map((name) => filters.querySelector(`[data-${name}]`));
  const asked = new URLSearchParams(location.search);
  const { packs, model: ownName } = place.dataset;
  const command = document.querySelector("[data-command]"),
    verify = command.textContent;
  const asking = new Map(),
    unpacked = new Map();

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  window.triathlonPack = (text) => unpacked.set(document.currentScript.src, unpack(text));
  const fetched = async (path) => {
    const { href } = new URL(path, location.href);
    if (!asking.has(href)) asking.set(href, load(path));
    await asking.get(href);
    return unpacked.get(href);
  };
  const folder = (other) => (other ? `../${other}/${packs}` : packs);
  const entryOf = (index, task) => index.tasks.find(([name]) => name === task);

  /* `#task`, `#task@2` for its second sample.*/
  const named = () => {
    const [, task, sample] = /^(.*?)(?:@(\d+))?$/.exec(location.hash.slice(1));
    try {
      return { task: decodeURIComponent(task), sample };
    } catch {
      return {};
    }
  };

  const written = async (other, task) => {
    const entry = entryOf(await fetched(`${folder(other)}/index.js`), task);
    const name = other ? beside.selectedOptions[0].text : ownName;
    const holder = make("div", {}, ...(beside?.value ? [make("h3", {}, name)] : []));
    if (!entry) holder.append(make("p", { class: "muted" }, "was not asked."));
    /* Made of escaped templates when the site was built; the content policy lets no script in it run. */
    else
      holder.append(
        Object.assign(document.createElement("template"), {
          innerHTML: (await fetched(`${folder(other)}/${entry[1]}.js`))[task],
        }).content,
      );
    return holder;
  };
  const neighbour = (task, step) => {
    const items = [...list.children].filter((item) => !item.hidden || item.dataset.task === task);
    const failing = (item) => !item.querySelector("a").classList.contains("passed");
    for (let i = items.findIndex((item) => item.dataset.task === task) + step; items[i]; i += step)
      if (failing(items[i])) return items[i].dataset.task;
    return null;
  };
  const step = (label, task) => (task === null ? label : make("a", { href: `#${anchor(task)}` }, label));

  /* Opens the box with the command and the files; the address stays that of the unit. */
  const check = (event) => {
    event.preventDefault();
    const box = document.getElementById("check");
    box.open = true;
    box.scrollIntoView({ behavior: "instant" });
    box.querySelector("summary").focus({ preventScroll: true });
  };

  let turn = 0;
  const open = async (index) => {
    const { task, sample } = named(),
      thisTurn = (turn += 1);
    const known = entryOf(index, task);
    place.hidden = !known;
    command.textContent = known
      ? `${verify} --tasks ${/^[\w/.-]+$/.test(task) ? task : `'${task.replaceAll("'", "'\\''")}'`}`
      : verify;
    for (const item of list.children) item.toggleAttribute("aria-current", item.dataset.task === task);
    if (!known) return;
    const sides = await Promise.all([written("", task), ...(beside?.value ? [written(beside.value, task)] : [])]);
    if (thisTurn !== turn) return; /* another was opened meanwhile */
    const steps = make(
      "p",
      { class: "steps" },
      step("previous not passed", neighbour(task, -1)),
      " · ",
      step("next not passed", neighbour(task, 1)),
      " · ",
      step("address of this unit", task),
      " · ",
      make("a", { href: "#check", click: check }, "check it yourself"),
    );
    place.replaceChildren(steps, make("div", { class: sides.length > 1 ? "beside" : "" }, ...sides));
    window.triathlonReach(place);
    const part =
      sample &&
      [...place.querySelectorAll("[data-samples]")].find((one) => one.dataset.samples.split(" ").includes(sample));
    (part || place).scrollIntoView({ behavior: "instant" });
    place.querySelector("h2")?.focus({ preventScroll: true });
    document.documentElement.dataset.shown = task;
  };

  const remember = () => {
    setQuery(
      new URLSearchParams(
        [
          ["show", show.value],
          ["beside", beside?.value ?? ""],
        ].filter(([, value]) => value),
      ).toString(),
    );
  };
  const filter = async (index) => {
    const rival = beside?.value
      ? new Map((await fetched(`${folder(beside.value)}/index.js`)).tasks.map(([task, , ended]) => [task, ended]))
      : null;
    const differs = (task, ended) => rival?.has(task) && (rival.get(task) === "passed") !== (ended === "passed");
    const wanted = bare(search.value);
    let shown = 0;
    index.tasks.forEach(([task, , ended, kinds], i) => {
      const fits = !show.value || (show.value === "differs" ? differs(task, ended) : kinds.includes(show.value));
      list.children[i].hidden = !fits || !bare(task).includes(wanted);
      shown += !list.children[i].hidden;
    });
    count.textContent = `${shown} of ${index.tasks.length}`;
  };

  const start = async () => {
    const index = await fetched(`${packs}/index.js`);
    index.tasks.forEach(([task], i) => {
      list.children[i].dataset.task = task;
      list.children[i].querySelector("a").href = `#${anchor(task)}`;
    });
    const counts = new Map();
    for (const [, , , kinds] of index.tasks) for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [kind, number] of [...counts].sort())
      show.append(make("option", { value: kind }, `${kind.replaceAll("_", " ")} (${number})`));
    if (beside) show.append(make("option", { value: "differs" }, "other outcome than the model beside"));
    show.value = asked.get("show") ?? "";
    if (show.selectedIndex < 0) show.value = "";
    if (beside) {
      beside.value = asked.get("beside") ?? "";
      if (beside.selectedIndex < 0) beside.value = "";
    }
    filters.hidden = false;
    const again = async () => {
      remember();
      await filter(index);
      await open(index);
    };
    for (const select of [show, beside]) select?.addEventListener("change", again);
    search.addEventListener("input", () => filter(index));
    addEventListener("hashchange", () => open(index));
    await filter(index);
    await open(index);
  };
  start().catch((error) => {
    place.hidden = false;
    place.replaceChildren(make("p", { class: "notice" }, error.message));
  });
})();
