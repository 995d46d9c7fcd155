/* Before the first paint: the visitor's own choice of theme, if there is one. */
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* storage is closed: the system's setting stays */ }
