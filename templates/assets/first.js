/* Stands in the page itself: what comes before the first paint, and the loading of the other scripts after it. */
"use strict";
(() => {
  const root = document.documentElement;
  const scripts = (document.currentScript.dataset.scripts ?? "").split(" ").filter(Boolean);
  root.classList.add("js");
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  } catch {
    /* storage is closed: the system's setting stays */
  }

  const addSwitch = (button) => {
    const dark = () =>
      root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const label = () => {
      button.textContent = dark() ? "Light" : "Dark";
    };
    button.hidden = false;
    label();
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        /* the choice lasts for this page */
      }
      label();
    });
  };

  /* In their order. Where one does not come, the page is what it is without scripts. */
  const load = () => {
    let missing = scripts.length;
    for (const source of scripts) {
      const script = document.createElement("script");
      script.src = source;
      script.async = false;
      script.addEventListener("load", () => {
        missing -= 1;
        if (!missing) root.classList.add("ready");
      });
      script.addEventListener("error", () => root.classList.remove("js"));
      document.head.append(script);
    }
  };

  /* What is larger than its place is scrolled with keys, too. */
  const reach = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  window.triathlonReach = (within) => {
    for (const element of within.querySelectorAll("figure, .unit pre")) reach.observe(element);
  };

  /* Who came for a part of the page is led there again where a script has moved it, until they move themselves. */
  let target = null;
  const came = performance.getEntriesByType("navigation")[0]?.type === "navigate" && location.hash.length > 1;
  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(
      name,
      () => {
        target = null;
      },
      { passive: true },
    );
  window.triathlonStay = () => target?.scrollIntoView({ behavior: "instant" });

  document.addEventListener("DOMContentLoaded", () => {
    if (came) target = document.getElementById(location.hash.slice(1));
    window.triathlonReach(document);
    const button = document.querySelector("[data-theme-switch]");
    if (button) addSwitch(button);
    if (!scripts.length) root.classList.add("ready");
    /* Once something is on the screen; a page that nobody sees is not painted and need not wait for it. */
    else if (document.hidden) load();
    else requestAnimationFrame(() => setTimeout(load));
  });
})();
