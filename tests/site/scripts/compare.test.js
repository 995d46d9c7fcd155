/* What is said of models side by side: differences, the verdict, the tables, the curves. */
"use strict";
const { test } = require("node:test");
const assert = require("node:assert/strict");
const { rules, given, read } = require("./loaded.js");

/* Four models of two boards; `minus` are the differences to the models behind, as the build writes them. */
const COLUMNS = [
  { id: "loop pass@1", title: "Loop pass@1", label: "loop pass@1", headline: true, solving: "loop/core" },
  { id: "loop kept", title: "Loop kept", label: "loop kept", headline: false, solving: null },
  { id: "evolved mean", title: "Evolved mean", label: "evolved mean", headline: true, solving: null },
  { id: "evolved seeds", title: "Evolved seeds", label: "evolved seeds", headline: false, solving: "evolved/seeds" },
].map((column) => ({ ...column, ranked: true, maximum: column.id === "evolved seeds" ? 50 : 100 }));
const FACTS = { alpha: ["", "7B"], beta: ["", ""], gamma: ["", ""], delta: ["", ""] };
const BETTER = "+9.0 +5.0 +13.0 b",
  SAME = "0.0 −4.0 +4.0 n";
const MINUS = {
  alpha: { "loop pass@1": `${SAME};${BETTER};`, "loop kept": `${BETTER};;`, "evolved seeds": `;${BETTER};${BETTER}` },
  beta: { "loop pass@1": `${BETTER};`, "loop kept": ";" },
  gamma: { "loop pass@1": "", "evolved seeds": SAME },
  delta: { "evolved seeds": "" },
};
const SOLVED = { alpha: "110", beta: "101", gamma: "1-0" };
const made = () => {
  const models = Object.keys(FACTS).map((id) => ({
    id,
    name: `Model ${id}`,
    page: `${id}.html`,
    facts: FACTS[id],
    rival: null,
  }));
  models[0].rival = "gamma";
  const triathlonIndex = {
    models,
    start: "alpha",
    facts: ["Price", "Size"],
    reported: ["Other 1"],
    columns: COLUMNS,
    clusters: [["a", "b", "c/d"]],
    clustersOf: { "loop/core": 0 },
    tasks: { "loop/core": "tasks/loop-core.html" },
    boards: { core: "loop, own problems", mbpp: "loop, MBPP+" },
  };
  const logic = rules("compare", { triathlonIndex });
  for (const { id } of models)
    triathlonModel({
      id,
      columns: Object.entries(MINUS[id]).map(([id, minus]) => ({ id, shown: "50.0", interval: "40.0–60.0", minus })),
      solved: id in SOLVED ? { "loop/core": SOLVED[id] } : {},
      evidence: id === "delta" ? {} : { "loop/core": `evidence/${id}/loop-core.html` },
    });
  const models_of = (...ids) => ids.map((id) => logic.known.get(id));
  const say = (...ids) => read(logic.verdict(models_of(...ids), logic.comparisons(models_of(...ids))));
  return { ...logic, models_of, say };
};

test("a difference the other way round is the same with the other sign, and no other is made up", () => {
  const { index, models } = given.compare;
  const { known, difference } = rules("compare", { triathlonIndex: index });
  models.forEach(triathlonModel);
  const turned = { "+": "−", "−": "+" };
  const other = (text) => (turned[text[0]] ?? "") + text.replace(/^[+−]/, "");
  const verdicts = { better: "worse", worse: "better", "no difference shown": "no difference shown" };
  const written = index.models.flatMap(({ id }) =>
    known.get(id).columns.flatMap(({ minus }) => minus.split(";").filter(Boolean)),
  );
  let pairs = 0;
  for (const { id } of index.columns)
    for (const first of known.values())
      for (const second of known.values()) {
        if (first.place >= second.place) continue;
        const [one, two] = [difference(id, first, second), difference(id, second, first)];
        if (one === null) assert.equal(two, null);
        else {
          pairs += 1;
          const { centre, low, high, verdict } = one;
          assert.deepEqual(two, {
            centre: other(centre),
            low: other(high),
            high: other(low),
            verdict: verdicts[verdict],
          });
        }
      }
  assert.equal(pairs, written.length);
  assert.ok(pairs > 20);
});

