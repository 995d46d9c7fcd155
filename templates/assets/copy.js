/* Copies of what a table shows: as Markdown, tab-separated or as a CSV file, with ids and where it is from. */
"use strict";
(() => {
  const { make, button } = window.triathlon;
  const { chooser } = window.triathlonView;
  const clean = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  const copy = async (text, field) => {
    field.hidden = false;
    field.value = text;
    field.select();
    try { await navigator.clipboard.writeText(text); return "copied"; }
    catch { return "press Ctrl-C to copy what is marked"; }
  };

  /* The parts of a cell: what stands in bold, its interval, the letter of its evidence. */
  const parts = (cell) => {
    if (!cell.matches(".score, .rank")) return [clean((cell.querySelector("a, b, abbr") ?? cell).textContent)];
    const small = [...cell.querySelectorAll("small:not(.place)")].find((one) => !one.hidden);
    return [clean(cell.querySelector("b")?.textContent), clean(small?.textContent).replace(/^, /, ""), clean(cell.querySelector("sup")?.textContent)];
  };

  /* Heads and rows of the columns and models that are shown; in `apart`, intervals and letters have columns of their own. */
  const view = (board, apart) => {
    const shown = board.heads.map((head, place) => [head, place]).filter(([head]) => !head.hidden && !head.classList.contains("off"));
    const heads = shown.flatMap(([head, place]) => {
      const name = board.nameOf(head), cell = board.rows[0].row.cells[place];
      if (cell.matches("th")) return [name, "Id"];
      if (!apart || !cell.matches(".score, .rank")) return [name];
      return cell.matches(".rank") ? [name, `${name}, 95 %`] : [name, `${name}, 95 %`, `${name}, evidence`];
    });
    const rows = board.order.filter((item) => item.shown).map(({ row }) => shown.flatMap(([, place]) => {
      const cell = row.cells[place], [value, interval = "", letter = ""] = parts(cell);
      if (cell.matches("th")) return [value, row.dataset.id ?? row.id];
      if (!cell.matches(".score, .rank")) return [value];
      if (!apart) return [[value, interval && `(${interval})`, letter].filter(Boolean).join(" ")];
      return cell.matches(".rank") ? [value, interval] : [value, interval, letter];
    }));
    return [heads, ...rows];
  };

  const about = (board) => [
    clean((board.table.querySelector("[data-order]") ?? board.table.caption)?.textContent) + (board.wanted() ? `; ${board.wanted()}` : ""),
    `Triathlon, results as of ${document.querySelector("footer time")?.dateTime ?? "an unknown day"}, ${location.href}`,
  ];
  const markdown = (board) => {
    const [heads, ...rows] = view(board, false).map((row) => row.map((text) => text.replaceAll("|", "\\|")));
    return [...about(board), "", ...[heads, heads.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`), ""].join("\n");
  };
  const tabs = (board) => view(board, true).map((row) => row.join("\t")).join("\n") + "\n";
  /* A text that a spreadsheet would run as a formula gets an apostrophe in front. */
  const field = (text) => `"${text.replace(/^[=+@\t-]/, "'$&").replaceAll('"', '""')}"`;
  const csv = (board) => [...about(board).map((line) => `# ${line}`), ...view(board, true).map((row) => row.map(field).join(","))].join("\n") + "\n";

  for (const board of window.triathlonBoards.filter(({ controls }) => controls)) {
    const text = make("textarea", { readonly: "", rows: "4", "aria-label": "What was copied" });
    const said = make("output", { class: "status", "aria-live": "polite" });
    text.hidden = true;
    const save = () => {
      const link = make("a", { href: URL.createObjectURL(new Blob([csv(board)], { type: "text/csv" })), download: `triathlon-${board.table.dataset.table}.csv` });
      link.click();
      URL.revokeObjectURL(link.href);
      said.textContent = "saved";
    };
    board.chips.before(chooser("Copy", make("div", { class: "choices" },
      button(async () => { said.textContent = await copy(markdown(board), text); }, {}, "As Markdown"),
      button(async () => { said.textContent = await copy(tabs(board), text); }, {}, "Tab-separated"),
      button(save, {}, "As a CSV file"), said, text)));
  }
  for (const block of document.querySelectorAll("[data-copy]")) {
    const text = make("textarea", { readonly: "", rows: "4", "aria-label": "What was copied" });
    const said = make("output", { class: "status", "aria-live": "polite" });
    text.hidden = true;
    block.after(button(async () => { said.textContent = await copy(block.textContent, text); }, {}, "Copy"), " ", said, text);
  }
})();
