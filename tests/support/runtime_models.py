"""Models with a fixed way of answering runtime questions, for tests: no server, no network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from triathlon_runner.llm import Answer, Chat, Completion, Sampling
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Reply, Usage
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
    assert set(kinds) <= set(KINDS)
    return lambda kind, truth: truth if kind in kinds else "I can't tell."


@dataclass
class ScriptedModel:
    """Answers each question by a rule from its kind and a right answer."""

    truth: Truth
    rule: Callable[[QuestionKind, str], str]
    style: Style = "direct"
    kind: Literal["instruct", "base"] = "instruct"
    id: str = "scripted"
    prompts: list[Chat | Completion] = field(default_factory=list)

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        self.prompts.append(prompt)
        if isinstance(prompt, Chat):
            question = prompt.messages[-1].content
            thought = "[THOUGHT]\nstep by step\n[/THOUGHT]\n" if self.style == "cot" else ""
            opening = f"{thought}[ANSWER]\n"
        else:
            question = "[PYTHON]" + prompt.text.rpartition("[PYTHON]")[2].rpartition("\n[")[0]
            opening = "step by step\n[/THOUGHT]\n[ANSWER]\n" if self.style == "cot" else ""
        answer = self.rule(*self.truth[question])
        reply = Reply(text=f"{opening}{answer}\n")
        return Answer(reply, Usage(requests=1, input_tokens=10, output_tokens=2), 0.01, "scripted")
