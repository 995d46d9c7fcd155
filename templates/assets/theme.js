/* Before the first paint, so it stands in the page itself: the visitor's own theme, and that scripts run. */
document.documentElement.classList.add("js");
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* storage is closed: the system's setting stays */ }
