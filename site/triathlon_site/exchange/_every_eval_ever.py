"""Every Eval Ever 0.3: one file of scores a model and suite, and one with a line a sample.

The fields are those of the project's JSON Schemas `eval.schema.json` and `instance_level_eval.schema.json`.
A line is a question that a model was asked, or a conversation.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from triathlon_runner.records import Outcome, Question, Reply, UnitRecord
from triathlon_site.exchange._source import Source, folder_name, uuid_of
from triathlon_site.ranking import Score
from triathlon_site.scores import Column

VERSION: Final = "0.3.0"
_AVAILABILITY: Final = {True: "open_weights", False: "closed_weights", None: "unknown"}
_WITHOUT_TEXTS: Final = Question("", Reply(text=""))
_Row = dict[str, Any]


def fault(source: Source) -> str:
    """Why a suite has no scores to export; empty where it has."""
    return "" if source.scores else "it is a variant of another suite and has no score of its own on a board"


def files(source: Source) -> Iterator[tuple[str, str]]:
    """The scores and, beside them, the samples."""
    lines = "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in _samples(source))
    path = f"{_stem(source)}_samples.jsonl"
    yield path, lines
    samples = {
        "format": "jsonl",
        "file_path": path,
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(lines.encode()).hexdigest(),
        "total_rows": lines.count("\n"),
    }
    scores = _scores(source) | {"detailed_evaluation_results": samples}
    yield f"{_stem(source)}.json", json.dumps(scores) + "\n"


def _scores(source: Source) -> _Row:
    manifest, receipt = source.manifest, source.file.receipt
    origin = receipt.model_dump(mode="json") if receipt else {}
    details = {
        "protocol": str(manifest.protocol),
        "engine_versions": list(manifest.engine_versions),
        "sandbox": manifest.sandbox_level,
        "grader_integrity": manifest.grader_integrity,
    }
    return {
        "schema_version": VERSION,
        "evaluation_id": source.id,
        "evaluation_timestamp": manifest.ended,
        "retrieved_timestamp": source.time,
        "source_metadata": {
            "source_name": receipt.title if receipt else "Triathlon",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "third_party",
            "additional_details": _texts({"grade": "recorded" if receipt else "measured", **origin}),
        },
        "eval_library": {
            "name": "triathlon",
            "version": manifest.runner_version or "unknown",
            "additional_details": _texts(details),
        },
        "model_info": _model(source),
        "evaluation_results": [_result(source, column, score) for column, score in source.scores],
    }


def _stem(source: Source) -> str:
    """`data/<collection>/<developer>/<model>/<id>`, as the schema's `file_path` has it."""
    developer, _, name = source.repository.rpartition("/")
    collection = f"triathlon-{folder_name(source.entry.id)}"
    return f"data/{collection}/{folder_name(developer)}/{folder_name(name)}/{uuid_of(source.id)}"


def _model(source: Source) -> _Row:
    info, manifest = source.info, source.manifest
    deployed = "externally_managed" if manifest.served_by.startswith("api") else "self_deployed"
    facts = {
        "triathlon_id": info.id,
        "served_model": manifest.served_model,
        "served_by": manifest.served_by,
        "parameters": info.parameters,
        "bits_per_weight": info.bits,
        "license": info.license,
        "released": info.released,
        **{f"identity_{key}": value for key, value in manifest.identity.items()},
    }
    details = {
        "deployment_type": "unknown" if source.file.receipt else deployed,
        "model_availability": _AVAILABILITY[info.open_weights],
        **_texts(facts),
    }
    developer = {"developer": info.organization} if info.organization else {}
    return {"name": info.label, "id": source.repository, **developer, "additional_details": details}


