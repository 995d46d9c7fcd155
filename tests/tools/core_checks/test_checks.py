"""The checks of our own problems see what is wrong with one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

import core_checks as checks
from core_checks._mutants import mutants
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

PROGRAM = """
def clip(number: int, top: int) -> int:
    if number > top:
        return top
    return number
"""
SUM_ABOVE = checks.detail("core/seeds/sum-above")
SEED = checks.detail("core/seeds/fence-posts")
BUFFER = checks.class_detail("core/classes/text-buffer")


def changed(old: str, new: str) -> checks.CoreClass:
    """The sound class with one change of its reference or its tests."""
    assert old in BUFFER.problem.reference + BUFFER.problem.test
    texts = {part: getattr(BUFFER.problem, part).replace(old, new) for part in ("reference", "test")}
    return replace(BUFFER, problem=replace(BUFFER.problem, **texts))


def with_prompt(sound: checks.CoreProblem, old: str, new: str) -> checks.CoreProblem:
    assert old in sound.problem.prompt
    return replace(sound, problem=replace(sound.problem, prompt=sound.problem.prompt.replace(old, new)))


async def findings(
    made: checks.CoreProblem | checks.CoreClass, *, translations: bool = False
) -> Sequence[str]:
    async with open_sandbox() as sandbox:
        if isinstance(made, checks.CoreClass):
            return (await checks.check_class(sandbox, made)).findings
        if translations:
            return await checks.check_translations(sandbox, made)
        return (await checks.check_problem(sandbox, made)).findings


def test_every_kind_of_small_change_is_made() -> None:
    """Comparisons, conditions and removed statements give different mutants; annotations give none."""
    assert {mutant.name for mutant in mutants(PROGRAM)} == {
        "if number > top: => if number >= top:",
        "if number > top: => if number <= top:",
        "if number > top: => if True:",
        "if number > top: => if False:",
        "return top => pass",
        "return number => pass",
    }
    sources = [mutant.source for mutant in mutants(core.problems("seeds")[0].reference)]
    assert len(set(sources)) == len(sources) > 3
    assert all(compile(source, "mutant", "exec") for source in sources)


def test_faults_of_texts_are_found() -> None:
    """Eight shared words in a row, whatever their case; a quoted format that a line end tears."""
    text = "one two three four five six seven eight nine"
    others = ["... One, two three FOUR five six seven eight!"]
    assert checks.shared_runs(text, others) == {"one two three four five six seven eight"}
    assert not checks.shared_runs(text, ["two three four five six seven eight one"])
    torn = with_prompt(checks.detail("core/seeds/text-table"), '" | "', '"\n    | "')
    faults = [finding.split(":")[0] for finding in checks.still_findings(torn)]
    assert faults == ["a quotation goes on in the next line"] * 2


async def test_what_is_wrong_with_a_problem_is_seen() -> None:
    """With a single input, mutants survive and wrong solutions pass; an example contradicts the reference."""
    only = replace(SUM_ABOVE.problem, inputs=("([5, 12], 8)",))
    weak = await findings(replace(SUM_ABOVE, problem=only, input_names=("only one",)))
    assert "the wrong solution passes: takes the limit itself along" in weak
    assert any(finding.startswith("survives and is not judged: ") for finding in weak)
    false = await findings(with_prompt(SUM_ABOVE, "    32\n", "    33\n"))
    assert [finding for finding in false if "shows 33" in finding]


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [problem.task_id for problem in core.classes()][::5])
async def test_a_sample_passes_its_tests_and_no_mutant_does(task_id: str) -> None:
    """The class passes; each of its mutants fails, or is listed in the file with the reason why it cannot."""
    assert await findings(checks.class_detail(task_id)) == ()


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        # A test that no longer asserts lets mutants live.
        ("self.assertEqual(buffer.move(-9), 0)", "buffer.move(-9)", "survives and is not judged: "),
        ("self.cursor = begin + len(new)", "self.cursor = begin", "its own tests do not pass: test_"),
        ("def test_cut_", "def cut_", "4 tests, 5 needed"),
        ("def selection", "def _a(self): ...\n    def _b(self): ...\n    def selection", "7 methods"),
        ('    """Puts text in place of what is selected and returns the whole line."""', "", "type needs"),
        ("class TextBuffer:", "import os\nclass TextBuffer:", "imports ['os']"),
    ],
)
async def test_what_is_wrong_with_a_class_is_seen(old: str, new: str, begins: str) -> None:
    """Weak, failing or few tests; too many methods, one without docstring, a module that reaches outside."""
    assert any(finding.startswith(begins) for finding in await findings(changed(old, new)))


def test_methods_that_stand_alone_are_seen() -> None:
    """A class whose methods neither use each other nor change anything is no subject for questions."""
    lone = "class TextBuffer:\n" + "\n".join(f'    def {m}(self):\n        """One."""' for m in "abc")
    made = replace(BUFFER, problem=replace(BUFFER.problem, reference=lone))
    assert checks.class_findings(made) == ["no method uses another", "no method changes an attribute"]


async def test_what_is_wrong_with_translations_is_seen() -> None:
    """Wrong programs, languages that lack or are none, inputs beyond JavaScript's exact whole numbers."""
    wrong = "function fence_posts(length, gap) { return Math.floor((length + 4) / gap) + 1; }"
    some = {name: code for name, code in SEED.translations.items() if name != "perl"}
    made = {
        "the javascript translation failed on (": {**SEED.translations, "javascript": wrong},
        "has translations, but none into perl": some,
        "translates into 'cobol', no language of ours": {**SEED.translations, "cobol": "."},
    }
    for begins, translations in made.items():
        (finding,) = await findings(replace(SEED, translations=translations), translations=True)
        assert finding.startswith(begins)
    far = replace(SEED, problem=replace(SEED.problem, inputs=("(2**60, 7)",)))
    (finding,) = await findings(far, translations=True)
    assert "does not cross" in finding
    assert await findings(replace(SEED, translations={}), translations=True) == []
