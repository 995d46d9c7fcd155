"""Evidence pages."""

import base64
import gzip
import json
import re
from collections import Counter
from typing import Any

from support.results import FakeModel, FakeSuite, fake_records
from support.site import entries
from triathlon_runner.records import (
    EvolvedRecord,
    FailingCase,
    LoopRecord,
    Outcome,
    PredictionRecord,
    RuntimeRecord,
    Verdict,
)
from triathlon_runner.unit_pages import evidence_page
from triathlon_site.evidence import (
    Evidence,
    EvidenceExtractor,
    changed_words,
    missing_definition,
    render_tasks,
)
from triathlon_site.pages.board import ARTICLES
from triathlon_site.pages.board._film import film, loop_kinds
from triathlon_site.render import installed_environment
from triathlon_site.render.formats import LONGEST_TEXT, cut, expected_value


def test_what_stayed_and_what_is_new_give_the_new_sentence() -> None:
    """Words that went stand beside it, white space alone is no change; texts of thousands stay unmarked."""
    runs = changed_words("Sort the list of names.", "Sort a list of numbers.")
    assert "".join(run.text for run in runs if run.kind != "gone") == "Sort a list of numbers."
    assert [run.text for run in runs if run.kind == "gone"] == [" the", " names"]
    assert changed_words("a  b\n", "\ta\nb\n \n") == [("same", "\ta\nb\n \n")]
    assert [run.kind for run in changed_words("a " * 200, "a b " * 100)] == ["same"], "it would take seconds"


def test_a_huge_reply_keeps_beginning_and_end() -> None:
    """The middle is left out and the gap says how much."""
    short = cut("a" * LONGEST_TEXT + "b" * 5000)
    assert short.startswith("aaa") and short.endswith("bbb") and "5,000 characters left out" in short


def unpacked(script: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(script.split('"')[1])))


def extracted(suite: FakeSuite, **options: bool) -> Evidence:
    records = list(fake_records(FakeModel("m", 2.0, 0.9), suite))
    extract = EvidenceExtractor(installed_environment(), ARTICLES)
    return extract(records, "m", suite.entry.id, {}, **options)


def test_each_task_is_in_the_pack_that_the_index_names() -> None:
    """Packs stay small; the list says what was wrong first, of private tasks ids and outcomes alone."""
    suite = FakeSuite(entries(["loop/core"])[0], tasks=30, padding=40_000)
    found = extracted(suite).files
    index = unpacked(found["index.js"])
    packs = {number: unpacked(found[f"{number}.js"]) for number in {pack for _, pack, *_ in index["tasks"]}}
    assert len(packs) > 1 and "expected &#39;aabb&#39;, got &#39;abab&#39;" in found["links.html"]
    for task, pack, ended, kinds in index["tasks"]:
        assert f">{task}" in packs[pack][task] and f'id="{task}"' in found["links.html"]
        assert (ended == "passed") == ("passed" in kinds)
    counts = Counter(kind for *_, kinds in index["tasks"] for kind in kinds)
    assert index["kinds"] == [[kind, f"{kind.replace('_', ' ')} ({counts[kind]})"] for kind in sorted(counts)]
    found, attempts, summary = extracted(suite, private=True)
    assert set(found) == {"links.html"} and "expected" not in found["links.html"]
    assert len(attempts) == 30 and not summary


def test_samples_that_are_alike_stand_once() -> None:
    """The program once, then each different answer with the numbers of its samples."""
    answer = {"reply": {"text": "1"}, "answer": "1", "expected": ["1"], "outcome": "passed", "correct": True}
    about = {"suite": "runtime/cruxeval-output", "model": "m", "task_id": "sample_0", "outcome": "passed"}
    asked = {"protocol": {"asked": "", "graded": ""}, "asked": "output", "style": "direct"}
    program = {"program": "def f():\r    return 1\r", "assertion": "assert f() == ??", "prediction": answer}
    first = PredictionRecord.model_validate_json(json.dumps(about | asked | program))
    right = first.prediction
    records = [first.model_copy(update={"sample": number}) for number in range(10)]
    records[4] = records[4].model_copy(update={"prediction": right.model_copy(update={"answer": "2"})})
    ((_, page),) = render_tasks({first.task_id: records}, installed_environment(), ARTICLES[type(first)], {})
    assert re.findall(r'data-samples="([\d ]+)"', page) == ["1 2 3 4 6 7 8 9 10", "5"]
    assert page.count('<ol class="lines">') == 1 and page.count("<li><code>") == 2


