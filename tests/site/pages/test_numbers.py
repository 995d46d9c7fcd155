"""Numbers and sentences of pages over made-up results: equal models, ranges, open units, parts of suites."""

import shutil
from pathlib import Path

import pytest

from support.results import FakeModel
from support.site import change, json_lines, rendered_texts, results_on, sections_of, write_lines
from triathlon_site.build import gather
from triathlon_site.render import Section, Value


def rows(section: Section) -> dict[str, tuple[Value, ...]]:
    """The cells behind the first of each row, by its text."""
    return {row[0].text: tuple(row[1:]) for row in section.rows}


def test_ranks_under_settings_go_by_the_middles_of_ranges(tmp_path: Path) -> None:
    """As on the board: without a judge a model stands as if every similarity were one half."""
    suites = "loop/core", "loop/core@prompt-detailed"
    judged = {"none": None, "most": 0.6, "much": 0.4, "some": 0.2, "least": 0.0}
    results_on(tmp_path, [FakeModel(name, 3.0, 0.5) for name in judged], *suites, tasks=6)
    for suite in suites:
        units = json_lines(tmp_path / f"runs/most/{suite}.jsonl")
        for name, value in judged.items():
            own = {"model": name, "similarity": value}
            lines = [
                unit | own if 0 < unit["sustained_loops"] < 10 else unit | {"model": name} for unit in units
            ]
            write_lines(tmp_path / f"runs/{name}/{suite}.jsonl", lines)
    section = sections_of(gather(tmp_path, None), "loop-core")["Other summary prompts"]
    place = section.head.index("rank as asked")
    assert {row[0].text: row[place].number for row in section.rows} == dict(
        zip(("most", "none", "much", "some", "least"), range(1, 6), strict=True)
    )


def test_equal_models_have_equal_drops_whichever_others_there_are(tmp_path: Path) -> None:
    """With their intervals: neither the place in the table nor another model's results change them."""
    suites = "evolved/core-seeds", "evolved/core-subtle"
    results_on(tmp_path, [FakeModel("first"), FakeModel("other", 2.0), FakeModel("third")], *suites, tasks=20)
    for suite in suites:
        lines = json_lines(tmp_path / f"runs/first/{suite}.jsonl")
        write_lines(tmp_path / f"runs/third/{suite}.jsonl", [line | {"model": "third"} for line in lines])
    several = rows(sections_of(gather(tmp_path, None), "evolved-core")["Drops"])
    assert several["first"] == several["third"] != several["other"]
    shutil.rmtree(tmp_path / "runs/other")
    assert rows(sections_of(gather(tmp_path, None), "evolved-core")["Drops"])["first"] == several["first"]


def test_a_part_of_the_tasks_is_counted_over_all_boards(tmp_path: Path) -> None:
    """As the open units beside it; an answer is a unit, and what too few sets cannot give has no column."""
    suites = "loop/core", "runtime/core", "evolved/core-seeds", "evolved/core-subtle"
    results_on(tmp_path, [FakeModel("one", 9.0)], *suites, tasks=6, planned=4, open_units=1, samples=2)
    pages = rendered_texts(gather(tmp_path, None))
    assert '<span class="flag">16 of 24</span> <span class="flag">4 open</span>' in pages["index.html"]
    assert (
        "One unit a problem" not in pages["evolved.html"] and "EvoEval average" not in pages["evolved.html"]
    )


def test_sets_with_open_units_are_in_no_drop_and_no_test(tmp_path: Path) -> None:
    """As in no ranking: what is missing may be what the model fails; its complete sets count."""
    models, suites = [FakeModel("one", 1.0), FakeModel("two")], ("evolved/core-seeds", "evolved/core-verbose")
    results_on(tmp_path, models, *suites, "evolved/core-subtle", tasks=20)
    change(tmp_path / "runs/two/evolved/core-subtle.manifest.json", open_units=2)
    found = sections_of(gather(tmp_path, None), "evolved-core")
    drops = {model: cell.text for model, (cell,) in rows(found["Drops"]).items()}
    assert drops["two"] == "–" != drops["one"]
    assert found["Drops"].rows[0][1].small == "1 model"
    pairs = found["Seed against change, problem by problem"]
    assert pairs.head == ("Model", "subtle", "verbose")
    assert [(row[0].text, row[1].text == "–", row[2].text == "–") for row in pairs.rows] == [
        ("one", False, False),
        ("two", True, False),
    ]


def test_the_most_that_ic_could_be_is_no_less_than_it_is(tmp_path: Path) -> None:
    """A right answer in place of a cut one behind a wrong one would spoil a chain: it need not be right."""
    path = results_on(tmp_path, [FakeModel("one")], "runtime/core", tasks=1) / "runs/one/runtime/core.jsonl"
    (unit,) = json_lines(path)
    right, wrong, cut = "passed", "failed", "truncated"
    chains = (right, wrong, cut), (right, cut, wrong), (right, right, right)
    answers = [(unit["output"], wrong)]
    for one, chain in zip(unit["statements"], chains, strict=True):
        answers += zip((one["coverage"], one["state"], one["path"]), chain, strict=True)
    for answer, outcome in answers:
        answer.update(outcome=outcome, correct=outcome == right)
    write_lines(path, [unit | {"outcome": "failed"}])
    site = gather(tmp_path, None, cache=tmp_path / "cache")  # from which the kinds of answers come
    section = sections_of(site, "runtime-core")["How wrong outputs are wrong"]
    most = section.rows[0][-1]
    assert most.number == pytest.approx(100 * (1 / 8 + 1 / 4 + 1 / 2) / 3) and most.text == "at most +4.2"
