"""Seeds that are told in other languages are right in each of them."""

from dataclasses import replace

import pytest

import core_checks as checks
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

TRANSLATED = [
    problem.task_id for problem in core.problems("seeds") if checks.detail(problem.task_id).translations
]
SEED = checks.detail("core/seeds/fence-posts")


def test_enough_seeds_are_translated() -> None:
    """At least 40 seeds have references in all other languages of the chain."""
    assert len(TRANSLATED) >= 40


async def _findings(seed: checks.CoreProblem) -> list[str]:
    async with open_sandbox() as sandbox:
        return await checks.check_translations(sandbox, seed)


@pytest.mark.parametrize("task_id", TRANSLATED[::8])
async def test_a_sample_passes_the_seeds_cases_in_every_language(task_id: str) -> None:
    """PHP, Ruby, JavaScript and Perl return what the reference does; the slow test checks all seeds."""
    assert await _findings(checks.detail(task_id)) == []


async def test_a_wrong_translation_is_found() -> None:
    """A program that is right on the shown examples only is named with its language and the case."""
    wrong = "function fence_posts(length, gap) { return Math.floor((length + 4) / gap) + 1; }"
    (finding,) = await _findings(replace(SEED, translations={**SEED.translations, "javascript": wrong}))
    assert finding.startswith("the javascript translation failed on (")


async def test_a_missing_language_is_found() -> None:
    """Whoever translates a seed does so into every language of the chain, and into no other."""
    some = {name: code for name, code in SEED.translations.items() if name != "perl"}
    assert await _findings(replace(SEED, translations={**some, "cobol": "."})) == [
        "has translations, but none into perl",
        "translates into 'cobol', no language of ours",
    ]


async def test_values_that_do_not_cross_are_found() -> None:
    """An input beyond the whole numbers that JavaScript holds exactly cannot be translated."""
    far = replace(SEED.problem, inputs=("(2**60, 7)",))
    (finding,) = await _findings(replace(SEED, problem=far))
    assert "does not cross" in finding


async def test_a_seed_without_translations_is_left_alone() -> None:
    """Translations are an offer: a seed without any breaks no rule."""
    assert await _findings(replace(SEED, translations={})) == []
