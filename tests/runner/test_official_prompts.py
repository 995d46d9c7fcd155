"""The authors' own prompts: which suites ask with them, and how their places are filled."""

from pathlib import Path

import pytest

from support.official_data import official_store
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.llm import Chat, Completion
from triathlon_runner.loop._prompt import with_official
from triathlon_runner.prompts import load_prompts, template_of
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    QuestionKind,
    StatementQuestion,
    official_asker,
)

TEXTS = {
    "generate": "Do {description}\nNow {{x}}",
    "summary": "Sum up:\n{code}\n",
    "similarity": "{prompt1}{code1}{prompt2}{code2}?",
}
PROGRAM = ProgramQuestions(task_id="t", program="def f(x):\n    return x\n", entry_point="f", inputs=())
TEST = PROGRAM.model_copy(update={"test": "import unittest"})
ASKED = InputQuestions(
    index=0, text="f('a')", shown='f("a")', masked="assert f('a') == ??", originals=("'a'",), statements=()
)
SET_UP = ASKED.model_copy(update={"setup": "a = 1\nb = 2"})
BEFORE_A_TEST = "# Test code starts here. Only write the completed test code in your answer.\n"
STATEMENT = StatementQuestion(line=2, variable="x", executed=True, states=(), next_lines=(-1,))


def test_places_are_filled_at_once(tmp_path: Path) -> None:
    """And never read as places again, the last line end kept; `--prompts` goes before the authors'."""
    prompts = with_official(load_prompts("loop"), TEXTS)
    code = "return '{code} {{ task }} $y & <z>'"
    assert prompts.render("summary", code=code) == f"Sum up:\n{code}\n"
    compared = {"first_prompt": "P", "first_program": "C", "second_prompt": "Q", "second_program": ""}
    assert prompts.render("similarity", **compared) == "PCQ?"
    assert template_of("{other} {line}", {"line": "line"}) == "{other} {{ line }}\n"
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "generate.txt").write_text("Mine: {{ task }}")
    prompts = with_official(load_prompts("loop", tmp_path), TEXTS)
    assert prompts.render("generate", task="it") == "Mine: it"
    assert prompts.render("summary", code="pass") == "Sum up:\npass\n"


@pytest.mark.parametrize(
    ("kind", "program", "asked", "invocation"),
    [
        ("coverage", PROGRAM, ASKED, 'f("a")'),
        ("state", TEST, ASKED, '\nf("a")'),
        ("state", TEST, SET_UP, '\n# setup code executed previously\n# a = 1\n# b = 2\nf("a")'),
        ("output", PROGRAM, ASKED, "\nassert f('a') == ??"),
        ("output", TEST, ASKED, f"\n{BEFORE_A_TEST}assert f('a') == ??"),
    ],
)
def test_a_question_of_reval(
    kind: QuestionKind, program: ProgramQuestions, asked: InputQuestions, invocation: str
) -> None:
    """The input stands as the data set writes it; a test has its set-up in comments in front of it."""
    text = "{code}|{invocation}|{invocation_abbr}|{line}|{codeline}|{var}"
    asker = official_asker({kind: text}, "direct")
    statement = None if kind == "output" else STATEMENT
    code, shown, called, line, codeline, variable = asker.question(kind, program, asked, statement).split("|")
    assert (code, shown) == (program.program, invocation)
    assert called == ("the above test code" if program.test else 'f("a")')
    assert (line, codeline, variable) == (("2", "    return x", "x") if statement else ("0", "", ""))


def test_the_path_and_how_a_text_is_asked() -> None:
    """A function's lines are numbered, a class's not; one message of the user, or a text to continue."""
    asker = official_asker({"path": "{code}"}, "direct")
    assert asker.question("path", PROGRAM, ASKED, STATEMENT) == "1\tdef f(x):\n2\t    return x\n3\t\n"
    assert asker.question("path", TEST, ASKED, STATEMENT) == PROGRAM.program
    assert asker.prompt("path", "text", completes=True) == Completion("text")
    chat = asker.prompt("path", "text", completes=False)
    assert isinstance(chat, Chat) and [(m.role, m.content) for m in chat.messages] == [("user", "text")]


@pytest.mark.official
@pytest.mark.parametrize("suite_id", ["loop/mbpp-plus", "loop/humaneval-plus", "runtime/dreval"])
def test_without_its_prompts_a_suite_cannot_be_built(suite_id: str, tmp_path: Path) -> None:
    """It is said which file is missing and where it comes from; the variant with our prompts is built."""
    folder = official_store().folder
    assert folder is not None
    for path in folder.glob("*.gz"):
        (tmp_path / path.name).symlink_to(path)
    store = DataStore(cache=tmp_path / "cache", folder=tmp_path, fetch=False)
    plain, ours = catalogue.select([suite_id, f"{suite_id}@own-prompts"])
    with pytest.raises(DataUnavailableError, match=r"prompts/(evaloop|reval)/.*githubusercontent"):
        plain.build(store)
    assert ours.build(store).id == ours.id
