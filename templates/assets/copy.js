/* Copies of what a table shows: as Markdown, tab-separated or as a CSV file, with ids and where it is from. */
"use strict";
(() => {
  const { html, make } = window.triathlon;
  /* A dash alone stands for what is missing. */
  const clean = (text) => (text ?? "").replace(/\s+/g, " ").trim().replace(/^–$/, "");

  const markdown = (rows) => {
    const [head, ...others] = rows.map((row) => row.map((text) => text.replaceAll("|", "\\|")));
    return [head, head.map(() => "---"), ...others].map((row) => `| ${row.join(" | ")} |\n`).join("");
  };
  const tabs = (rows) => rows.map((row) => `${row.join("\t")}\n`).join("");
  /* A text that a spreadsheet would run as a formula gets an apostrophe in front; a number such as a shift, or a rank, does not. */
  const field = (text) => `"${text.replace(/^(?![+-][\d.]+\??$|=\d+$)[=+@\t＝＋－＠-]/, "'$&").replaceAll('"', '""')}"`;
  /* Behind lines about it, and a mark without which a spreadsheet takes the dashes of intervals for other letters. */
  const csv = (about, rows) => {
    const lines = [...about.map((line) => `# ${line}`), ...rows.map((row) => row.map(field).join(","))];
    return `\ufeff${lines.join("\n")}\n`;
  };

  window.triathlon.copy = { markdown, tabs, csv };
  if (!window.document) return;

  /* Buttons that copy what `read` returns, with the field that has it then and what is said of it. */
  const copying = () => {
    const text = make(html`<textarea readonly rows="4" aria-label="What was copied" hidden></textarea>`);
    const said = make(html`<output class="status"></output>`);
    const copy = async (read) => {
      text.hidden = false;
      text.value = read();
      text.select();
      try {
        await navigator.clipboard.writeText(text.value);
        said.textContent = "copied";
      } catch {
        said.textContent = "press Ctrl-C to copy what is marked";
      }
    };
    const press = (label, read) => make(html`<button type="button">${label}</button>`, { click: () => copy(read) });
    return { press, text, said };
  };

  /* The parts of a cell of a score or rank: what stands in bold, its interval, the letter of its evidence, its note,
     such as `± 0.3` or `1 column`. */
  const parts = (cell) => {
    const text = (selector) => clean(cell.querySelector(selector)?.textContent);
    const note = text(".note");
    const interval = text("small:not(.place)")
      .replace(note, "")
      .replace(/^, |, $/g, "");
    return [text("b"), interval, text("sup"), note];
  };
  const inOne = ([value, interval, letter, note]) => {
    const beside = [interval, note].filter(Boolean).join(", ");
    return [value, beside && `(${beside})`, letter].filter(Boolean).join(" ");
  };

  const isFilled = ([, ...texts]) => texts.some(Boolean);
  /* The text of a cell without small print; behind a number that is not significant stands its `?`. */
  const plainText = (cell) => clean((cell.querySelector("a, b, abbr:first-child") ?? cell).textContent);

  /* What a column of the table is in a copy: one column or several, each with its head; in `apart`, the parts of a
     score have columns of their own. */
  const copied = (board, place, rows, apart) => {
    const name = board.names[place],
      kind = board.rows[0].row.cells[place];
    const cells = rows.map((row) => row.cells[place]);
    const plain = [name, ...cells.map(plainText)];
    const ids = ["Id", ...rows.map((row) => row.dataset.id ?? row.id)];
    if (kind.matches("th")) return [plain, ids].filter(isFilled);
    if (!kind.matches(".score, .rank")) return [plain];
    const found = cells.map(parts);
    if (!apart) return [[name, ...found.map(inOne)]];
    return [name, `${name}, 95 %`, `${name}, evidence`, `${name}, note`]
      .map((title, i) => [title, ...found.map((one) => one[i])])
      .filter((column, i) => !i || isFilled(column));
  };

  /* Heads and rows of the columns and models that are shown. */
  const view = (board, apart) => {
    const rows = board.order.filter((item) => item.shown).map(({ row }) => row);
    const columns = board.heads.flatMap((head, place) =>
      head.hidden || head.classList.contains("off") ? [] : copied(board, place, rows, apart),
    );
    return ["heads", ...rows].map((_, i) => columns.map((column) => column[i]));
  };
  const about = (board) => [
    [clean((board.table.querySelector("[data-order]") ?? board.table.caption)?.textContent), board.wanted()]
      .filter(Boolean)
      .join("; "),
    `Triathlon, results as of ${document.querySelector("footer time")?.dateTime ?? "an unknown day"}, ${location.href}`,
  ];

  for (const board of window.triathlonBoards.filter(({ controls }) => controls)) {
    const { press, text, said } = copying();
    const click = () => {
      const file = new Blob([csv(about(board), view(board, true))], { type: "text/csv" });
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file) });
      link.download = `triathlon-${board.table.dataset.table}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
      said.textContent = "saved";
    };
    const chooser = window.triathlonView.chooser("Copy", "");
    chooser.lastElementChild.append(
      press("As Markdown", () => [...about(board), "", markdown(view(board, false))].join("\n")),
      press("Tab-separated", () => tabs(view(board, true))),
      make(html`<button type="button">As a CSV file</button>`, { click }),
      said,
      text,
    );
    board.chips.before(chooser);
  }
  for (const block of document.querySelectorAll("[data-copy]")) {
    const { press, text, said } = copying();
    const button = press("Copy", () => block.textContent);
    block.after(button, " ", said, text);
  }
})();
