"""Our own problems hold what their format promises."""

from dataclasses import replace

import pytest

import core_checks as checks
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

ALL = [problem.task_id for set_name in core.SETS for problem in core.problems(set_name)]
CLASSES = [problem.task_id for problem in core.classes()]


@pytest.mark.parametrize("task_id", ALL)
def test_every_problem_keeps_the_rules_on_paper(task_id: str) -> None:
    """Types, two examples, enough inputs and wrong solutions, known topics, plain imports, the canary."""
    assert checks.still_findings(checks.detail(task_id)) == []


def test_a_format_stands_in_one_line() -> None:
    """A quotation that a line end tears cannot be read as the format that it shows."""
    whole = checks.detail("core/seeds/text-table")
    torn = replace(
        whole, problem=replace(whole.problem, prompt=whole.problem.prompt.replace('" | "', '"\n    | "'))
    )
    assert [finding.split(":")[0] for finding in checks.still_findings(torn)] == [
        "a quotation goes on in the next line"
    ] * 2


@pytest.mark.parametrize("task_id", ALL[::40])
async def test_a_sample_keeps_the_rules_when_it_is_run(task_id: str) -> None:
    """Examples are true, wrong solutions fail, every surviving mutant is judged, parents do not solve it."""
    async with open_sandbox() as sandbox:
        assert (await checks.check_problem(sandbox, checks.detail(task_id))).findings == ()


@pytest.mark.slow
async def test_every_problem_keeps_the_rules_when_it_is_run() -> None:
    """As above, for all problems and classes; at least 95 % of the mutants are killed."""
    async with open_sandbox() as sandbox:
        reports = await checks.check_problems(sandbox, [*ALL, *CLASSES])
    assert {task_id: report.findings for task_id, report in reports.items() if report.findings} == {}
    assert sum(r.killed for r in reports.values()) >= 0.95 * sum(r.mutants for r in reports.values())


def test_seeds_fill_five_levels_evenly() -> None:
    """80 seeds, 16 on each of the levels 1 to 5."""
    levels = [problem.level for problem in core.problems("seeds")]
    assert [levels.count(level) for level in range(1, 6)] == [16] * 5


def test_function_names_are_unique_among_seeds() -> None:
    """No two seeds ask for the same function."""
    names = [problem.entry_point for problem in core.problems("seeds")]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("set_name", ["verbose", "concise"])
def test_every_seed_is_told_in_other_words(set_name: str) -> None:
    """Each seed, and nothing else, stands in verbose and in concise."""
    told = [parent for problem in core.problems(set_name) for parent in problem.parents]
    assert sorted(told) == sorted(problem.task_id for problem in core.problems("seeds"))


def test_main_only_asks_the_same_without_helpers() -> None:
    """tool_use-main_only differs from tool_use in nothing but the helpers in the prompt."""
    pairs = list(zip(core.problems("tool_use"), core.problems("tool_use-main_only"), strict=True))
    assert pairs
    for full, main in pairs:
        assert full.prompt.endswith(main.prompt) and full.prompt != main.prompt
        assert (full.reference, full.inputs, full.entry_point) == (
            main.reference,
            main.inputs,
            main.entry_point,
        )


def test_halves_name_their_seed() -> None:
    """Each decomposed seed has two halves, and the seed lists them."""
    for half in core.problems("decompose"):
        (seed,) = half.parents
        assert half.task_id in checks.detail(seed).halves
        assert len(checks.detail(seed).halves) == 2


def test_hashes_tell_sets_apart() -> None:
    """Every set has a hash of its own, and it does not change within a process."""
    hashes = {name: core.sha256(name) for name in (*core.SETS, "classes")}
    assert len(set(hashes.values())) == len(hashes)
    assert hashes["seeds"] == core.sha256("seeds")


def test_unknown_names_are_refused() -> None:
    """A set that does not exist is an error that lists the sets."""
    with pytest.raises(KeyError, match="seeds"):
        core.problems("sedes")
