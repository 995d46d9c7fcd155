"""The site offers scores in other programs' formats: valid, and the same as those of the command."""

import io
import json
from pathlib import Path
from zipfile import ZipFile

import jsonschema
import yaml

from support.exchange import every_eval_ever_schema
from support.results import FakeModel
from support.site import rich_results
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import gather
from triathlon_site.exchange import Archive, archives, write_export
from triathlon_site.pages import Gathered
from triathlon_site.selection import Wanted

API = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
LINK = "https://huggingface.co/some/Strong"


def _site(folder: Path) -> tuple[Path, Gathered]:
    results = rich_results(folder / "results", (FakeModel("strong", 2.0), FakeModel("weak", -1.0)), tasks=6)
    return results, gather(results, _registry())


def _registry() -> Registry:
    return Registry.model_validate({"models": [{"id": "strong", "name": "S", "link": LINK, "api": API}]})


def _archives(site: Gathered) -> dict[str, Archive]:
    return {archive.form: archive for archive in archives(site.results, site.boards, site.models)}


def _content(archive: Archive) -> dict[str, str]:
    with ZipFile(io.BytesIO(archive.page.bytes)) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}


def test_scores_are_those_of_the_command(tmp_path: Path) -> None:
    """A valid file a model and suite, as `triathlon export` writes it but for the samples beside it."""
    results, site = _site(tmp_path)
    archive = _archives(site)["every-eval-ever"]
    found = _content(archive)
    assert archive.page.path == "data/every-eval-ever.zip" and archive.files == len(found) == 2 * 14
    validator = jsonschema.Draft7Validator(every_eval_ever_schema("eval"))
    write_export("every-eval-ever", site, results, tmp_path / "out", Wanted(["weak"]))
    of_command = {
        path.relative_to(tmp_path / "out").as_posix(): path for path in (tmp_path / "out").rglob("*.json")
    }
    for path, text in found.items():
        content = json.loads(text)
        validator.validate(content)
        if path in of_command:
            whole = json.loads(of_command[path].read_text())
            assert whole.pop("detailed_evaluation_results")["total_rows"] > 0
            assert content == whole
    assert len(of_command.keys() & found.keys()) == len(of_command) == 14


def test_the_same_results_give_the_same_archives(tmp_path: Path) -> None:
    """No clock is in a zip file."""
    _, one = _site(tmp_path / "one")
    _, two = _site(tmp_path / "two")
    pages = [{name: archive.page.bytes for name, archive in _archives(site).items()} for site in (one, two)]
    assert pages[0] == pages[1] and list(pages[0]) == ["every-eval-ever"]


def test_a_format_is_offered_where_it_holds_something(tmp_path: Path) -> None:
    """The hub has a data set for MBPP+ and none for our own problems: no archive is empty."""
    results, site = _site(tmp_path)
    assert "hf-eval-results" not in _archives(site)
    for path in sorted(results.glob("runs/strong/loop/core.*")):
        text = path.read_text().replace("loop/core", "loop/mbpp-plus").replace('"core"', '"mbpp-plus"')
        path.with_name(path.name.replace("core", "mbpp-plus")).write_text(text)
    archive = _archives(gather(results, _registry()))["hf-eval-results"]
    ((place, text),) = _content(archive).items()
    assert place == "some/Strong/.eval_results/triathlon_loop_mbpp-plus.yaml"
    assert yaml.safe_load(text)[0]["dataset"]["id"] == "evalplus/mbppplus"
