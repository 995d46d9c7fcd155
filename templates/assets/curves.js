/* Degradation curves of many models: a field chooses whose lines are drawn in colour, with their names. Without this
   file the lines that the build names are there, and pointing at a grey one says whose it is. */
"use strict";
(() => {
  const COLOURS = 8, GAP = 15;
  const { make, button, draw, whenPicked } = window.triathlon;

  class Curves {
    constructor(figure, number) {
      this.figure = figure;
      this.grey = new Map([...figure.querySelectorAll(".line.muted")].map((line) => [line.textContent, line]));
      const names = [...this.grey.keys()].sort((a, b) => a.localeCompare(b));
      const list = make("datalist", { id: `curves-${number}` }, ...names.map((name) => make("option", { value: name })));
      const label = "Show a model";
      this.field = make("input", { type: "search", list: list.id, "aria-label": label, placeholder: label });
      this.status = make("output", { class: "status" });
      this.bar = make("div", { class: "controls" }, this.field, list, this.status);
      figure.before(this.bar);
      whenPicked(this.field, () => this.search(this.field.value));
    }

    search(text) {
      const wanted = text.trim().toLowerCase();
      this.status.textContent = "";
      if (!wanted) return;
      const names = [...this.grey.keys()];
      const exact = names.filter((name) => name.toLowerCase() === wanted);
      const matches = exact.length ? exact : names.filter((name) => name.toLowerCase().includes(wanted));
      if (matches.length !== 1) this.status.textContent = matches.length ? `${matches.length} models` : "no grey line of that name";
      else if (this.show(matches[0])) this.field.value = "";
      else this.status.textContent = `at most ${COLOURS} in colour: remove one`;
    }

    /* Draws a grey line in the first colour that is free, its name at its end; false where none is. */
    show(name) {
      const colour = [...Array(COLOURS).keys()].find((number) => !this.figure.querySelector(`g.c${number}`));
      if (colour === undefined) return false;
      const line = this.grey.get(name);
      const points = line.getAttribute("d");
      const [x, y] = points.split(" ").at(-1).replace("M", "").split(",").map(Number);
      const row = this.freeRow(y + 4);
      const group = draw("g", { class: `c${colour}` },
        draw("path", { class: "line", d: points }),
        draw("path", { class: "leader", d: `M${x + 3},${y} ${x + 12},${row - 4}` }),
        draw("circle", { cx: x, cy: y, r: 2.5 }),
        draw("text", { x: x + 15, y: row }, line.dataset.short ?? name));
      const remove = () => {
        group.remove();
        named.remove();
        this.grey.set(name, line);
        line.removeAttribute("visibility");
        this.field.focus();
      };
      const named = button(remove, { class: `c${colour}`, "aria-label": `Remove ${name}` }, make("bdi", {}, name), " ×");
      line.setAttribute("visibility", "hidden");
      this.grey.delete(name);
      this.figure.append(group);
      this.status.before(named);
      return true;
    }

    /* The row nearest to the wanted one that is far enough from all names. */
    freeRow(wanted) {
      const taken = [...this.figure.querySelectorAll("g > text")].map((text) => Number(text.getAttribute("y")));
      for (let away = 0; away < 400; away += 1) {
        for (const row of [wanted - away, wanted + away]) {
          if (row > 10 && taken.every((other) => Math.abs(other - row) >= GAP)) return row;
        }
      }
      return wanted;
    }
  }

  document.querySelectorAll("svg.curves").forEach((figure, number) => new Curves(figure, number));
})();
