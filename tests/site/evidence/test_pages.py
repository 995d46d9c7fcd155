"""Evidence pages."""

from support.results import FakeModel, FakeSuite, fake_records
from support.site import entries
from triathlon_runner.records import RuntimeRecord
from triathlon_site.evidence import EvidenceSource, changed_words, evidence_path, render_evidence
from triathlon_site.pages.board import ARTICLES
from triathlon_site.render import installed_environment
from triathlon_site.render.formats import LONGEST_TEXT, cut


def test_what_stayed_and_what_is_new_give_the_new_sentence() -> None:
    """Words that went stand beside it and are no part of it."""
    runs = changed_words("Sort the list of names.", "Sort a list of numbers.")
    assert "".join(run.text for run in runs if run.kind != "gone") == "Sort a list of numbers."
    assert [run.text for run in runs if run.kind == "gone"] == ["the", "names"]


def test_long_prompts_are_not_compared() -> None:
    """A comparison of thousands of words costs more than it shows."""
    assert [run.kind for run in changed_words("a " * 700, "b " * 700)] == ["same"]


def test_a_huge_reply_keeps_beginning_and_end() -> None:
    """The middle is left out and the gap says how much."""
    short = cut("a" * LONGEST_TEXT + "b" * 5000)
    assert short.startswith("aaa") and short.endswith("bbb") and "5,000 characters left out" in short


def test_each_unit_has_a_page_and_an_anchor() -> None:
    """Pages stay small; unit i is `u<i>` on the page that is told."""
    suite = FakeSuite(entries(["loop/core"])[0], tasks=30, padding=4000)
    records = list(fake_records(FakeModel("m", 2.0, 0.9), suite))
    source = EvidenceSource("m", "m", "loop/core")
    pages, numbers = render_evidence(records, installed_environment(), ARTICLES, source)
    assert len(pages) > 1 and numbers == sorted(numbers) and len(numbers) == len(records)
    for index, number in enumerate(numbers):
        assert f'id="u{index}"' in pages[number - 1]
    assert 'href="loop-core-2.html" rel="next"' in pages[0] and 'rel="prev"' not in pages[0]
    assert f'href="loop-core-{len(pages) - 1}.html" rel="prev"' in pages[-1] and "next" not in pages[-1]


def test_the_first_wrong_answer_of_a_chain_is_the_first_behind_right_ones() -> None:
    """And the output's, where it is wrong and all other answers are right."""
    suite = FakeSuite(entries(["runtime/core"])[0], tasks=40)
    for record in fake_records(FakeModel("m", 0.0, 0.7), suite):
        assert isinstance(record, RuntimeRecord)
        *chains, (line, _, (output,), _) = rows = list(ARTICLES[RuntimeRecord].rows(record))
        assert line is None and output.answer is record.output
        for row in rows:
            right = [answer.answer.correct for answer in row.answers]
            before = [all(right[:place]) for place in range(len(right))]
            assert [answer.right_so_far for answer in row.answers] == before or row is rows[-1]
        others = [answer.answer.correct for row in chains for answer in row.answers]
        assert len(others) == 3 * len(record.statements) and output.right_so_far == all(others)


def test_a_path_is_plain_for_any_suite() -> None:
    """Variants have signs in their names that addresses need not have."""
    plain = evidence_path("m", "loop/core", 1)
    variant = evidence_path("m", "loop/core@temperature-0.2", 1)
    assert plain == "evidence/m/loop-core-1.html"
    assert "@" not in variant and variant != evidence_path("m", "loop/core-temperature-0.2", 1)


def test_an_evolved_problem_stands_beside_its_seed() -> None:
    """Program, outcome and failing input of the seed, and the words of the problem that changed."""
    seeds, difficult = entries(["evolved/core-seeds", "evolved/core-difficult"])
    model = FakeModel("m")
    parents = {record.task_id: record for record in fake_records(model, FakeSuite(seeds, tasks=3))}
    children = list(fake_records(model, FakeSuite(difficult, tasks=3)))
    source = EvidenceSource("m", "m", difficult.id, parents)
    (page,), _ = render_evidence(children, installed_environment(), ARTICLES, source)
    for name in parents:
        assert f"Evolved from {name}" in page
    (alone,), _ = render_evidence(
        children, installed_environment(), ARTICLES, EvidenceSource("m", "m", difficult.id)
    )
    assert "without a result of this model" in alone
