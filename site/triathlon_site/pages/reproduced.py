"""A paper's tables beside our own figures under its protocol: a page for each paper with such results."""

from collections.abc import Iterator
from typing import Any

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.records import known_protocols
from triathlon_site.exports import table_files
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import left_out_programs
from triathlon_site.published import PublishedColumn
from triathlon_site.render import Draft, Link, Section, Value, formats
from triathlon_site.reproduction import Cell, Reproduced, Row, measured_files, reproduced
from triathlon_site.reproduction_plan import PAPERS, Paper, PaperName


def reproduced_page(paper: PaperName) -> str:
    """Returns the address of a paper's page on the site."""
    return f"published/{paper}-reproduced.html"


def papers(site: Gathered) -> Iterator[tuple[PaperName, list[Reproduced]]]:
    """The papers that there are results for, with their tables."""
    names = {model: site.published_names.get(model, info.name) for model, info in site.models.items()}
    for name, paper in PAPERS.items():
        if tables := reproduced(paper, site.reported.tables, site.published, site.results, names):
            yield name, tables


def draft(site: Gathered, name: PaperName, tables: list[Reproduced], siblings: list[Link]) -> Draft:
    """The page of one paper."""
    paper = PAPERS[name]
    sections = []
    for table in tables:
        head = ("Model", *(column.title for column in table.columns), "Tasks")
        rows = tuple(_row(site, table.columns, row) for row in table.rows)
        sections.append((Section(table.title, "", head, rows), f"data/reproduced-{table.table.id}.csv"))
    differences = [difference for table in tables for difference in table.differences]
    values = {
        "title": paper.title,
        "siblings": siblings,
        "compared": len(differences),  # cells that the paper has and we have
        "apart": sum(difference.sure for difference in differences),
        "sections": sections,
        "page": tables[0].table.page,
        "notes": paper.notes,
        "suites": list(_suites(site, paper)),
    }
    files = tuple(file for section, path in sections for file in table_files(path, section))
    return Draft(reproduced_page(name), "published/reproduced", values, files)


def _row(site: Gathered, columns: tuple[PublishedColumn, ...], row: Row) -> tuple[Value, ...]:
    if not row.model:
        assert row.published is not None, "a row without a model of ours is one of the paper"
        name = Value(f"{row.published.name}, in the paper")
    else:
        info = site.models[row.model]
        other = "" if row.published else "not in the paper’s table"
        if row.published and row.published.name != info.name:
            other = f"in the paper: {row.published.name}"
        thinking = ", chain of thought" if row.cot else ""
        name = Value(f"{info.label}{thinking}", other, link=info.page)
    cells = (_cell(cell, column) for cell, column in zip(row.cells, columns, strict=True))
    return (name, *cells, _tasks(row))


def _cell(cell: Cell, column: PublishedColumn) -> Value:
    """Ours; below it the paper's, and the difference with its interval."""
    own, lines, details = cell.own, [], dict[str, float | None]()
    if cell.paper:
        known = "" if cell.paper.deviation is None else f" ± {cell.paper.deviation:g}"
        lines.append(f"paper {cell.paper.text}{known}")
        details["paper"] = float(cell.paper.text)
    if (found := cell.difference) is not None:
        low, high = (_signed(end, column) for end in (found.interval.low, found.interval.high))
        lines += [_signed(found.value, column), f"{low} to {high}"]
        ends = {"": found.value, " low": found.interval.low, " high": found.interval.high}
        details |= {f"difference{end}": formats.in_unit(n, column.maximum) for end, n in ends.items()}
    if own is None:
        return Value(formats.NONE, "\n".join(lines), details=details)
    low, high = column.shown(own.value), column.shown(own.value if own.upper is None else own.upper)
    text = low if low == high else f"{low}–{high}"
    sure = cell.difference is None or cell.difference.sure
    return Value(text, "\n".join(lines), formats.in_unit(own.middle, column.maximum), details, sure=sure)


def _signed(value: float, column: PublishedColumn) -> str:
    size = column.shown(abs(value))
    return size if not float(size) else f"{formats.MINUS if value < 0 else '+'}{size}"


def _tasks(row: Row) -> Value:
    """How many tasks the row has, of those that its suites have; from its smallest to its largest suite.

    In small print, why nothing is compared.
    """
    counts = [(cell.own.tasks, cell.own.whole) for cell in row.cells if cell.own]
    if not counts:
        return Value(formats.NONE)
    small = "not compared while units are open" if any(c.own and c.own.apart for c in row.cells) else ""
    fewest, whole = min(counts, key=lambda count: count[0] / max(count[1], 1))
    if fewest < whole:
        return Value(f"{fewest} of {whole}", small, fewest=fewest)
    most = max(tasks for tasks, _ in counts)
    least = min(tasks for tasks, _ in counts)
    return Value(f"{least}" if least == most else f"{least}–{most}", small, fewest=least)


def _suites(site: Gathered, paper: Paper) -> Iterator[dict[str, Any]]:
    """Each suite that has results under the paper's protocol."""
    entries = {entry.id: entry for entry in BUILT_IN.entries()}
    for suite in paper.suites:
        if files := measured_files(site.results, suite):
            samples = max(file.samples for file in files.values())
            left_out = {program for file in files.values() for program in left_out_programs(file)}
            yield {
                "suite": suite,
                "protocol": known_protocols()[suite, ""],
                "models": len(files),
                # of each task, in the results with most; and as many as the paper takes
                "samples": samples,
                "in_paper": entries[suite].default_samples,
                # programs that were left out in one of them, because a library was not installed
                "left_out": sorted(left_out),
            }
