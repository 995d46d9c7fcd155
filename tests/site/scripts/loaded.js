/* The scripts of the pages as tests read them: their rules, without a page. */
"use strict";
const { readFileSync } = require("node:fs");
globalThis.window = globalThis;

/* The rules of a script, which finds these data as it does on its page. */
exports.rules = (name, data = {}) => {
  Object.assign(globalThis, data);
  for (const file of ["shared", name]) {
    const path = require.resolve(`../../../templates/assets/${file}.js`);
    delete require.cache[path];
    require(path);
  }
  return window.triathlon[name] ?? window.triathlon;
};

/* What the Python test hands over: data of built sites, and what was decided in Python. */
exports.given = JSON.parse(readFileSync(process.env.TRIATHLON_GIVEN, "utf8"));

/* HTML as it is read: without tags, each run of white space a space. */
exports.read = (html) =>
  String(html)
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
