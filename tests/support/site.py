"""A small site for tests: three models on a few of our own suites."""

import csv
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from support.results import FakeModel, FakeSuite, write_results
from triathlon_runner import catalogue
from triathlon_runner.catalogue import Catalogue
from triathlon_runner.datasets.user import UserDataSet
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.models_yaml import Registry
from triathlon_runner.submit import FileCheck, SubmissionReport, statement
from triathlon_runner.suites import SuiteEntry
from triathlon_site.build import BuildReport, Options, build
from triathlon_site.pages import Gathered, Rendering
from triathlon_site.pages.board import view_of
from triathlon_site.published import Published, PublishedTable, published_tables
from triathlon_site.render import Section, installed_environment
from triathlon_site.scores import Board

SUITES = (
    "loop/core",
    "runtime/core",
    "evolved/core-seeds",
    "evolved/core-difficult",
    "evolved/core-creative",
    "evolved/core-subtle",
    "evolved/core-combine",
    "evolved/core-tool_use",
)
RICH = (
    *SUITES,
    "loop/core@prompt-detailed",
    "loop/core@prompt-upper",
    "loop/core@attack-upper",
    "translation/core",
    "runtime/core@cot",
    "runtime/core@sampled",
    "evolved/core-tool_use-main_only",
    "evolved/core-verbose",
    "evolved/core-concise",
    "evolved/core-decompose",
    "evolved/core-combine_naive",
)
"""With variants, so that every section of a page has something to show."""
PUBLISHED = Path(__file__).parents[2] / "results" / "published"
"""What others published, as this checkout has it."""
MODELS = (FakeModel("strong", 2.0, 0.95), FakeModel("middle", 0.5, 0.8), FakeModel("weak", -2.0, 0.5))


def entries(ids: Sequence[str] = SUITES) -> tuple[SuiteEntry, ...]:
    return catalogue.select(ids)


def small_results(root: Path, models: Sequence[FakeModel] = MODELS, *, tasks: int = 12) -> Path:
    """Results of the models on every suite."""
    return results_on(root, models, *SUITES, tasks=tasks)


def rich_results(root: Path, models: Sequence[FakeModel] = MODELS, *, tasks: int = 12) -> Path:
    """Results of the models on every suite and some of their variants."""
    suites = [
        FakeSuite(entry, tasks=tasks, samples=3 if entry.variant_kind == "sampling" else 1)
        for entry in entries(RICH)
    ]
    write_results(root, models, suites)
    return root


def results_on(root: Path, models: Sequence[FakeModel], *suites: str, **each: int) -> Path:
    """Results of the models on these suites; `each`: fields of every `FakeSuite`, such as `tasks`."""
    write_results(root, models, [FakeSuite(entry, **each) for entry in entries(suites)])
    return root


def users_sets(folder: Path, **titles: str) -> Catalogue:
    """A catalogue with a user's data sets of these ids and titles."""
    return Catalogue(
        tuple(
            UserDataSet(id=name, title=title, problems="x.jsonl", folder=folder, listed_at="suites.yaml")
            for name, title in titles.items()
        )
    )


def registry(rows: Mapping[str, Mapping[str, Any]]) -> Registry:
    """A registry with these facts by id of a model; nobody asks a server."""
    api = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    return Registry.model_validate(
        {"models": [{"id": name, "api": api, **facts} for name, facts in rows.items()]}
    )


def registry_of(*ids: str, **facts: object) -> Registry:
    """A registry in which these models have the same facts."""
    return registry(dict.fromkeys(ids, facts))


def judged_again(results: Path, model: str, suite: str, engine: int = ENGINE_VERSION) -> str:
    """The statement that a model's file on this suite was graded again."""
    lines = (results / f"runs/{model}/{suite}.jsonl").read_bytes()
    check = FileCheck(suite, hashlib.sha256(lines).hexdigest())
    return json.dumps(statement(SubmissionReport(model, engine, [check], [], listed=True)))


def imported_results(results: Path) -> Path:
    """A model that others asked, and one of our own that others asked too."""
    models = [FakeModel("foreign", 9.0), FakeModel("weak", 9.0)]
    results_on(results / "imported", models, "evolved/core-seeds", tasks=12)
    for path in (results / "imported").rglob("*.manifest.json"):
        change(path, origin={"format": "inspect", "file": "<b>log</b>.eval", "sha256": "ef" * 32})
    return results


def add_published(results: Path, names: Mapping[str, str] | None = None) -> Path:
    """The published tables; `names`: by id of a model, its name in them."""
    shutil.copytree(PUBLISHED, results / "published")
    if names:
        (results / "recorded").mkdir()
        lines = "".join(f"{model},{name}\n" for model, name in names.items())
        (results / "recorded/names.csv").write_text(f"id,name\n{lines}")
    return results


def build_small(root: Path, *, strict: bool = False, tasks: int = 12) -> BuildReport:
    """Builds `root/_site` from `root/results`, which it makes where it is not there."""
    results = root / "results"
    if not results.exists():
        small_results(results, tasks=tasks)
    return build(results, root / "_site", None, Options(strict), cache=root / "cache")


def rendered_texts(site: Gathered) -> dict[str, str]:
    """The text of every page and data file of a site, by its path."""
    rendering = Rendering(site, installed_environment())
    pages = (page for number in range(len(rendering)) for page in rendering.section(number))
    return {page.path: page.content for page in pages}


def published_boards(published: Published) -> list[PublishedTable]:
    """The published tables that rank models."""
    return [table for table in published_tables(published) if table.headline]


def board_of(site: Gathered, name: str) -> Board:
    """The board of this id, which the site has."""
    found = site.board(name)
    assert found
    return found


def sections_of(site: Gathered, board: str) -> dict[str, Section]:
    """The sections of the board of this id, by title."""
    own = board_of(site, board)
    return {section.title: section for section in view_of(own).sections(own, site.models)}


def change(path: Path, **fields: object) -> None:
    """Gives fields of a JSON file, such as a manifest, other values."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a results file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(path: Path, lines: Iterable[object]) -> None:
    """Writes a results file anew."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(text.splitlines()))


def script_data(text: str) -> Any:
    """The object that a script of data hands over."""
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def page_text(path: Path) -> str:
    """A page with every run of white space as one space: where a template breaks its lines is no matter."""
    return " ".join(path.read_text().split())


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
