"""The chain of languages (EVALOOOP, section 5): how each opens a function, and programs out of replies."""

import re
from collections.abc import Sequence
from typing import Final

from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import begins_again, code_blocks, ended_text, extract_program, final_answer

CHAIN: Final = (
    Language.PYTHON,
    Language.PHP,
    Language.RUBY,
    Language.JAVASCRIPT,
    Language.PERL,
    Language.PYTHON,
)
STEPS: Final = len(CHAIN) - 1
"""M of the translation loop."""
TARGETS: Final = CHAIN[1:]
TITLES: Final = {language: spec.title for language, spec in LANGUAGES.items()}
_LABELS: Final = frozenset().union(*(spec.fence_labels for spec in LANGUAGES.values()))
END_OF_EXAMPLE: Final = "\n###"
"""Where a base model has finished its translation and invents another example."""


def definition(language: Language, name: str = r"\w+") -> re.Pattern[str]:
    """Finds where a function (of this name) is defined."""
    return re.compile(LANGUAGES[language].definition.format(name=name), re.MULTILINE)


def opening(language: Language, name: str, parameters: Sequence[str]) -> str:
    """The line or lines that open a function, a line end behind them.

    A parameter that is called like a word of the language gets a "_" behind its name.
    """
    spec = LANGUAGES[language]
    reserved = spec.reserved_words.split()
    plain = (f"{parameter}_" if parameter in reserved else parameter for parameter in parameters)
    signed = (f"${parameter}" for parameter in parameters)
    return spec.opening.format(name=name, parameters=", ".join(plain), variables=", ".join(signed))


def translated(reply: Reply, language: Language, name: str) -> tuple[str, Outcome | None]:
    """Returns the program, or the outcome of a reply without one: by the same rules in every language."""
    if language is Language.PYTHON:
        extracted = extract_program(reply, entry_point=name, prompt="", completes=False, other_names=False)
        return extracted.program, extracted.outcome
    if reply.finish in (Finish.STOP, Finish.LENGTH):
        text, ended = ended_text(reply.text)
        cut = reply.finish is Finish.LENGTH and not ended
        for part in dict.fromkeys((final_answer(text), text)):
            if program := _program(part, language, name, cut=cut):
                return program, None
    return "", reply.finish.outcome_without_answer


def continued(reply: Reply, opening: str) -> tuple[str, Outcome | None]:
    """The program that a base model made of the function's opening."""
    text, ended = ended_text(reply.text)
    body, end, _ = text.partition(END_OF_EXAMPLE)
    if reply.finish is not Finish.STOP and not (reply.finish is Finish.LENGTH and (end or ended)):
        return "", reply.finish.outcome_without_answer
    return (opening + body.rstrip() + "\n", None) if body.strip() else ("", Outcome.NO_ANSWER)


def _program(text: str, language: Language, name: str, *, cut: bool) -> str:
    """The program in an answer, empty where it has none; of a cut one only a closed block that defines it."""
    blocks = code_blocks(text)
    named = definition(language, re.escape(name))
    defining = [block for block in blocks if named.search(block.code)]
    labels = LANGUAGES[language].fence_labels
    if any(block.label in labels for block in defining):  # beside it the original may have the same form
        defining = [block for block in defining if block.label not in _LABELS - labels]
    if cut:
        whole = defining[:-1] if begins_again(defining) else defining
        return whole[-1].code if whole and whole[-1].closed else ""
    if defining:
        return defining[-1].code
    before = text[: blocks[0].span[0]] if blocks else text
    # Behind unfenced code a block is a remark, an example or an output.
    if not blocks or named.search(before):
        return _unfenced(before, language)
    if labelled := [block for block in blocks if block.label in labels]:
        return labelled[-1].code
    return blocks[0].code if len(blocks) == 1 else ""


def _unfenced(text: str, language: Language) -> str:
    """Unfenced code: from the first definition or a tag before it to the last line that can end one."""
    start = definition(language).search(text)
    if start is None:
        return ""
    spec = LANGUAGES[language]
    tag = text.find(spec.file_tag) if spec.file_tag else -1
    begin = tag if 0 <= tag < start.start() else text.rfind("\n", 0, start.start()) + 1
    last = re.compile(spec.last_line)
    lines = text[start.end() :].split("\n")
    while len(lines) > 1 and not last.fullmatch(lines[-1].rstrip()):
        lines.pop()
    return text[begin : start.end()] + "\n".join(lines) if len(lines) > 1 else text[begin:]