def test_a_film_says_where_a_task_was_lost() -> None:
    """Equal loops are one scene, with the last summary; the lost program stands beside the last right one."""
    suite = FakeSuite(entries(["loop/core"])[0], tasks=40)
    for record in fake_records(FakeModel("m", 1.0, 0.7), suite):
        assert isinstance(record, LoopRecord)
        scenes, failed = list(film(record)), record.outcome != "passed"
        assert [n for s in scenes for n in range(s.first, s.last + 1)] == [step.loop for step in record.loops]
        again = record.loops[0].model_copy(update={"summary_reply": record.loops[0].reply})
        assert film(record.model_copy(update={"loops": (record.loops[0], again)}))[0].step is again
        assert sum(bool(scene.before) for scene in scenes) == (0 < record.sustained_loops < 10 and failed)
        assert any(kind.startswith("lost in loop") for kind in loop_kinds(record)) == failed
        ((_, page),) = render_tasks({"t": [record]}, installed_environment(), ARTICLES[LoopRecord], {})
        assert f" {suite.entry.metrics[1].score([record]):.1f} of\n10 points" in page


def test_a_function_that_is_not_there_is_named() -> None:
    """The grader looks it up in vain; the page says so in place of a KeyError."""
    case = FailingCase(index=0, input="f(1)", expected="2", got="KeyError: 'f'")
    verdict = Verdict(outcome=Outcome.CRASHED, passed=0, total=1, failing=case)
    assert missing_definition("def g(x):\n    return x", verdict) == ("f", ("g",))
    assert missing_definition("def f(x):\n    raise KeyError('f')", verdict) is None


def test_of_an_assertion_the_value_is_expected() -> None:
    """Where it compares the call itself; any other stands whole."""
    values = {
        "assert f(1) == (3,) (AssertionError: )": "(3,)",
        "assert f(1) == [17, 29] (TypeError: 'int' object)": "[17, 29]",
    }
    others = ("abs(f(1) - 3) < 1e-6 (AssertionError: )", "g(1) == 2 (AssertionError: )", "f(1) == [17, …")
    for expected, shown in (values | {f"assert {other}": f"assert {other}" for other in others}).items():
        assert expected_value(FailingCase(index=0, input="f(1)", expected=expected, got="1")) == shown


def test_the_first_wrong_answer_of_a_chain_is_the_first_behind_right_ones() -> None:
    """And the output's, where it is wrong and all other answers are right."""
    suite = FakeSuite(entries(["runtime/core"])[0], tasks=40)
    for record in fake_records(FakeModel("m", 0.0, 0.7), suite):
        assert isinstance(record, RuntimeRecord)
        *chains, (line, _, (output,), _) = ARTICLES[RuntimeRecord].rows(record)
        assert line is None and output.correct is record.output.correct
        for row in chains:
            right = [answer.correct for answer in row.answers]
            first = right.index(False) if False in right else None
            assert [answer.is_first_wrong for answer in row.answers] == [n == first for n in range(3)]
        others = [answer.correct for row in chains for answer in row.answers]
        assert len(others) == 3 * len(record.statements)
        assert output.is_first_wrong is (all(others) and not output.correct)


def test_a_path_is_plain_for_any_suite() -> None:
    """Variants have signs in their names that addresses need not have."""
    variant = evidence_page("m", "loop/core@temperature-0.2")
    assert "@" not in variant and variant != evidence_page("m", "loop/core-temperature-0.2")


def test_an_evolved_problem_stands_beside_its_seed() -> None:
    """Program, outcome and failing input of the seed, and the words of the problem that changed."""
    seeds, difficult = entries(["evolved/core-seeds", "evolved/core-difficult"])
    model = FakeModel("m")
    parents = {record.task_id: record for record in fake_records(model, FakeSuite(seeds, tasks=3))}
    children = list(fake_records(model, FakeSuite(difficult, tasks=3)))
    tasks = {record.task_id: [record] for record in children}
    article, templates = ARTICLES[EvolvedRecord], installed_environment()
    page = "".join(html for _, html in render_tasks(tasks, templates, article, parents))
    for name in parents:
        assert f"Evolved from {name}" in page
    alone = "".join(html for _, html in render_tasks(tasks, templates, article, {}))
    assert "which the model was not asked" in alone
