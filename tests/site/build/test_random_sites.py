"""Random small results: links, captions and numbers of every page and script, and what equal models get."""

import csv
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau, spearmanr

from support.page_tables import PageParser, Row, check_links, pages_of
from support.results import FakeModel, FakeSuite, fake_records, write_file
from support.site import change, csv_rows, rendered_texts, script_data, users_sets
from triathlon_runner.records import LoopRecord, Outcome, RuntimeRecord
from triathlon_runner.unit_pages import model_slug
from triathlon_site.build import build, gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.agreement import graded_matrix
from triathlon_site.pages.all_models import IN_INDEX
from triathlon_site.ranking import FEWEST_RANKED
from triathlon_site.render.formats import MINUS

CATALOGUE = users_sets(Path(), mine="数据一", yours="数据二")
SETS = [line.split() for line in Path(__file__).with_name("sets_of_suites.txt").read_text().splitlines()]
NAMES = (
    *("=cmd|calc", "-1", "@x", "a.b", "A b", "a-b", "<b>bold", "x\u202ey", '"quoted"', "o'neil"),
    *("&amp;", "{{ 7 }}", "é", "<script>", "0", "index", "compare", "..<img src=x onerror=alert(1)>"),
    *("alpha", "Alpha", "alpha-tasks"),
)
ORIGIN = {"format": "inspect", "file": "log.eval", "sha256": "ef" * 32}
SKILLS = (-99.0, -1.0, 0.5, 99.0)
Texts = Mapping[tuple[str, str, str], tuple[str, str]]
"""The texts of score and interval, by board, slug of the model, and column."""


@dataclass(frozen=True)
class Results:
    """Results of some models; models of one behaviour have the same outcomes on every suite."""

    behaviours: dict[str, FakeModel]
    """By id of a model."""
    suites: dict[FakeModel, list[FakeSuite]]

    def write(self, root: Path, **manifest: object) -> None:
        """Fields of `manifest` are added to those of each file."""
        for name, behaviour in self.behaviours.items():
            for suite in self.suites[behaviour]:
                records = [r.model_copy(update={"model": name}) for r in fake_records(behaviour, suite)]
                path = write_file(root, name, suite.entry.id, records, suite)
                change(path.with_suffix(".manifest.json"), **manifest)

    def renamed(self, chance: random.Random) -> "Results":
        """The same behaviours, as often, under other names."""
        names = list(self.behaviours)
        chance.shuffle(names)
        return Results(dict(zip(names, self.behaviours.values(), strict=True)), self.suites)


def random_results(chance: random.Random) -> Results:
    """One to five models, often equal; a set of suites, of which a model may lack some, but not all."""
    models = [
        FakeModel(f"behaviour {place}", chance.choice(SKILLS), chance.choice((0.0, 0.7, 1.0)))
        for place in range(chance.randint(1, 3))
    ]
    entries, tasks = [CATALOGUE.find(name) for name in chance.choice(SETS)], chance.randint(1, 8)
    suites = {}
    for model in models:
        always = chance.choice(entries)
        own = [entry for entry in entries if entry and (entry is always or chance.random() < 0.8)]
        suites[model] = [FakeSuite(entry, tasks=tasks) for entry in own]
    names = chance.sample(NAMES, chance.randint(1, 5))
    return Results({name: chance.choice(models) for name in names}, suites)


def check_captions(pages: Mapping[Path, PageParser]) -> None:
    """Every table is named, after the data that it shows."""
    for path, page in pages.items():
        assert page.inline == [], "a name became markup"
        assert all(table.label for table in page.tables if "class" in table.attributes), path
    text = {path.name: " ".join(table.label for table in page.tables) for path, page in pages.items()}
    assert "added data" in text.get("overall-added.html", "added data")
    assert "added data" not in text.get("overall-core.html", "")


def check_sorting(pages: Mapping[Path, PageParser]) -> None:
    """What a column of numbers is sorted by stands in its cells: scripts read no number out of a text."""
    tables = [table for page in pages.values() for table in page.tables if "data-table" in table.attributes]
    for table in tables:
        for row in (row for row in table.body if "data-of-all" not in row.attributes):
            for head, cell in zip(table.rows[0].cells, row.cells, strict=True):
                states = head.attributes.get("data-type") != "number" or "data-v" in cell.attributes
                assert states or not re.match(r"[+−]?[.\d]", cell.text), (table.label, head.text, cell.text)


