"""Whether a set copies its seeds or itself."""

import pytest

from support.official_data import official_store
from triathlon_runner.datasets import Problem, official
from triathlon_runner.evolved.contamination import contamination, shared_passage


def _problem(name: str, docstring: str, *parents: str) -> Problem:
    return Problem(
        name, "f", f'def f(x):\n    """{docstring}\n\n    >>> f(1)\n    2\n    """\n', "", (), parents=parents
    )


SEED = _problem("seed", "Return the number of vowels in a text that has no capital letters.")


def test_longest_passage() -> None:
    """The longest run of common words counts, without examples, signs and letter case."""
    shared = shared_passage(
        'def g(x):\n    """Count THE NUMBER of vowels; in a text of two lines.\n    >>> g(1)\n    2\n    """',
        {"s": SEED.prompt},
    )
    assert shared is not None
    assert (shared.words, shared.passage) == (7, "THE NUMBER of vowels; in a text")
    assert shared.share == pytest.approx(7 / 11)


def test_nothing_shared() -> None:
    """Two texts without a common word share nothing."""
    shared = shared_passage('def g(x):\n    """Sum up."""', {"s": SEED.prompt})
    assert shared is not None and shared.words == 0


def test_copies_are_seen() -> None:
    """A problem that copies its parent, or another of its set, is marked; one in words of its own is not."""
    copy = _problem("copy", "Return the number of vowels in a text that has capital letters.", "seed")
    twin = _problem("twin", "Build a tower out of the bricks that are given, widest first.", "seed")
    double = _problem("double", "Build a tower out of the bricks that are given, smallest first.", "seed")
    own = _problem("own", "A dragon wants to know how much gold it may keep.", "seed")
    report = {one.task_id: one for one in contamination([copy, twin, double, own], [SEED])}
    assert {name for name, one in report.items() if one.copied} == {"copy", "twin", "double"}
    assert report["copy"].parent is not None
    assert report["copy"].parent.other_task_id == "seed"
    assert report["twin"].rest is not None
    assert report["twin"].rest.other_task_id == "double"


def test_unknown_parent() -> None:
    """Without its parent's text nothing is said about the parent."""
    assert contamination([_problem("a", "One two three.", "elsewhere")])[0].parent is None


@pytest.mark.official
def test_evoeval_subtle_copies_by_design() -> None:
    """Subtle changes its seeds by a word or two: most of it is one passage of the seed; creative has none."""
    store = official_store()
    seeds = official.humaneval(store)
    share = {
        name: [
            one.parent.share for one in contamination(official.evoeval(store, name)[:20], seeds) if one.parent
        ]
        for name in ("subtle", "creative")
    }
    assert sum(share["subtle"]) / 20 > 0.3 > 0.1 > sum(share["creative"]) / 20
