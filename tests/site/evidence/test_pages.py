"""Evidence pages."""

from support.results import FakeModel, FakeSuite, fake_records
from support.site import entries
from triathlon_site.evidence import changed_words, evidence_path, render_evidence
from triathlon_site.evidence._pages import LONGEST_TEXT, cut
from triathlon_site.pages import installed_environment


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
    pages, numbers = render_evidence(records, installed_environment(), slug="m", model="m", suite="loop/core")
    assert len(pages) > 1 and numbers == sorted(numbers) and len(numbers) == len(records)
    for index, number in enumerate(numbers):
        assert f'id="u{index}"' in pages[number - 1]


def test_a_path_is_plain_for_any_suite() -> None:
    """Variants have signs in their names that addresses need not have."""
    plain = evidence_path("m", "loop/core", 1)
    variant = evidence_path("m", "loop/core@temperature-0.2", 1)
    assert plain == "evidence/m/loop-core-1.html"
    assert "@" not in variant and variant != evidence_path("m", "loop/core-temperature-0.2", 1)