def shown_as(text: str, number: Any) -> bool:
    """Whether the text is the number, as rounded, or in per cent."""
    digits = len(text.partition(".")[2])
    value = float(text.replace(MINUS, "-").lstrip("+"))
    error = 0.5 * 10**-digits + 1e-4
    return bool(min(abs(value - number), abs(value - 100 * number)) <= error)


def scores_of(row: Row) -> Iterator[tuple[int, str, str]]:
    """Place, score and interval of each score in a row of a board."""
    for place, cell in enumerate(row.cells):
        if cell.attributes.get("class", "").startswith("score") and cell.attributes.get("data-v"):
            yield place, cell.bold, cell.small[0]


def boards_of(site: Path) -> list[dict[str, Any]]:
    contents = [json.loads(path.read_text()) for path in site.glob("data/*.json")]
    return [content for content in contents if "board" in content]


def check_boards(site: Path, pages: Mapping[Path, PageParser]) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Every score, interval, rank, tier, shift and number of open units of a board is the exported one."""
    texts = {}
    for content in boards_of(site):
        exported = {(model_slug(row["model"]), row["title"]): row for row in content["rows"] if row["model"]}
        table = pages[(site / f"{content['board'].removesuffix('-core')}.html").resolve()].tables[0]
        for row in table.body:
            slug = row.attributes["id"]
            for place, score, interval in scores_of(row):
                one = exported[slug, table.head[place]]
                low, high = interval.split("–")
                ends = [one["score"], one["low"], one["high"]]
                assert all(map(shown_as, (score.split("–")[0], low, high), ends)), (slug, one)
                texts[content["board"], slug, one["column"]] = score, interval
            rank = next(cell for cell in row.cells if cell.attributes.get("class") == "rank")
            ranks = {one["rank"] for (owner, _), one in exported.items() if owner == slug}
            assert rank.bold == "" or int(rank.bold.lstrip("=")) in ranks
            first = exported.get((slug, content["rows"][0]["title"]), {})
            for head, name in (("Tier", "tier"), ("Rank shift", "rank_shift"), ("Open", "open_units")):
                shown = row.cells[table.head.index(head)].attributes["data-v"]
                assert not first or shown in {"", str(first[name])}, (slug, head)
    return texts


def by_slug(texts: Texts) -> dict[str, set[tuple[str, str]]]:
    shown: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for (_, slug, _), text in texts.items():
        shown[slug].add(text)
    return shown


def check_models(site: Path, pages: Mapping[Path, PageParser], texts: Texts) -> None:
    """A model's page says of each column what the board says: score, interval, rank, its interval, tasks."""
    assert all(re.fullmatch(r"[a-z0-9._-]+", path.name) for path in (site / "models").iterdir())
    exported: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for content in boards_of(site):
        for row in content["rows"]:
            slug = model_slug(row["model"])
            if (content["board"], slug, row["column"]) in texts:
                shown = texts[content["board"], slug, row["column"]]
                exported[slug][row["title"], *shown, str(row["tasks"])] += 1
    for slug, columns in exported.items():
        said: Counter[tuple[str, ...]] = Counter(
            (row.cells[0].text, row.cells[1].bold, row.cells[1].small[0], row.cells[3].text)
            for table in pages[(site / f"models/{slug}.html").resolve()].tables
            if table.head[:2] == ["Column", "Score"]
            for row in table.body
        )
        assert not columns - said, slug


def check_overall(site: Path, pages: Mapping[Path, PageParser], texts: Texts) -> None:
    """The ranking over all disciplines has the exported ranks and means, and the scores of the boards."""
    shown = by_slug(texts)
    for path in site.glob("data/overall-*.json"):
        page = pages.get((site / f"{path.stem}.html").resolve())
        if page is None:
            continue  # the front page has the official sets
        exported = {model_slug(row["model"]): row for row in json.loads(path.read_text())["rows"]}
        (table,) = page.tables
        assert {row.attributes["id"] for row in table.body} == exported.keys()
        ranked = sum(row["rank"] is not None for row in exported.values())
        assert ("Mean" in table.head) == (ranked > 0) and (ranked == 0 or ranked >= FEWEST_RANKED)
        for row in table.body:
            one = exported[row.attributes["id"]]
            assert row.cells[0].bold == (f"{'=' * one['tied']}{one['rank']}" if one["rank"] else "")
            assert {(score, interval) for _, score, interval in scores_of(row)} <= shown[row.attributes["id"]]
            mean = row.cells[table.head.index("Mean")].text if ranked else "–"
            assert mean == "–" if one["rank"] is None else shown_as(mean, one["mean_percentile"])


