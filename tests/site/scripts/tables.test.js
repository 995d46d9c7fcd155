/* What a table of the site sorts by, finds and filters. */
"use strict";
const { test } = require("node:test");
const assert = require("node:assert/strict");
const { rules } = require("./loaded.js");
const { choices, fits, keyOf, sorted, keysOf, withSort } = rules("tables");

const ROWS = [["b", 2], ["c", null], ["a", 10], ["mean", 1], ["d", 2]].map(([name, key]) => ({ name, key, top: name === "mean" })); // prettier-ignore
const names = (rows) => rows.map(({ name }) => name).join(" ");

test("ties keep their order; what is missing is last and a mean on top, whichever way", () => {
  const key = (row) => row.key;
  assert.equal(names(sorted(ROWS, key, "ascending")), "mean b d a c");
  assert.equal(names(sorted(ROWS, key, "descending")), "mean a b d c");
  assert.equal(
    names(
      sorted(
        sorted(ROWS, (row) => row.name, "descending"),
        key,
        "ascending",
      ),
    ),
    "mean d b a c",
  );
  assert.equal(names(ROWS), "b c a mean d");
});

test("numbers sort as numbers, texts without regard to capitals; a cell without a value has none", () => {
  assert.equal(keyOf("1e3", true), 1000);
  assert.equal(keyOf("7 B", true), null);
  assert.equal(keyOf("MIT", false), "mit");
  assert.equal(keyOf("", true), null);
  assert.equal(keyOf("", false), null);
});

test("columns have a name each in the address, and the last order comes first there", () => {
  assert.deepEqual(keysOf(["Price out, $/M", "pass@1", "Pass@1", "Rank"]), [
    "price-out-m",
    "pass@1",
    "pass@1~2",
    "rank",
  ]);
  assert.deepEqual(withSort(["-size", "model"], "model", "descending"), ["-model", "-size"]);
  assert.deepEqual(withSort(["-size", "model"], "size", "ascending"), ["size", "model"]);
});

test("every word is found in any spelling, and every filter has to fit", () => {
  const row = {
    text: "gpt4ominiopenai",
    facts: { org: "OpenAI", has: "loop runtime", size: "7", price: "0.6", run: "2026-03-11", grade: "measured" },
  };
  const finds = (words, filters = {}) => fits(row, Object.entries(filters), words);
  for (const words of ["", "GPT-4o", "mini gpt", "  4o "]) assert.ok(finds(words), words);
  assert.ok(!finds("gpt claude"));
  for (const [name, value] of [["org", "OpenAI"], ["has", "runtime"], ["size", "under 10 B"], ["size", "under 50 B"], ["price", "0.6"], ["run", "2026-03"]]) assert.ok(finds("mini", { [name]: value }), name); // prettier-ignore
  for (const [name, value] of [["org", "Open"], ["has", "evolved"], ["size", "under 1 B"], ["price", "0.5"], ["run", "2026-04"], ["license", "mit"]]) assert.ok(!finds("mini", { [name]: value }), name); // prettier-ignore
  assert.ok(!finds("", { org: "OpenAI", price: "0.1" }));
  assert.ok(!fits({ text: "", facts: {} }, [["price", "5"]], ""));
  assert.ok(!fits({ text: "", facts: { size: "10" } }, [["size", "under 10 B"]], ""));
});

test("a filter offers what rows have: sizes from the smallest, others by name", () => {
  const rows = [{ size: "70", org: "beta" }, { size: "0.5", org: "alpha" }, { org: "Gamma" }, { size: "10" }].map(
    (facts) => ({
      facts,
    }),
  );
  assert.deepEqual(choices(rows, "size"), ["under 1 B", "under 10 B", "under 50 B", "50 B and more"]);
  assert.deepEqual(choices(rows, "org"), ["alpha", "beta", "Gamma"]);
  assert.deepEqual(choices(rows, "license"), []);
});
