"""Our classes: their shape, and tests that bite."""

from dataclasses import replace

import pytest

import core_checks as checks
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

ALL = [problem.task_id for problem in core.classes()]
SOUND = checks.class_detail("core/classes/text-buffer")


def _changed(old: str, new: str) -> checks.CoreClass:
    """The sound class with one change of its reference or its tests."""
    assert old in SOUND.problem.reference + SOUND.problem.test
    texts = {part: getattr(SOUND.problem, part).replace(old, new) for part in ("reference", "test")}
    return replace(SOUND, problem=replace(SOUND.problem, **texts))


async def _findings(made: checks.CoreClass) -> tuple[str, ...]:
    async with open_sandbox() as sandbox:
        return (await checks.check_class(sandbox, made)).findings


def test_there_are_twenty() -> None:
    """20 classes, each with a name of its own."""
    assert len({problem.class_name for problem in core.classes()}) == len(ALL) == 20


@pytest.mark.parametrize("task_id", ALL)
def test_every_class_keeps_the_rules_on_paper(task_id: str) -> None:
    """Three to five methods that use each other, attributes that change, docstrings, topics, the canary."""
    assert checks.class_findings(checks.class_detail(task_id)) == []


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ALL[::5])
async def test_a_sample_passes_its_tests_and_no_mutant_does(task_id: str) -> None:
    """The class passes; each of its mutants fails, or is listed in the file with the reason why it cannot."""
    assert await _findings(checks.class_detail(task_id)) == ()


async def test_a_weak_test_is_seen() -> None:
    """A test that no longer asserts lets mutants live, and they are named."""
    findings = await _findings(_changed("self.assertEqual(buffer.move(-9), 0)", "buffer.move(-9)"))
    assert any(finding.startswith("survives and is not judged: ") for finding in findings)


async def test_a_class_that_fails_its_tests_is_seen() -> None:
    """The first test that fails is named, and what it said."""
    findings = await _findings(_changed("self.cursor = begin + len(new)", "self.cursor = begin"))
    assert findings[0].startswith("its own tests do not pass: test_")


async def test_too_few_tests_are_seen() -> None:
    """Tests that unittest does not find do not count."""
    assert "4 tests, 5 needed" in await _findings(_changed("def test_cut_", "def cut_"))


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("def selection", "def _a(self): ...\n    def _b(self): ...\n    def selection", "7 methods"),
        ('    """Puts text in place of what is selected and returns the whole line."""', "", "type needs"),
        ("class TextBuffer:", "import os\nclass TextBuffer:", "imports ['os']"),
    ],
)
def test_a_class_that_breaks_a_rule_on_paper_is_seen(old: str, new: str, finding: str) -> None:
    """Too many methods, a method without docstring, a module that reaches outside."""
    assert any(found.startswith(finding) for found in checks.class_findings(_changed(old, new)))


def test_methods_that_stand_alone_are_seen() -> None:
    """A class whose methods neither use each other nor change anything is no subject for questions."""
    lone = "class TextBuffer:\n" + "\n".join(f'    def {m}(self):\n        """One."""' for m in "abc")
    made = replace(SOUND, problem=replace(SOUND.problem, reference=lone))
    assert checks.class_findings(made) == ["no method uses another", "no method changes an attribute"]


def test_an_unknown_class_is_refused() -> None:
    """A task_id that no class has is a KeyError."""
    with pytest.raises(KeyError, match="core/classes/bank"):
        checks.class_detail("core/classes/bank")
