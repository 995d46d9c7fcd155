"""Every Eval Ever's samples: one line a question that a model was asked, or a conversation."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from triathlon_runner.records import Outcome, Question, Reply, UnitRecord
from triathlon_site.exchange._source import Source

VERSION: Final = "0.3.0"
_WITHOUT_TEXTS: Final = Question("", Reply(text=""))
_Row = dict[str, Any]


def instances(source: Source) -> Iterator[_Row]:
    """A line for each record, or for each question of a record whose questions have names.

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
    questions = list(record.questions()) if with_texts else []
    if record.conversation and questions:
        yield whole | _conversation(record.outcome, questions)
        return
    for question in questions or [_WITHOUT_TEXTS]:
        yield whole | _single(question) | (_alone(question, whole) if question.name else {})


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


def _single(question: Question) -> _Row:
    """One question, one reply, and what was taken out of it."""
    text, reasoning = question.reply.text, question.reply.reasoning
    return {
        "interaction_type": "single_turn",
        "input": {"raw": question.text, "reference": list(question.expected)},
        "output": {"raw": [text] if text else [], "reasoning_trace": [reasoning] if reasoning else None},
        "messages": None,
        "answer_attribution": _attribution(question.extracted, "output.raw"),
    }


def _attribution(extracted: str, source: str, turn: int = 0) -> list[_Row]:
    if not extracted:
        return []
    return [
        {
            "turn_idx": turn,
            "source": source,
            "extracted_value": extracted,
            "extraction_method": "custom",
            "is_terminal": True,
        }
    ]


def _alone(question: Question, whole: _Row) -> _Row:
    """One of several questions. Tokens and time are known for all of them together only."""
    outcome = question.outcome or Outcome(whole["metadata"]["outcome"])
    return {
        "sample_id": f"{whole['sample_id']}#{question.name}",
        "evaluation": _evaluation(outcome is Outcome.PASSED),
        "token_usage": None,
        "performance": None,
        "metadata": whole["metadata"] | {"question": question.name, "outcome": outcome.value},
    }


def _conversation(outcome: Outcome, questions: Sequence[Question]) -> _Row:
    """Every question and reply in turn, though each was asked in a fresh conversation."""
    told = [turn for question in questions for turn in _turns(question)]
    messages: list[_Row] = [
        {
            "turn_idx": place,
            "role": role,
            "content": text,
            "reasoning_trace": reasoning or None,  # one text here, where `output` has a list
        }
        for place, (role, text, reasoning) in enumerate(told)
    ]
    last = next((question.extracted for question in reversed(questions) if question.text), "")
    turn = next((m["turn_idx"] for m in reversed(messages) if m["content"] and m["role"] == "assistant"), 0)
    return {
        "interaction_type": "multi_turn",
        "input": {"raw": questions[0].text, "reference": []},
        "output": None,
        "messages": messages,
        "answer_attribution": _attribution(last, f"messages[{turn}].content", turn),
        "evaluation": _evaluation(outcome is Outcome.PASSED, len(messages)),
    }


def _turns(question: Question) -> Iterator[tuple[str, str, str]]:
    """Role, text and reasoning of one or two messages."""
    if question.text:
        yield "user", question.text, ""
    yield "assistant", question.reply.text, question.reply.reasoning
