/* What the smaller scripts decide: addresses of tasks, places, copies, units. */
"use strict";
const { test } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { rules, given, read } = require("./loaded.js");

test("the address of a task is the id that the build writes", () => {
  const { anchor } = rules("shared");
  for (const [task, id] of Object.entries(given.anchors)) assert.equal(anchor(task), id);
});

test("values in HTML are escaped once, and lists are joined", () => {
  const { html } = rules("shared");
  assert.equal(
    String(html`<b title="${'"<&'}">${["a", html`<i>${"'"}</i>`, ""]}</b>`),
    '<b title="&#34;&#60;&#38;">a<i>&#39;</i></b>',
  );
});

test("a task is found by a part of its name: itself first, then what begins with it, numbers in their order", () => {
  const { tasksOf, search, list } = rules("find");
  const tasks = tasksOf([
    [
      "One",
      { "tasks/one/1.html": ["Mbpp/5", "Mbpp/57"], "tasks/one/2.html": ["x/5", "Mbpp/100", "Mbpp/57(a)", "Mbpp 5x"] },
    ],
    ["Two", { "tasks/two/1.html": ["Mbpp/57"] }],
  ]);
  const found = (wanted) => search(tasks, wanted).map(({ name }) => name);
  assert.deepEqual(found("mbpp5"), ["Mbpp/5", "Mbpp 5x", "Mbpp/57", "Mbpp/57(a)"]);
  assert.deepEqual(found("7"), ["Mbpp/57", "Mbpp/57(a)"]);
  assert.deepEqual(found("x"), ["x/5", "Mbpp 5x"]);
  assert.deepEqual(found("mbpp"), ["Mbpp 5x", "Mbpp/5", "Mbpp/57", "Mbpp/57(a)", "Mbpp/100"]);
  assert.deepEqual(search(tasks, "mbpp57a")[0].pages, [["One", "tasks/one/2.html#Mbpp/57%28a%29"]]);
  assert.equal(read(list(search(tasks, "mbpp57"), "")), "Mbpp/57 One · Two Mbpp/57(a) One");
  assert.equal(read(list([], " <no> ")), "No task matches “&#60;no&#62;”.");
  const twelve = String(list(Array(12).fill(tasks[0]), ""));
  assert.match(read(twelve), /and 2 more tasks$/);
  assert.equal(twelve.split("<li>").length, 11);
});

test("each task of a built site is found on the pages where it stands", () => {
  const { tasksOf } = rules("find");
  const found = tasksOf(given.tasks.suites).flatMap(({ pages }) => pages.map(([, page]) => page));
  assert.deepEqual(found.sort(), given.tasks.addresses);
});

test("a rank is read with its ends, the place of a figure alone", () => {
  const { rankCell } = rules("front");
  assert.equal(read(rankCell("=3", "1", "80")), "rank =3 , 1 to 80");
  assert.equal(read(rankCell("2", "2", "2")), "rank 2");
  assert.equal(read(rankCell("(5)")), "rank (5)");
  assert.equal(read(rankCell()), "–");
});

test("a copy runs nothing in a spreadsheet", () => {
  const { markdown, tabs, csv } = rules("copy");
  const rows = [
    ["Model", "a|b"],
    ["=1+1", 'say "x"'],
  ];
  assert.equal(markdown(rows), '| Model | a\\|b |\n| --- | --- |\n| =1+1 | say "x" |\n');
  assert.equal(tabs(rows), 'Model\ta|b\n=1+1\tsay "x"\n');
  assert.equal(csv([], [["+2", "-1.5?", "-1+1", "+2.1?A1"]]), '\ufeff"+2","-1.5?","\'-1+1","\'+2.1?A1"\n');
  assert.equal(csv([], [["=3", "=3+1", "＝A1", "＋1"]]), '\ufeff"=3","\'=3+1","\'＝A1","\'＋1"\n');
  assert.equal(csv(["of a day"], rows), '\ufeff# of a day\n"Model","a|b"\n"\'=1+1","say ""x"""\n');
});

test("a pack is what the build packed; an address names a task and its sample", async () => {
  const { unpack, named } = rules("evidence");
  assert.deepEqual(await unpack(given.pack.text), given.pack.content);
  assert.deepEqual(named("#core/3%281%29@2"), { task: "core/3(1)", sample: "2" });
  assert.equal(named("#core/3@12").sample, "12");
  assert.deepEqual(named("#core/3"), { task: "core/3", sample: undefined });
  assert.deepEqual(named("#%"), {});
});

test("a task in the command is one word for the shell, whatever its name", () => {
  const { quoted } = rules("evidence");
  for (const task of ["core/3", 'it\'s $HOME `x` "y"', "a b;c", "*"])
    assert.equal(execFileSync("sh", ["-c", `printf %s ${quoted(task)}`], { encoding: "utf8" }), task);
  assert.equal(quoted("core/3"), "core/3");
});

test("units are listed by how they ended, by their name, or where the model beside ended otherwise", () => {
  const { fits } = rules("evidence");
  const unit = ["Core/3", 1, "passed", ["passed", "kept"]];
  const rival = new Map([["Core/3", "failed"]]);
  const listed = (wanted) => fits(unit, { show: "", text: "", rival: null, ...wanted });
  assert.ok(listed({}) && listed({ show: "kept" }) && listed({ text: "core 3" }) && listed({ show: "differs", rival }));
  assert.ok(!listed({ show: "failed" }) && !listed({ text: "4" }) && !listed({ show: "differs" }));
  assert.ok(!listed({ show: "differs", rival: new Map([["Core/3", "passed"]]) }));
});