def check_tasks(site: Path, pages: Mapping[Path, PageParser], results: Results) -> None:
    """How many models have a task, how many of them solve it (in a loop at first), and the share."""
    for suite in {suite for suites in results.suites.values() for suite in suites}:
        name = suite.entry.id
        path = (site / f"tasks/{name.replace('/', '-')}.html").resolve()
        if suite.entry.record is RuntimeRecord or path not in pages:
            continue
        scores: dict[str, list[bool]] = defaultdict(list)
        for behaviour in results.behaviours.values():
            for record in fake_records(behaviour, suite) if suite in results.suites[behaviour] else ():
                first = record.loops[0].outcome if isinstance(record, LoopRecord) else record.outcome
                scores[record.task_id].append(first is Outcome.PASSED)
        (table,) = pages[path].tables
        assert {row.cells[0].text for row in table.body} == set(scores)
        for row in table.body:
            of_models = scores[row.cells[0].text]
            assert [row.cells[1].text, row.cells[2].text] == [str(len(of_models)), str(sum(of_models))]
            assert shown_as(row.cells[3].text, sum(of_models) / len(of_models))


def check_imported(site: Path, pages: Mapping[Path, PageParser], texts: Texts) -> None:
    """The same records, imported, have the score and the interval that they have on the board."""
    shown = by_slug(texts)
    for table in pages[(site / "imported.html").resolve()].tables:
        for row in table.body:
            slug = row.cells[0].links[0].removeprefix("imported/").removesuffix(".html")
            for _, score, interval in scores_of(row):
                assert (score, interval) in shown[slug], (slug, score, interval)


def check_agreement(site: Path, gathered: Gathered, pages: Mapping[Path, PageParser]) -> None:
    """The coefficients of the page and of its CSV are those of the boards' scores, by SciPy."""
    path = site / "data/agreement.csv"
    if not path.exists():
        return
    columns = {column.title: column.values for column in graded_matrix(gathered).columns}
    exported: dict[tuple[str, str, str], str] = {}
    for line in csv_rows(path.read_text()):
        left, right = columns[line["Left"]], columns[line["Right"]]
        both = [(left[model], right[model]) for model in left if model in right]
        assert int(line["Models"]) == len(both)
        one, other = [pair[0] for pair in both], [pair[1] for pair in both]
        for name, rule in (("Spearman", spearmanr), ("Kendall", kendalltau)):
            if len(both) < 3 or len(set(one)) == 1 or len(set(other)) == 1:
                assert line[name] == "", line
            else:
                assert math.isclose(float(line[name]), rule(one, other).statistic, abs_tol=1e-4)
            exported[line["Left"], line["Right"], name] = line[name]
    for table in pages[(site / "agreement.html").resolve()].tables:
        for place, row in enumerate(table.body if table.head[0] == "" else ()):
            for column, cell in enumerate(row.cells[1:]):
                if column != place and cell.bold not in {"", "–"}:
                    names = sorted((place, column))
                    of_pair = table.head[names[0] + 1], table.head[names[1] + 1]
                    name = "Spearman" if column < place else "Kendall"
                    if (*of_pair, name) in exported:  # else of the columns of all models
                        assert shown_as(cell.bold, float(exported[*of_pair, name])), (of_pair, cell.text)


def check_scripts(site: Path, texts: Texts) -> None:
    """What compare.html shows is what the boards show, to the letter."""
    for path in site.glob("data/compare/*.js"):
        for column in script_data(path.read_text())["columns"]:
            board, _, name = column["id"].partition(" ")
            assert (column["shown"], column["interval"]) == texts[board, path.stem, name]
    for path in site.glob("data/compare.js"):
        for model in script_data(path.read_text())["models"]:
            assert (site / model["data"]).is_file() and (site / model["page"]).is_file()


