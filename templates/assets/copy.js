/* Copies of what a table shows: as Markdown, tab-separated or as a CSV file, with ids and where it is from. */
"use strict";
(() => {
  const { make, button } = window.triathlon;
  const { chooser } = window.triathlonView;
  /* A dash alone stands for what is missing. */
  const clean = (text) => (text ?? "").replace(/\s+/g, " ").trim().replace(/^–$/, "");

  /* Buttons that copy what `read` returns, with the field that has it then and what is said of it. */
  const copying = () => {
    const text = make("textarea", { readonly: "", rows: "4", "aria-label": "What was copied", hidden: "" });
    const said = make("output", { class: "status" });
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
    return { press: (label, read) => button(() => copy(read), {}, label), text, said };
  };

  /* The parts of a cell of a score or rank: what stands in bold, its interval, the letter of its evidence, and what
     else is said of it: `± 0.3`, `1 column`. */
  const INTERVAL = /^(?:([−+]?[\d.]+(?:–| to )[−+]?[\d.]+)(?:, )?)?(.*)$/;
  const parts = (cell) => {
    const small = cell.querySelector("small:not(.place)");
    const [, interval = "", note] = INTERVAL.exec(clean(small?.textContent).replace(/^, /, ""));
    return [clean(cell.querySelector("b")?.textContent), interval, clean(cell.querySelector("sup")?.textContent), note];
  };

  /* What a column of the table is in a copy: one column or several, each with its head; in `apart`, the parts of a
     score have columns of their own. */
  const copied = (board, place, rows, apart) => {
    const name = board.nameOf(board.heads[place]),
      { cells: kind } = board.rows[0].row;
    const cells = rows.map((row) => row.cells[place]);
    const plain = cells.map((cell) => clean((cell.querySelector("a, b, abbr") ?? cell).textContent));
    if (kind[place].matches("th"))
      return [
        [name, ...plain],
        ["Id", ...rows.map((row) => row.dataset.id ?? row.id)],
      ];
    if (!kind[place].matches(".score, .rank")) return [[name, ...plain]];
    const found = cells.map(parts);
    if (!apart)
      return [
        [
          name,
          ...found.map(([value, interval, letter, note]) =>
            [value, interval || note ? `(${[interval, note].filter(Boolean).join(", ")})` : "", letter]
              .filter(Boolean)
              .join(" "),
          ),
        ],
      ];
    const always = kind[place].matches(".rank") ? 2 : 3;
    const columns = [name, `${name}, 95 %`, `${name}, evidence`, `${name}, note`].map((title, i) => [
      title,
      ...found.map((one) => one[i]),
    ]);
    return columns.filter(([, ...texts], i) => i < always || texts.some(Boolean));
  };

  /* Heads and rows of the columns and models that are shown. */
  const view = (board, apart) => {
    const shown = board.heads.flatMap((head, place) => (head.hidden || head.classList.contains("off") ? [] : [place]));
    const rows = board.order.filter((item) => item.shown).map(({ row }) => row);
    const columns = shown.flatMap((place) => copied(board, place, rows, apart));
    return ["heads", ...rows].map((_, i) => columns.map((column) => column[i]));
  };

  const about = (board) => [
    clean((board.table.querySelector("[data-order]") ?? board.table.caption)?.textContent) +
      (board.wanted() ? `; ${board.wanted()}` : ""),
    `Triathlon, results as of ${document.querySelector("footer time")?.dateTime ?? "an unknown day"}, ${location.href}`,
  ];
  const markdown = (board) => {
    const [heads, ...rows] = view(board, false).map((row) => row.map((text) => text.replaceAll("|", "\\|")));
    return [
      ...about(board),
      "",
      ...[heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`),
      "",
    ].join("\n");
  };
  const tabs = (board) =>
    view(board, true)
      .map((row) => row.join("\t"))
      .join("\n") + "\n";
  /* A text that a spreadsheet would run as a formula gets an apostrophe in front. */
  const field = (text) => `"${text.replace(/^[=+@\t-]/, "'$&").replaceAll('"', '""')}"`;
  const csv = (board) =>
    [...about(board).map((line) => `# ${line}`), ...view(board, true).map((row) => row.map(field).join(","))].join(
      "\n",
    ) + "\n";

  for (const board of window.triathlonBoards.filter(({ controls }) => controls)) {
    const { press, text, said } = copying();
    const save = () => {
      const link = make("a", {
        href: URL.createObjectURL(new Blob([csv(board)], { type: "text/csv" })),
        download: `triathlon-${board.table.dataset.table}.csv`,
      });
      link.click();
      URL.revokeObjectURL(link.href);
      said.textContent = "saved";
    };
    const forms = [press("As Markdown", () => markdown(board)), press("Tab-separated", () => tabs(board))];
    board.chips.before(chooser("Copy", [...forms, button(save, {}, "As a CSV file"), said, text]));
  }
  for (const block of document.querySelectorAll("[data-copy]")) {
    const { press, text, said } = copying();
    block.after(
      press("Copy", () => block.textContent),
      " ",
      said,
      text,
    );
  }
})();
