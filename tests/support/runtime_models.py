"""Fixed ways of answering runtime questions, for a model of `support.loop_fakes`."""

from collections.abc import Callable, Mapping
from itertools import product

from triathlon_runner.prompts import load_prompts
from triathlon_runner.runtime._grade import expected_answers
from triathlon_runner.runtime._questions import KINDS, Asker, QuestionFile, QuestionKind, Style

Truth = Mapping[str, tuple[QuestionKind, str]]
"""By the text of a question: its kind and a right answer."""


def truths(questions: QuestionFile, style: Style = "direct", asker: Asker | None = None) -> Truth:
    """The right answer to every question, found by the question's own text; ours where no asker is named."""
    asker = asker or Asker(load_prompts("runtime"), style)
    found: dict[str, tuple[QuestionKind, str]] = {}
    for program in questions.programs:
        for asked in program.inputs:
            for kind, statement in product(KINDS, (None, *asked.statements)):
                if (kind == "output") is (statement is None):
                    answer = expected_answers(kind, program, asked, statement)[-1]
                    found[asker.question(kind, program, asked, statement)] = (kind, answer)
    return found


def all_right(_kind: QuestionKind, truth: str) -> str:
    return truth


def right_on(*kinds: QuestionKind) -> Callable[[QuestionKind, str], str]:
    """Right on these kinds of question, useless on the others."""
    return lambda kind, truth: truth if kind in kinds else "I can't tell."


def answers(
    truth: Truth, rule: Callable[[QuestionKind, str], str], style: Style = "direct"
) -> Callable[[str], str]:
    """What a model says that answers each question by a rule from its kind and a right answer."""
    thought = "step by step\n[/THOUGHT]\n" if style == "cot" else ""

    def say(text: str) -> str:
        if text in truth:  # a chat's last message; a base model goes on from an opened tag
            opening = f"[THOUGHT]\n{thought}[ANSWER]\n" if thought else "[ANSWER]\n"
            return f"{opening}{rule(*truth[text])}\n"
        question = "[PYTHON]" + text.rpartition("[PYTHON]")[2].rpartition("\n[")[0]
        opening = f"{thought}[ANSWER]\n" if thought else ""
        return f"{opening}{rule(*truth[question])}\n"

    return say
