/* Which models pass, which none beats, which tie, and the sentence that advises one. */
"use strict";
const { test } = require("node:test");
const assert = require("node:assert/strict");
const { rules, given, read } = require("./loaded.js");

const few = () => rules("choose", { triathlonChoices: given.choices });
const BY_SIZE = { score: "loop", cost: "size" };
const say = (chosen, { selection, sentence } = few()) => sentence(selection(chosen), chosen);
const names = (rows) => rows.map(({ model }) => model.name);

test("the best, who cannot be told from it, and the smallest of these; of a few models none is advised", () => {
  const middle = (what) =>
    `Take Middle (4 B): the smallest of the 2 usable ${what} that cannot be told from the best in loop, Large with` +
    " 7.20 (6.80–7.60).";
  assert.equal(
    say({ ...BY_SIZE, open: "open" }),
    "Take Costly (200 B): of 5 usable open models with a known size it scores highest in loop, 9.50 (9.10–9.90)," +
      " and no other comes close enough to doubt it.",
  );
  assert.equal(say({ ...BY_SIZE, open: "open", size: "10" }), middle("open models under 10 B"));
  assert.equal(say({ ...BY_SIZE, size: "10" }), middle("models under 10 B"));
  const only =
    "Only Costly of the usable models of 50 B and more has a score in loop and a known size: too few to advise one.";
  assert.equal(say({ ...BY_SIZE, size: "50-" }), only);
  const two = "Only 2 of the usable models have a score in loop and a known measured cost: too few to advise one.";
  assert.equal(say({ score: "loop", cost: "solved" }), two);
  const none = "Of usable models in 0.1 GB with 4 bits none has a score in loop and a known size: take a filter away, ";
  assert.equal(say({ ...BY_SIZE, memory: "0.1" }), `${none}or choose another score or cost.`);
});

test("the best may be the smallest: it is none of those that tie with it", () => {
  const logic = rules("choose", { triathlonChoices: given.bestIsSmall });
  assert.equal(
    say({ ...BY_SIZE, size: "50" }, logic),
    "Take Large (9 B): of 4 usable models under 50 B with a known size it scores highest in loop, 7.20 (6.80–7.60)," +
      " and none of the others that tie with it (1) is smaller.",
  );
});

test("without filters the frontier is that of the page, equal costs and equal scores included", () => {
  const { selection } = rules("choose", { triathlonChoices: given.many.choices });
  const { rows } = selection(BY_SIZE);
  const shown = rows.filter(({ on }) => on).map(({ model, paid, shown }) => [model.name, paid, shown]);
  assert.deepEqual(shown, given.many.frontier);
});

test("who ties with the best is what the build says of the best", () => {
  const { selection } = few();
  assert.deepEqual(names(selection({ ...BY_SIZE, size: "10" }).rows.filter(({ alike }) => alike)), ["Middle", "Large"]);
  assert.deepEqual(names(selection(BY_SIZE).rows.filter(({ alike }) => alike)), ["Costly"]);
});

test("each filter leaves out whom it says, and whose value is not known", () => {
  const facts = {
    ran: true,
    usable: true,
    open: "open",
    license: "mit",
    size: 7,
    context: 32000,
    price: 2,
    input: 1,
    memory: 5,
  };
  const other = {
    ran: true,
    usable: true,
    open: "closed",
    license: "",
    size: null,
    context: null,
    price: null,
    input: null,
    memory: null,
  };
  const models = [facts, other, { ...facts, usable: false }, { ...facts, ran: false }];
  for (const [place, model] of models.entries())
    Object.assign(model, { name: String(place), any: 1, shown: { any: "1" } });
  const score = {
    id: "s",
    rows: [0, 1, 2, 3],
    value: [1, 1, 1, 1],
    shown: [],
    low: [],
    high: [],
    alike: ["f", "f", "f", "f"],
  };
  const { selection } = rules("choose", { triathlonChoices: { models, scores: [score], costs: [{ id: "any" }] } });
  const left = (chosen) => names(selection({ score: "s", cost: "any", ...chosen }).rows).join(" ");
  assert.equal(left({}), "0 1");
  assert.equal(left({ usable: "all" }), "0 1 2");
  for (const [name, fits, fails] of [
    ["open", "open", "other"],
    ["license", "mit", "gpl"],
    ["size", "10", "1"],
    ["context", "32000", "128000"],
    ["price", "2", "1.9"],
    ["input", "1", "0.9"],
    ["memory", "5", "4.9"],
  ]) {
    assert.equal(left({ [name]: fits }), "0", name);
    assert.equal(left({ [name]: fails }), "", name);
  }
});

test("more than one name more than a sentence has room for are counted", () => {
  const { choices } = given.six;
  assert.match(
    say(BY_SIZE, rules("choose", { triathlonChoices: choices })),
    /^Take Model 0, Model 1, Model 2 or 3 others \(7 B each\):/,
  );
});

test("as many names as a sentence has room for, and one more, are all said", () => {
  const said = say(BY_SIZE, rules("choose", { triathlonChoices: given.four.choices }));
  assert.match(said, /^Take Model 0, Model 1, Model 2 or Model 3 \(7 B each\): the smallest of the 5 usable models/);
});

test("axes have round numbers: at most six, none outside", () => {
  const { ticks } = few();
  assert.deepEqual(ticks(0.3, 9.7), [2, 4, 6, 8]);
  assert.deepEqual(ticks(41, 44), [41, 42, 43, 44]);
  for (const high of [0.07, 1, 3.3, 99, 1234]) assert.ok(ticks(0, high).length <= 6 && ticks(0, high).at(-1) <= high);
});

test("the axis of costs has numbers: round ones, where fewer than two the ends", () => {
  const { selection, figure } = few();
  for (const [costs, shown] of [
    [[3e-5, 2e-4], "0.00005 B 0.0001 B 0.0002 B"],
    [[3.1, 3.4], "3.1 B 3.4 B"],
  ]) {
    const view = selection(BY_SIZE);
    view.rows = view.rows.slice(0, 2).map((row, i) => ({ ...row, cost: costs[i] }));
    const numbers = [...String(figure(view, 1200, "")).matchAll(/>([\d.]+ B)</g)].map(([, text]) => text);
    assert.equal(numbers.join(" "), shown);
  }
});

test("models that cost nothing are on the left edge, and the caption says so, also where all are free", () => {
  for (const [choices, free] of [
    [given.free.some, 2],
    [given.free.all, 3],
  ]) {
    const { selection, figure, caption } = rules("choose", { triathlonChoices: choices });
    const view = selection({ score: "loop", cost: "solved" });
    const places = [...String(figure(view, 700, "")).matchAll(/cx="([^"]*)"/g)].map(([, x]) => Number(x));
    assert.equal(places.length, 3);
    assert.equal(places.filter((x) => x === 36).length, free);
    assert.match(caption(view), /On the left edge: models that cost nothing\./);
  }
});

test("the caption counts who is left out; the table has the frontier, each name escaped", () => {
  const { selection, caption, table } = few();
  assert.match(caption(selection(BY_SIZE)), /1 without a known size is left out\./);
  const view = selection({ ...BY_SIZE, size: "10" });
  view.rows[0].model = { ...view.rows[0].model, name: "<b>" };
  assert.equal(read(table(view)).startsWith("On the frontier Size Score &#60;b&#62; 1 B 5.00 (4.60–5.40)"), true);
});