def _result(source: Source, column: Column, score: Score) -> _Row:
    """One score."""
    _, metric = column.parts[0]
    manifest = source.manifest
    data_facts = {
        "version": manifest.data.version,
        "sha256": manifest.data.sha256,
        "tasks": manifest.tasks_in_suite,
    }
    details = {
        "rank": score.rank.rank if score.rank else None,
        "tier": score.tier,
        "score_upper": score.upper,
        "not_ranked": score.apart,
    }
    known = source.manifest.sampling
    return {
        "evaluation_result_id": f"{source.id}#{metric.id}",
        "evaluation_name": source.entry.id,
        "source_data": {
            "dataset_name": manifest.data.name,
            "source_type": "other",
            "additional_details": _texts(data_facts),
        },
        "metric_config": {
            "evaluation_description": column.source,
            "metric_id": f"triathlon.{source.entry.discipline}.{metric.id}",
            "metric_name": column.title,
            "metric_kind": "pass_rate" if metric.id.startswith("pass") else metric.id,
            "lower_is_better": metric.role == "unranked",
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": column.maximum,
        },
        "score_details": {
            "score": score.value,
            "details": _texts(details),
            "uncertainty": {
                "confidence_interval": {
                    "lower": score.interval.low,
                    "upper": score.interval.high,
                    "confidence_level": 0.95,
                    "method": "Beta quantiles for clusters of tasks (Korn and Graubard 1998)",
                },
                "num_samples": score.tasks,
            },
        },
        "generation_config": ({"generation_args": known} if known else {})
        | {"additional_details": _texts(manifest.settings)},
    }


def _texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """The schema's additional details are texts; what is not known is left out."""
    return {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in facts.items()
        if value not in (None, "")
    }


def _samples(source: Source) -> Iterator[_Row]:
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
        whole = common | _whole(record)
        questions = list(record.questions()) if source.with_texts else []
        if record.conversation and questions:
            yield whole | _conversation(record.outcome, questions)
            continue
        for question in questions or [_WITHOUT_TEXTS]:
            yield whole | _single(question) | (_alone(question, whole) if question.name else {})


def _whole(record: UnitRecord) -> _Row:
    """What is known of the whole record; no tokens where the server did not count them."""
    facts = {"outcome": record.outcome.value, "sample": str(record.sample), "task_id": record.task_id}
    sustained = getattr(record, "sustained_loops", None)
    if sustained is not None:
        facts |= {"sustained_loops": str(sustained), "max_loops": str(getattr(record, "max_loops", ""))}
    usage = record.usage
    tokens = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    return {
        "sample_id": f"{record.task_id}#{record.sample}",
        "evaluation": _evaluation(record.outcome),
        "token_usage": tokens if usage.requests and not usage.uncounted else None,
        "performance": {"latency_ms": record.seconds * 1000} if record.seconds else None,
        "metadata": facts,
    }


def _evaluation(outcome: Outcome, turns: int | None = None) -> _Row:
    passed = outcome is Outcome.PASSED
    return {"score": float(passed), "is_correct": passed, "num_turns": turns}


def _single(question: Question) -> _Row:
    """One question, one reply, and what was taken out of it."""
    raw, reasoning = [] if question is _WITHOUT_TEXTS else [question.reply.text], question.reply.reasoning
    return {
        "interaction_type": "single_turn",
        "input": {"raw": question.text, "reference": list(question.expected)},
        "output": {"raw": raw, "reasoning_trace": [reasoning] if reasoning else None},
        "messages": None,
        "answer_attribution": _attribution(question.extracted, "output.raw"),
    }


def _attribution(extracted: str, source: str, turn: int = 0) -> list[_Row]:
    if not extracted:
        return []
    attribution = {"turn_idx": turn, "source": source, "extracted_value": extracted}
    return [attribution | {"extraction_method": "custom", "is_terminal": True}]


def _alone(question: Question, whole: _Row) -> _Row:
    """One of several questions. Tokens and time are known for all of them together only."""
    outcome = question.outcome or Outcome(whole["metadata"]["outcome"])
    return {
        "sample_id": f"{whole['sample_id']}#{question.name}",
        "evaluation": _evaluation(outcome),
        "token_usage": None,
        "performance": None,
        "metadata": whole["metadata"] | {"question": question.name, "outcome": outcome.value},
    }


def _conversation(outcome: Outcome, questions: Sequence[Question]) -> _Row:
    """Every question and reply in turn, though each was asked in a fresh conversation."""
    told: list[tuple[str, str, str]] = []
    for question in questions:
        told += [("user", question.text, "")] if question.text else []
        told.append(("assistant", question.reply.text, question.reply.reasoning))
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
        "evaluation": _evaluation(outcome, len(messages)),
    }
