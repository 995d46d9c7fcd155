"""Every Eval Ever's samples: one line a question that a model was asked, or a loop as one conversation."""

from collections.abc import Iterator
from typing import Any, Final

from triathlon_runner.records import (
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    LoopStep,
    Outcome,
    PredictionRecord,
    RuntimeRecord,
    UnitRecord,
)
from triathlon_site.exchange._source import Source

VERSION: Final = "0.3.0"
_Row = dict[str, Any]


def instances(source: Source) -> Iterator[_Row]:
    """A line for each record, or for each question of a runtime record.

    Prompts and replies stand in it only where they may be handed on.
    """
    headline = next(metric for metric in source.entry.metrics if metric.headline)
    common = {
        "schema_version": VERSION,
        "evaluation_id": source.id,
        "model_id": source.repository,
        "evaluation_name": source.entry.id,
        "evaluation_result_id": f"{source.id}#{headline.id}",
        "sample_hash": None,
        "error": None,
    }
    for record in source.records():
        for row in _rows(record, with_texts=source.with_texts):
            yield common | row


def _rows(record: UnitRecord, *, with_texts: bool) -> Iterator[_Row]:
    facts = {"outcome": record.outcome.value, "sample": str(record.sample), "task_id": record.task_id}
    whole = {
        "sample_id": f"{record.task_id}#{record.sample}",
        "evaluation": _evaluation(record.outcome is Outcome.PASSED),
        "token_usage": _tokens(record),
        "performance": {"latency_ms": record.seconds * 1000} if record.seconds else None,
        "metadata": facts,
    }
    sustained = getattr(record, "sustained_loops", None)
    if sustained is not None:
        facts |= {"sustained_loops": str(sustained), "max_loops": str(getattr(record, "max_loops", ""))}
    if not with_texts:
        yield whole | _single("", "", "")
    elif isinstance(record, LoopRecord):
        yield whole | _conversation(record)
    elif isinstance(record, RuntimeRecord):
        yield from _questions(record, whole)
    elif isinstance(record, PredictionRecord):
        yield whole | _answer(record.prediction, f"{record.program}\n\n{record.assertion}")
    elif isinstance(record, EvolvedRecord):
        yield whole | _single(record.prompt, record.reply.text, record.program, record.reply.reasoning)
    else:
        question, reply = next(iter(record.recorded_replies()), ("", None))
        yield whole | _single(question, reply.text if reply else "", "")


def _evaluation(passed: bool, turns: int | None = None) -> _Row:
    return {"score": float(passed), "is_correct": passed, "num_turns": turns}


def _tokens(record: UnitRecord) -> _Row | None:
    """None where the server did not count them."""
    usage = record.usage
    if not usage.requests or usage.uncounted:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _single(question: str, reply: str, extracted: str, reasoning: str = "") -> _Row:
    """One question, one reply, and what was taken out of it."""
    return {
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": []},
        "output": {"raw": [reply] if reply else [], "reasoning_trace": [reasoning] if reasoning else None},
        "messages": None,
        "answer_attribution": _attribution(extracted, "output.raw") if extracted else [],
    }


def _attribution(extracted: str, source: str, turn: int = 0) -> list[_Row]:
    return [
        {
            "turn_idx": turn,
            "source": source,
            "extracted_value": extracted,
            "extraction_method": "custom",
            "is_terminal": True,
        }
    ]


def _answer(answer: AnswerRecord, question: str) -> _Row:
    row = _single(question, answer.reply.text, answer.answer or "", answer.reply.reasoning)
    row["input"]["reference"] = list(answer.expected)
    return row


def _questions(record: RuntimeRecord, whole: _Row) -> Iterator[_Row]:
    """Every question of a program and input. Tokens and time are known for all of them together only."""
    for name, answer in _named(record):
        row = _answer(answer, f"{record.program}\n\n{record.input}\n\n{answer.question}")
        facts = whole["metadata"] | {"question": name, "outcome": answer.outcome.value}
        yield (
            whole
            | row
            | {
                "sample_id": f"{whole['sample_id']}#{name}",
                "evaluation": _evaluation(answer.correct),
                "token_usage": None,
                "performance": None,
                "metadata": facts,
            }
        )


def _named(record: RuntimeRecord) -> Iterator[tuple[str, AnswerRecord]]:
    for statement in record.statements:
        place = f"line-{statement.line}-{statement.variable}"
        yield f"coverage-{place}", statement.coverage
        yield f"state-{place}", statement.state
        yield f"path-{place}", statement.path
    yield "output", record.output


def _conversation(record: LoopRecord) -> _Row:
    """Prompt, program, and summary of each loop in turn; every question was asked in a fresh conversation."""
    messages: list[_Row] = []
    for step in record.loops:
        messages += _turns(step, len(messages))
    last = record.loops[-1].program if record.loops else ""
    turn = next((m["turn_idx"] for m in reversed(messages) if m["content"] and m["role"] == "assistant"), 0)
    attribution = _attribution(last, f"messages[{turn}].content", turn) if last else []
    return {
        "interaction_type": "multi_turn",
        "input": {"raw": record.loops[0].prompt if record.loops else "", "reference": []},
        "output": None,
        "messages": messages,
        "answer_attribution": attribution,
        "evaluation": _evaluation(record.outcome is Outcome.PASSED, len(messages)),
    }


def _turns(step: LoopStep, first: int) -> Iterator[_Row]:
    told = [("user", step.prompt, ""), ("assistant", step.reply.text, step.reply.reasoning)]
    if step.summary_reply is not None:
        told.append(("assistant", step.summary_reply.text, step.summary_reply.reasoning))
    for place, (role, text, reasoning) in enumerate(told, start=first):
        yield {
            "turn_idx": place,
            "role": role,
            "content": text,
            "reasoning_trace": reasoning or None,  # one text here, where `output` has a list
        }
