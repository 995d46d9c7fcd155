"""A new discipline is its folder, its record type and one line in the catalogue (`support/spelling`)."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.server_replies import Asked
from support.small_run import SmallRun, served
from support.spelling import DISCIPLINE, SpellingRecord
from triathlon_runner import catalogue
from triathlon_runner.store import read_records

SUITE = "spelling/words"
RUN = f"run --suites {SUITE} --profile standard"


def spell(asked: Asked) -> str:
    """Spells every word but `candle` backwards."""
    word = asked.prompt.split()[1]
    return word if word == "candle" else word[::-1]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallRun]:
    """A models file, and the one line in the catalogue."""
    monkeypatch.setattr(catalogue, "DISCIPLINES", (*catalogue.DISCIPLINES, DISCIPLINE))
    with served(tmp_path, "runner.test_new_discipline:spell") as place:
        yield place


def records(place: SmallRun) -> list[SpellingRecord]:
    return list(read_records(place.lines(SUITE), SpellingRecord))


def test_what_is_known_before_it_runs(place: SmallRun) -> None:
    """Where its verdicts are decided and its data is; how many units and requests a profile takes."""
    (row,) = (row for row in place.json("suites") if row["id"] == SUITE)
    assert (row["title"], row["graded"]) == ("Spelling words backwards", "outside")
    assert (row["data"], row["here"]) == ("words 1", "in the package")
    for profile, units, requests in (("quick", 4, 8), ("standard", 6, 12)):
        said = place.expect(f"run --suites {SUITE} --dry-run --profile {profile}", 0).split()
        assert {str(units), str(requests)} <= set(said)
    assert not list(place.results.rglob("*.jsonl"))


def test_it_runs_and_goes_on(place: SmallRun) -> None:
    """A second run asks what the first left open, a third nothing; with prompts of a user's own none is kept.

    Replies are graded again without asking: what is stored follows, and a changed verdict does not.
    """
    for options, finished in (("--limit 2", 2), ("", 4), ("", 0)):
        place.expect(f"{RUN} {options}", 0, f"{finished} units finished, 0 open")
    assert {record.task_id: len(record.steps) for record in records(place)} == {
        **dict.fromkeys(("stone", "river", "window", "garden", "silver"), 2),
        "candle": 1,
    }
    own = place.root / "mine" / "spelling" / "ask.txt"
    own.parent.mkdir(parents=True)
    own.write_text("Reverse {{ task }}, please.")
    place.expect(f"{RUN} --prompts mine", 0, "results of another protocol", "): asked.prompts was ")
    place.expect("results list --prompts mine", 0, "): asked.prompts was ")
    place.expect("verify", 0)
    lines = place.lines(SUITE)
    lines.write_text(lines.read_text().replace('"right":false', '"right":true', 1))
    place.expect("verify", 1, "steps[0].right")


def test_it_has_pages_and_exports(place: SmallRun) -> None:
    """A board of its own, by its headline, and the evidence of a model's units.

    A unit of Every Eval Ever has all its questions; formats of single programs say what they hold.
    """
    place.expect(RUN, 0)
    out = place.root / "_site"
    place.expect(f"build --strict --out {out}", 0)
    board, model = (out / "spelling.html").read_text(), (out / "models" / "m.html").read_text()
    assert "Words spelt" in board and "83.3" in board and "83.3" in model  # ten of twelve spellings
    assert "Words spelt" in (out / "index.html").read_text()
    (evidence,) = (path.read_text() for path in (out / "evidence").rglob("*.html"))
    (pack,) = (path.read_text() for path in (out / "evidence").rglob("1.js"))
    written = json.loads(gzip.decompress(base64.b64decode(pack.split('"')[1])))
    for record in records(place):
        assert f'<li id="{record.task_id}">' in evidence
        assert all(step.reply.text in written[record.task_id] for step in record.steps)
    exported = place.root / "exported"
    place.expect(f"export every-eval-ever --out {exported}", 0)
    (samples,) = exported.rglob("*_samples.jsonl")
    told = {
        row["metadata"]["task_id"]: [message["content"] for message in row["messages"]]
        for row in map(json.loads, samples.read_text().splitlines())
    }
    assert told["stone"] == ["stone", "enots", "enots", "stone"] and told["candle"] == ["candle"] * 2
    place.expect("export evalplus --out programs", 2, "units that are no single programs")


def test_it_counts_in_the_overall_ranking(place: SmallRun) -> None:
    """Beside another discipline it has a percentile of its own, in the data files, too."""
    models, names = place.root / "models.yaml", "mabcd"
    head, row = models.read_text().split("  - id: m\n    name: M\n")
    models.write_text(head + "".join(f"  - id: {name}\n{row}" for name in names))
    place.expect(RUN, 0)
    fakes = [FakeModel(name) for name in (*names, "alone")]
    (loop,) = catalogue.select(["loop/core"])
    write_results(place.results, fakes, [FakeSuite(loop, tasks=6)])
    out = place.root / "_site"
    place.expect(f"build --strict --out {out}", 0)
    ranking = json.loads((out / "data/overall-core.json").read_text())
    shares = {row["model"]: (row["rank"], row["spelling_percentile"]) for row in ranking["rows"]}
    assert all(shares[name][0] and shares[name][1] == 50 for name in names)  # alike in spelling
    assert shares["alone"] == (None, None)
    assert "spelling_percentile" in (out / "data/overall-core.csv").read_text()
