"""How everything is measured and computed; the prompts; the card of our own problems; the data files."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_runner.datasets import core
from triathlon_runner.datasets.official import PROMPT_FILES
from triathlon_site import packaged_table
from triathlon_site.exchange import EXPORTS
from triathlon_site.exports import DATA_SCHEMA, FIELDS, core_file
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import view_named
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.render import Draft, Page
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL

NOT_RUN: Final = "not run"
"""What manifests of recorded and imported results say of the grader's integrity: there is nothing to tell."""


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The method page, the prompts, the card of our own problems; the page of the data files with those that
    it alone links.
    """
    integrity = {file.manifest.grader_integrity for file in site.results.files if file.manifest}
    values = {
        "integrity": sorted(integrity - {NOT_RUN}),
        "draws": DRAWS,
        "level": LEVEL,
        "significance": SIGNIFICANCE,
        "fewest": FEWEST_MODELS,
        # of benchmarks/coverage.py, its smallest and largest share over all settings, in whole per cent
        "simulated": packaged_table("pages/simulated.csv"),
        # questions whose line leaves the variable without a value; without a line, those that mask a call
        "unusual": packaged_table("pages/dreval_unusual.csv"),
    }
    yield Draft("method.html", "method/page", values)
    prompts = {
        discipline.name: dict(sorted(discipline.prompts(None).templates.items()))
        for discipline in sorted(catalogue.DISCIPLINES, key=lambda entry: bool(entry.kind_of))
        if discipline.prompts is not None
    }
    official = {name: PROMPT_FILES.get(name, ()) for name in prompts}
    about = {name: view_named(name).about_prompts for name in prompts}
    yield Draft("prompts.html", "method/prompts", {"prompts": prompts, "official": official, "about": about})
    text = files(core).joinpath("README.md").read_text("utf-8")
    card = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    yield Draft("core.html", "method/core", {"card": card})
    yield Draft("data.html", "data/page", {"exports": EXPORTS, "fields": FIELDS, "data_schema": DATA_SCHEMA})
    yield core_file()
