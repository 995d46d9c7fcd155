/* The scatter of two columns, drawn by plotly when somebody asks for it: the large script is not loaded before. */
"use strict";
(() => {
  const { load, loadPlotly, addPlot, plot, gridded } = window.triathlon;
  const place = document.getElementById("scatter"), button = place.querySelector("button");
  const show = ({ figure, models, columns }) => {
    const [left, right] = place.dataset.columns.split(" ").map((column) => columns[column]);
    const both = models.flatMap((_, i) => left.values[i] === null || right.values[i] === null ? [] : [i]);
    const escaped = (line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const [points] = figure.data, still = place.parentElement.querySelector("figure");
    const trace = {
      ...points,
      x: both.map((i) => left.values[i]), y: both.map((i) => right.values[i]),
      text: both.map((i) => [models[i], `${left.title}: ${left.shown[i]}`, `${right.title}: ${right.shown[i]}`].map(escaped).join("<br>")),
      marker: { ...points.marker, color: getComputedStyle(still.querySelector(".dot")).fill },
    };
    const axis = (own, title) => ({ ...gridded(own, still), title: { text: title }, automargin: true });
    const { xaxis, yaxis } = figure.layout;
    plot(addPlot(place, `${right.title} against ${left.title}; the figure above shows the same`), [trace], {
      ...figure.layout, xaxis: axis(xaxis, left.title), yaxis: axis(yaxis, right.title),
    });
    still.hidden = true; /* the same points stand in the plot */
  };

  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await load(`../${place.dataset.file}`);
      const data = window.triathlonColumns;
      await loadPlotly(`../${data.plotly}`, data.styles);
      show(data);
    } catch (error) {
      button.disabled = false;
      place.querySelector("span").textContent = error.message;
    }
  });
  place.hidden = false;
})();