def check_front(site: Path, pages: Mapping[Path, PageParser]) -> None:
    """The index and the scores of the front page are those of its CSV, and of the page for choosing."""
    path = site / "data/all-models.csv"
    if not path.exists() or not path.read_text():
        return
    exported = csv_rows(path.read_text())
    table = pages[(site / "index.html").resolve()].tables[0]
    indices = [name.partition(" ")[0] for name in table.head].index("Index")
    lines = {model_slug(line["id"].removeprefix("'")): line for line in exported}
    shown: dict[str, list[str]] = defaultdict(list)
    for row in table.body:
        found = {place: (score, interval) for place, score, interval in scores_of(row)}
        line = lines.pop(str(row.attributes["id"]), None)
        if line is None:  # none of its columns counts, as where units are open: no score and no rank
            assert not found and row.cells[0].text == "–"
            continue
        index, cells = found.pop(indices), found.values()
        assert row.cells[indices].attributes["data-r"].split(" ")[0].lstrip("=") == line["rank"]
        assert shown_as(index[0], float(line["index"]))
        low, high = index[1].partition(",")[0].split("–")
        assert -200 < float(line["index_low"]) <= float(line["index"]) <= float(line["index_high"]) < 300
        assert shown_as(low, float(line["index_low"])) and shown_as(high, float(line["index_high"]))
        shown["index"].append(f"{index[0]} ({index[1].partition(',')[0]})")
        for score, interval in cells:
            shown["cells"].append(f"{score} ({interval})")
    assert not lines
    choices = script_data((site / "data/choose.js").read_text())
    scores = {score["id"]: score["shown"] for score in choices["scores"]}
    for name in ("index", *(column.id for column in IN_INDEX)):
        assert set(scores.get(name, ())) <= {*shown["index"], *shown["cells"]}, name


def check_tables(site: Path) -> None:
    """No CSV has a heading twice, a cell that a spreadsheet runs, or a quoted number."""
    for path in site.glob("data/*.csv"):
        head, *rows = list(csv.reader(path.read_text().splitlines())) or [[]]
        assert len(head) == len(set(head)), path.name
        for cell in (cell for row in rows for cell in row if cell):
            assert not cell.lstrip().startswith(("=", "+", "@")), (path.name, cell)
            assert not re.match(r"'[-+]?\d+\.?\d* ?(to|–)", cell), (path.name, cell)
            assert not cell.startswith("-") or float(cell) < 0


def places(pages: Mapping[str, str]) -> dict[str, list[Any]]:
    """By id of a model, its scores, ranks, tiers and indices in all data files, in a fixed order."""
    found: dict[str, list[Any]] = defaultdict(list)
    for path in sorted(pages):
        content = json.loads(pages[path]) if re.fullmatch(r"data/.*\.json", path) else {}
        fields = ("column", "score", "rank", "tied", "tier", "mean_percentile")
        for row in sorted(
            content.get("rows", ()), key=lambda row: (row["model"] or "", row.get("column", ""))
        ):
            found[row["model"]].append([path, *(row.get(name) for name in fields)])
    for line in csv_rows(pages.get("data/all-models.csv", "")):
        place = [value for name, value in line.items() if name not in {"model", "id", "page", "organization"}]
        found[line["model"].lstrip("'")].append(place)
    return found


def check(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    results = random_results(chance)
    results.write(tmp_path / "results")
    results.write(tmp_path / "results/imported", origin=ORIGIN)
    site = tmp_path / "site"
    build(tmp_path / "results", site, None, known=CATALOGUE, cache=tmp_path / "cache")
    pages = pages_of(site)
    check_links(pages)
    check_captions(pages)
    check_sorting(pages)
    texts = check_boards(site, pages)
    check_scripts(site, texts)
    check_models(site, pages, texts)
    check_overall(site, pages, texts)
    check_tasks(site, pages, results)
    check_imported(site, pages, texts)
    gathered = gather(tmp_path / "results", None, known=CATALOGUE)
    check_agreement(site, gathered, pages)
    check_front(site, pages)
    check_tables(site)
    other = results.renamed(chance)
    other.write(tmp_path / "renamed")
    by_behaviour: dict[str, list[Any]] = defaultdict(list)
    for names, root in ((results.behaviours, "results"), (other.behaviours, "renamed")):
        of_names = gathered if root == "results" else gather(tmp_path / root, None, known=CATALOGUE)
        found = places(rendered_texts(of_names))
        for model, behaviour in names.items():
            by_behaviour[behaviour.id].append(found[model])
    for of_equal_models in by_behaviour.values():
        for one, another in pairwise(of_equal_models):
            assert one == another


MANY = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 40)]


@pytest.mark.parametrize("seed", [*range(8), *MANY])
def test_a_random_site_is_right(seed: int, tmp_path: Path) -> None:
    """Links resolve, tables are named, pages and scripts show what is exported, equal models are equal."""
    check(seed, tmp_path)


def test_published_pages_are_right(golden: Path) -> None:
    """Their links, names of tables, and what their columns are sorted by, as on random sites."""
    pages = pages_of(golden)
    check_links(pages)
    check_captions(pages)
    check_sorting(pages)
