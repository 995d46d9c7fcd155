/* Conveniences. Every page is complete without this file. */
"use strict";
(() => {
  const button = document.querySelector("[data-theme-switch]");
  if (!button) return;
  const dark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* the choice lasts for this page */ }
    label();
  });
})();