test("of two models: whether to switch, with each headline's interval", () => {
  const { say } = made();
  const by = "(+9.0, 95 %: +5.0 to +13.0)";
  assert.equal(
    say("gamma", "alpha"),
    `Switch from Model gamma to Model alpha ? Yes. Better in loop pass@1 ${by}, evolved seeds ${by}.`,
  );
  assert.match(say("alpha", "gamma"), /\? No\. Worse in loop pass@1 \(−9\.0, 95.%: −13\.0 to −5\.0\)/);
  assert.match(say("alpha", "beta"), /\? The tasks do not decide it\. No difference shown in loop pass@1 \(0\.0, /);
});

test("columns beside a board's headline are compared only where it is not shared", () => {
  const { comparisons, models_of } = made();
  const compared = (...ids) => comparisons(models_of(...ids)).map(({ column }) => column.id);
  assert.deepEqual(compared("beta", "alpha"), ["loop pass@1"]);
  assert.deepEqual(compared("delta", "alpha"), ["evolved seeds"]);
});

test("of several models each is named, and with whom nothing is shared", () => {
  const { say } = made();
  assert.equal(
    say("beta", "alpha", "gamma", "delta"),
    "Against Model beta : worse in some column: Model gamma; no difference shown: Model alpha; no task in common under one" +
      " protocol and without open units: Model delta.",
  );
  assert.match(
    say("gamma", "alpha", "beta"),
    /^Against Model gamma : better in some column: Model alpha, Model beta\.$/,
  );
  assert.match(say("beta", "delta"), /^They cannot be compared: Model beta and Model delta have no task in common/);
});

test("an address is filled up to two: by a model that shares tasks, then by any; of more than six the first", () => {
  const { startingWith } = made();
  assert.deepEqual(startingWith([""]), ["alpha", "gamma"]);
  assert.deepEqual(startingWith(["delta", "nobody"]), ["delta", "alpha"]);
  assert.deepEqual(startingWith(["beta", "gamma", "alpha"]), ["beta", "gamma", "alpha"]);
});

test("a model is found by its name or id, in any spelling; else, or of too many, it is said why not", () => {
  const { search } = made();
  assert.deepEqual(search("model-BETA", ["alpha"]), { id: "beta" });
  assert.deepEqual(search("elta", []), { id: "delta" });
  assert.equal(search("alpha", ["alpha"]).said, "Model alpha is there already");
  assert.equal(search("model", []).said, "4 models: Model alpha, Model beta, Model gamma …");
  assert.match(search("other-1", []).said, /^of Other 1 others reported figures alone/);
  assert.equal(search("nobody", []).said, "no model of that name");
  const models = ["gpt", "gpt-mini"].map((id) => ({ id, name: id }));
  assert.deepEqual(rules("compare", { triathlonIndex: { models, reported: [] } }).search("GPT", []), { id: "gpt" });
  const eight = [..."abcdefgh"].map((id) => ({ id, name: id.toUpperCase() }));
  const { notesOf } = rules("compare", { triathlonIndex: { models: eight, reported: [] } });
  assert.deepEqual(notesOf([..."ax", "", ..."bcdefgh"]), ["There is no model “x”. ", "Left out: G, H. "]);
});

test("the table has the columns of two models at least, facts that are known, and what is missing as a dash", () => {
  const { table, models_of } = made();
  const rows = (models) => String(table(models)).split("<tr>").slice(1).map(read);
  assert.deepEqual(rows(models_of("alpha", "gamma")), [
    "Column Model alpha Model gamma minus Model alpha",
    "Size 7B –",
    "Loop pass@1 50.0 40.0–60.0 50.0 40.0–60.0 −9.0 −13.0 to −5.0 worse",
    "Evolved seeds 50.0 40.0–60.0 50.0 40.0–60.0 −9.0 −13.0 to −5.0 worse 1 column in which no two can be set side by" +
      " side: on each model’s own page.",
  ]);
  const lonely = rules("compare", { triathlonIndex: { ...triathlonIndex, facts: [] } });
  for (const id of ["beta", "delta"])
    triathlonModel({ id, columns: [{ id: `${id === "beta" ? "loop" : "evolved"} seeds` }] });
  const none = lonely.table([lonely.known.get("beta"), lonely.known.get("delta")]);
  assert.equal(read(none), "1 column in which no two can be set side by side: on each model’s own page.");
});

test("solved by one only: tasks that all ran, each with what the solver wrote beside another", () => {
  const { solvedAlone, alone, models_of } = made();
  assert.deepEqual(solvedAlone(models_of("alpha", "beta")), [[["loop/core", ["b"]]], [["loop/core", ["c/d"]]]]);
  assert.deepEqual(solvedAlone(models_of("alpha", "gamma")), [[], []]); /* the other did not run the second task */
  assert.equal(solvedAlone(models_of("alpha", "delta")), null);
  const html = String(alone(models_of("alpha", "beta")));
  assert.match(read(html), /Model alpha : 1 task loop\/core : b Model beta : 1 task loop\/core : c\/d$/);
  assert.ok(html.includes('href="evidence/beta/loop-core.html?beside=alpha#c/d"'));
  assert.ok(html.includes('href="evidence/alpha/loop-core.html?beside=beta#b"'));
});

test("the axis of curves ends in tens around them, never above 100; curves begin and end at its edges", () => {
  const { axis, curvePath } = made();
  assert.deepEqual(axis([]), [0, 100]);
  assert.deepEqual(axis([100, 100]), [90, 100]);
  assert.deepEqual(axis([43, 71.2]), [40, 80]);
  assert.deepEqual(axis([50]), [50, 60]);
  assert.equal(curvePath([80, 60, 40], [40, 80], "10 110 200 0 3"), "M10.0,0.0 60.0,100.0 110.0,200.0");
});

test("curves are of one board, on which most of the models have one", () => {
  const having = (...boards) => ({ curves: Object.fromEntries(boards.map((board) => [board, {}])) });
  const drawn = (...models) => made().curvesOn(models);
  assert.equal(drawn(having("core", "mbpp"), having("mbpp")), "mbpp");
  assert.equal(drawn(having("core", "mbpp"), having("core", "mbpp")), "core");
  assert.equal(drawn(having(), having()), undefined);
});

test("differences are drawn on the scale of their column, right of the middle where they are better", () => {
  const { comparisons, forest, models_of } = made();
  const models = models_of("gamma", "alpha", "beta");
  const places = [...String(forest(models, comparisons(models))).matchAll(/cx="([\d.]+)%"/g)].map(([, x]) => Number(x));
  const expected = [9, 18, 9].map((share) => 50 + (48 * share) / 26);
  assert.deepEqual(places.map(Math.round), expected.map(Math.round));
});
