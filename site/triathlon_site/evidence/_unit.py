"""One unit as an article: the film of a loop, the steps of a runtime chain, a problem beside its seeds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Final

from triathlon_runner.records import (
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    Reply,
    RuntimeRecord,
    StatementRecord,
    UnitRecord,
)
from triathlon_runner.runtime import chains
from triathlon_site.evidence._markup import answer, cut, failing, folded, outcome, words
from triathlon_site.evidence._words import Words, changed_words

_FRACTIONS: Final = {1.0: "1", 0.5: "½", 0.25: "¼", 0.125: "⅛"}
_HEADS: Final = ("Line", "Variable", "covered?", "state", "next line", "chain")


def article(record: UnitRecord, anchor: str, seeds: Mapping[str, UnitRecord]) -> str:
    """A unit with everything that the model wrote and the test that decided.

    Args:
        record: the unit.
        anchor: its id on the page.
        seeds: by task_id, what the model did with the problems that this one may have been evolved from.
    """
    sample = f" <small>sample {record.sample + 1}</small>" if record.sample else ""
    name = f'<h2><a href="#{anchor}">{escape(record.task_id)}</a>{sample} {outcome(record.outcome)}</h2>'
    return f'<article class="unit" id="{anchor}">\n{name}\n{_body(record, seeds)}\n</article>\n'


def _body(record: UnitRecord, seeds: Mapping[str, UnitRecord]) -> str:
    if isinstance(record, LoopRecord):
        return _loop(record)
    if isinstance(record, RuntimeRecord):
        return _runtime(record)
    if isinstance(record, EvolvedRecord):
        return _evolved(record, [found for name in record.parents if (found := seeds.get(name))])
    return folded(record.model_dump_json(indent=1), "record")


def _loop(record: LoopRecord) -> str:
    similar = "" if record.similarity is None else f"; similarity of the last two prompts {record.similarity}"
    head = f"<p>Sustained {record.sustained_loops} of {record.max_loops} loops{similar}.</p>"
    return f'{head}\n<ol class="film">\n{"".join(_steps(record))}</ol>'


def _steps(record: LoopRecord) -> Iterator[str]:
    """Each prompt with its words compared with those of the prompt before."""
    before = None
    for step in record.loops:
        runs = [Words("same", step.prompt)] if before is None else changed_words(before, step.prompt)
        reply = folded(step.reply.text, "reply") if step.reply.text != step.program else ""
        yield (
            f'<li><p class="sentence">{words(runs)}</p>\n{outcome(step.outcome)}\n{failing(step.verdict)}\n'
            f"{folded(step.program, 'program')}{reply}{_reasoning(step.reply)}</li>\n"
        )
        before = step.prompt


def _reasoning(reply: Reply) -> str:
    return folded(reply.reasoning, "reasoning")


def _runtime(record: RuntimeRecord) -> str:
    sample = f", sample {record.sample + 1}" if record.sample else ""
    label = f"Questions about {escape(record.task_id)}{sample}"
    heads = "".join(f'<th scope="col">{head}</th>' for head in _HEADS)
    scores = [chain.score for chain in chains(record)]
    rows = "".join(_statement(*pair) for pair in zip(record.statements, scores, strict=True))
    known = all(s.coverage.correct and s.state.correct and s.path.correct for s in record.statements)
    last = answer(record.output, known and not record.output.correct, 4)
    return (
        f"<p><code>{escape(cut(record.input))}</code></p>\n{folded(record.program, 'program')}\n"
        f'<div class="table-frame" tabindex="0" role="region" aria-label="{label}"><table class="data">'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{rows}\n"
        f'<tr><th scope="row" colspan="2">output</th>{last}</tr></tbody></table></div>\n'
        f"{''.join(_wrong_replies(record))}"
    )


def _statement(one: StatementRecord, score: float) -> str:
    """A chain, its first wrong step marked."""
    covered = one.coverage.correct
    stated = covered and one.state.correct
    cells = (
        answer(one.coverage, not covered)
        + answer(one.state, covered and not one.state.correct)
        + answer(one.path, stated and not one.path.correct)
    )
    return (
        f'<tr><th scope="row">{one.line}</th><td><code>{escape(one.variable)}</code></td>{cells}'
        f'<td class="number">{_FRACTIONS.get(score, "0")}</td></tr>'
    )


def _wrong_replies(record: RuntimeRecord) -> Iterator[str]:
    for one in record.statements:
        named = (("covered", one.coverage), ("state", one.state), ("next line", one.path))
        yield from (_wrong(found, f"line {one.line}, {name}") for name, found in named)
    yield _wrong(record.output, "output")


def _wrong(found: AnswerRecord, place: str) -> str:
    return "" if found.correct else folded(found.reply.text, f"reply: {place}")


def _evolved(record: EvolvedRecord, seeds: Sequence[UnitRecord]) -> str:
    """The problem and the model's program beside those of its seeds."""
    beside = [one for one in seeds if isinstance(one, EvolvedRecord)]
    alone = ""
    if record.parents and not beside:
        names = escape(", ".join(record.parents))
        alone = f'<p class="muted">Evolved from {names}, without a result of this model.</p>\n'
    reply = folded(record.reply.text, "reply") if record.reply.text != record.program else ""
    return (
        f'{alone}<div class="beside">\n{_solution(record, titled=bool(beside))}\n'
        f"{''.join(map(_seed, beside))}</div>\n{_problem(record, beside)}\n{reply}{_reasoning(record.reply)}"
    )


def _solution(record: EvolvedRecord, *, titled: bool) -> str:
    taken = escape("; ".join(record.changes))
    notes = f'<p class="muted">Taken out of the reply: {taken}.</p>\n' if taken else ""
    program = folded(record.program, "program", opened=True)
    none = "" if record.program else '<p class="muted">No program was found in the reply.</p>'
    title = "<h3>This problem</h3>" if titled else ""
    return f"<div>{title}\n{failing(record.verdict)}\n{notes}{program}{none}</div>"


def _seed(record: EvolvedRecord) -> str:
    return (
        f"<div><h3>Evolved from {escape(record.task_id)} {outcome(record.outcome)}</h3>\n"
        f"{failing(record.verdict)}\n{folded(record.program, 'program for it', opened=True)}"
        f"{folded(record.prompt, 'the problem it came from')}</div>\n"
    )


def _problem(record: EvolvedRecord, seeds: Sequence[EvolvedRecord]) -> str:
    """With the words marked that differ from its one seed's; plain where it has none or two."""
    if len(seeds) != 1:
        return folded(record.prompt, "problem")
    return _retold(seeds[0].prompt, record.prompt)


@lru_cache(maxsize=4096)
def _retold(before: str, after: str) -> str:
    """All models are asked the same: one comparison serves them all."""
    marked = words(changed_words(before, after))
    return (
        "<details><summary>problem, with the words that changed</summary>"
        f'<pre class="retold">{marked}</pre></details>'
    )
