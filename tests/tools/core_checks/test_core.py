"""Our own problems hold what their format promises, and are nobody else's."""

from functools import cache

import pytest

import core_checks as checks
from support.official_data import official_store
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

PROBLEMS = [problem for set_name in core.SETS for problem in core.problems(set_name)]
ALL = [problem.task_id for problem in PROBLEMS]
SEEDS = core.problems("seeds")
CLASSES = [problem.task_id for problem in core.classes()]
TRANSLATED = [seed.task_id for seed in SEEDS if checks.detail(seed.task_id).translations]


@pytest.mark.parametrize("task_id", [*ALL, *CLASSES])
def test_the_rules_on_paper_are_kept(task_id: str) -> None:
    if task_id in CLASSES:
        assert checks.class_findings(checks.class_detail(task_id)) == []
    else:
        assert checks.still_findings(checks.detail(task_id)) == []


@pytest.mark.parametrize("task_id", ALL[::40])
async def test_a_sample_keeps_the_rules_when_it_is_run(task_id: str) -> None:
    """Examples are true, wrong solutions fail, every surviving mutant is judged, parents do not solve it."""
    async with open_sandbox() as sandbox:
        assert (await checks.check_problem(sandbox, checks.detail(task_id))).findings == ()


@pytest.mark.parametrize("task_id", TRANSLATED[::8])
async def test_a_sample_passes_the_seeds_cases_in_every_language(task_id: str) -> None:
    """PHP, Ruby, JavaScript and Perl return what the reference does; at least 40 seeds are translated."""
    assert len(TRANSLATED) >= 40
    async with open_sandbox() as sandbox:
        assert await checks.check_translations(sandbox, checks.detail(task_id)) == []


@pytest.mark.slow
async def test_every_problem_keeps_the_rules_when_it_is_run() -> None:
    """As above, for all problems and classes; at least 95 % of the mutants are killed."""
    async with open_sandbox() as sandbox:
        reports = await checks.check_problems(sandbox, [*ALL, *CLASSES])
    assert {task_id: report.findings for task_id, report in reports.items() if report.findings} == {}
    assert sum(r.killed for r in reports.values()) >= 0.95 * sum(r.mutants for r in reports.values())


def test_what_the_sets_are_made_of() -> None:
    """Seeds of five levels, no two of one function; each, and nothing else, in verbose and in concise."""
    levels = [seed.level for seed in SEEDS]
    assert [levels.count(level) for level in range(1, 6)] == [16] * 5
    assert len({seed.entry_point for seed in SEEDS}) == len(SEEDS)
    assert len({problem.class_name for problem in core.classes()}) == len(CLASSES) == 20
    for set_name in ("verbose", "concise"):
        told = [parent for problem in core.problems(set_name) for parent in problem.parents]
        assert sorted(told) == sorted(seed.task_id for seed in SEEDS)
    names = (*core.SETS, "classes")
    assert len({core.sha256(name) for name in names}) == len(names)


def test_what_sets_are_made_from() -> None:
    """tool_use-main_only lacks tool_use's helpers in the prompt; a decomposed seed lists its two halves."""
    pairs = list(zip(core.problems("tool_use"), core.problems("tool_use-main_only"), strict=True))
    assert pairs
    for full, main in pairs:
        assert full.prompt.endswith(main.prompt) and full.prompt != main.prompt
        assert (full.reference, full.inputs) == (main.reference, main.inputs)
        assert full.entry_point == main.entry_point
    for half in core.problems("decompose"):
        (seed,) = half.parents
        assert half.task_id in checks.detail(seed).halves
        assert len(checks.detail(seed).halves) == 2
    with pytest.raises(KeyError, match="seeds"):
        core.problems("sedes")
    with pytest.raises(KeyError, match="core/classes/bank"):
        checks.class_detail("core/classes/bank")


@cache
def _public() -> tuple[list[str], set[str]]:
    """The texts and the function names of the public sets."""
    folder = official_store().folder
    assert folder is not None
    rows = checks.public_rows(folder)
    texts = [text for row in rows for text in checks.public_texts(row)]
    return texts, {row["entry_point"] for row in rows if "entry_point" in row}


@pytest.mark.official
def test_our_problems_are_nobody_elses() -> None:
    """No shared run of eight words, without exceptions, and no name of a public function."""
    texts, names = _public()
    ours = {problem.task_id: problem.prompt for problem in PROBLEMS}
    joined = checks.shared_runs(" . ".join(ours.values()), texts)
    assert len(texts) > 1000
    assert {task_id for task_id, prompt in ours.items() if checks.shared_runs(prompt, joined)} == set()
    assert {problem.entry_point for problem in PROBLEMS} & names == set()
