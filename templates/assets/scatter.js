/* The scatter of two columns, drawn by plotly when somebody asks for it: the large script is not loaded before. */
"use strict";
(() => {
  const place = document.getElementById("scatter"), button = place.querySelector("button");
  const load = (source) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `../${source}`;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${source} cannot be loaded: is it beside this page?`)));
    document.head.append(script);
  });
  /* Elements that stand where plotly would else write style sheets of its maps, which the policy refuses. */
  const mark = (id) => { const meta = document.createElement("meta"); meta.id = id; document.head.append(meta); };

  const coloured = (axis, title, colour) => ({ ...axis, title: { text: title }, gridcolor: colour, linecolor: colour, zerolinecolor: colour, automargin: true });
  const draw = ({ figure, models, columns }) => {
    const [left, right] = place.dataset.columns.split(" ").map((column) => columns[column]);
    const both = models.flatMap((_, i) => left.values[i] === null || right.values[i] === null ? [] : [i]);
    const style = getComputedStyle(document.body), grid = getComputedStyle(document.querySelector("figure .grid")).stroke;
    const trace = {
      ...figure.data[0],
      x: both.map((i) => left.values[i]), y: both.map((i) => right.values[i]),
      text: both.map((i) => [models[i], `${left.title}: ${left.shown[i]}`, `${right.title}: ${right.shown[i]}`].map((line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;")).join("<br>")),
      marker: { ...figure.data[0].marker, color: getComputedStyle(document.querySelector("figure .dot")).fill },
    };
    const layout = {
      ...figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: style.color, family: style.fontFamily, size: 12 }, margin: { t: 20, r: 20, b: 40, l: 50 },
      xaxis: coloured(figure.layout.xaxis, left.title, grid), yaxis: coloured(figure.layout.yaxis, right.title, grid),
    };
    const plot = document.createElement("div");
    plot.className = "plot";
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `${right.title} against ${left.title}; the figure above shows the same`);
    place.append(plot);
    place.parentElement.querySelector("figure").hidden = true; /* the same points stand in the plot */
    window.Plotly.newPlot(plot, [trace], layout, { displaylogo: false, responsive: true });
  };

  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await load(place.dataset.file);
      const data = window.triathlonColumns;
      data.styles.forEach(mark);
      await load(data.plotly);
      draw(data);
    } catch (error) {
      button.disabled = false;
      place.querySelector("span").textContent = error.message;
    }
  });
  place.hidden = false;
})();
