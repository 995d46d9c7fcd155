"""One job: from its seeds to problems on which two solutions agree (EvoEval, section 2), or to a reason."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.datasets.user import Transformation
from triathlon_runner.evolved.evolve import _draft
from triathlon_runner.grading import agree
from triathlon_runner.llm import Chat, Message, Model, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Finish, Reply
from triathlon_runner.replies import extract
from triathlon_runner.sandbox import Call, Ended, Limits, Opaque, Raised, Returned, Sandbox, Source
from triathlon_runner.sandbox import Job as SandboxJob
from triathlon_runner.syntax import call_text, parse_or_none, used_names
from triathlon_runner.terminal import shortened

PRESERVING: Final = frozenset({"verbose", "concise"})
"""The meaning stays: reference and inputs are the seed's own."""
MIN_INPUTS: Final = 3
ASKED_INPUTS: Final = 10
MORE_INPUTS: Final = 20
"""Asked for once two solutions agree (EvoEval, section 2: test augmentation by the model)."""
MAX_ROUNDS: Final = 3
"""Attempts at making two solutions agree before the problem is dropped."""
MAX_REPAIRS: Final = 2
"""How often a reply that cannot be used is returned to the model with the reason."""
SAMPLING: Final = Sampling(max_tokens=2048)
"""Greedy, like everything that is asked in this discipline; twice the length of a solution, for stories."""
_LIMITS: Final = Limits(cpu_seconds=2.0, wall_seconds=60.0, result_bytes=1 << 20)
_MAX_RESTARTS: Final = 3
"""Inputs on which a program may end the process before the rest counts as lost too."""
_SAME: Final = Comparison("typed", tolerance=1e-6)
"""How outputs of two solutions are compared: as EvoEval compares."""

Result = Returned | str
"""What a program gave on one input; a text says how it failed."""


class DroppedError(Exception):
    """The job gives no problem; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Job:
    """One transformation of one seed, or for combine of two."""

    transformation: Transformation
    parents: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """`difficult/core-seeds-fence-posts`: names the job's history and its problem."""
        names = (re.sub(r"[^\w.-]+", "-", parent.task_id).strip("-.") for parent in self.parents)
        return f"{self.transformation}/{'+'.join(name or 'seed' for name in names)}"


@dataclass(frozen=True, slots=True)
class Written:
    """A problem that has passed the pipeline and awaits a person's decision."""

    draft: _draft.Draft
    reference: str
    inputs: tuple[str, ...]
    """Sources of argument tuples."""


@dataclass(slots=True)
class Pipeline:
    """Carries out one job; each question is asked in a conversation of its own."""

    job: Job
    model: Model
    prompts: PromptSet
    sandbox: Sandbox
    served_model: str = ""
    round: int = 0

    async def run(self) -> tuple[Written, ...]:
        """Carries the job out, which gives one problem, or for decompose two halves.

        Raises:
            DroppedError: it gives no problem.
            InfrastructureError: the job stays open.
        """
        if self.job.transformation in PRESERVING:
            return (await self._reword(),)
        _, drafts = await self._ask_drafts()
        written = tuple([await self._refine(draft) for draft in drafts])
        if self.job.transformation == "decompose":
            await self._check_join(written)
        else:
            await self._check_differs_from_seeds(written[0])
        return written

    # What is asked and executed

    async def _ask(self, name: str, turn: int | None = None, **values: object) -> tuple[str, Reply]:
        """Asks by the prompt `name`, in each round anew; returns question and reply."""
        question = self.prompts.render(name, **values)
        chat = Chat((Message("user", question),), self.round if turn is None else turn)
        answer = await self.model.ask(chat, SAMPLING)
        self.served_model = answer.served_model
        return question, answer.reply

    async def _solve(self, draft: _draft.Draft, turn: int) -> str:
        """A solution of the problem; empty where the reply has none."""
        prompt, helpers = draft.prompt.strip("\n"), bool(draft.helpers)
        _, reply = await self._ask(
            "solve", turn, prompt=prompt, entry_point=draft.entry_point, helpers=helpers
        )
        taken = await extract(reply, entry_point=draft.entry_point, prompt=draft.prompt)
        try:
            _draft.parse(taken.program)
        except _draft.UnusableReplyError:
            return ""
        return taken.program

    async def _execute(self, program: str, entry_point: str, inputs: Sequence[str]) -> list[Result]:
        """What a program gives on each input: one result an input, whatever the program does."""
        results: list[Result] = []
        for _ in range(_MAX_RESTARTS):
            calls = tuple(Call(entry_point, Source(text)) for text in inputs[len(results) :])
            if not calls:
                break
            execution = await self.sandbox.run(SandboxJob(program, calls, limits=_LIMITS))
            results += [
                f"raised: {each}"[:300] if isinstance(each, Raised) else each for each in execution.results
            ]
            if execution.ended is Ended.NOT_LOADED:
                fault = results.pop() if execution.results else f"raised: {execution.detail}"
                return [*results, *(fault for _ in calls)]
            if len(results) < len(inputs):
                how = "endless" if execution.ended is Ended.TIMED_OUT else "died"
                results.append(f"{how}: {execution.detail}")
        return [*results, *("died: not tried any more" for _ in inputs[len(results) :])]

    async def _ask_inputs(self, draft: _draft.Draft, count: int, known: Sequence[str] = ()) -> list[str]:
        _, reply = await self._ask(
            "evolve-inputs",
            problem=draft.prompt.strip("\n"),
            entry_point=draft.entry_point,
            count=count,
            known="\n".join(call_text(draft.entry_point, text) for text in known),
        )
        return _draft.read_inputs(reply.text, draft.entry_point, len(draft.parameters))

    async def _ask_drafts(self) -> tuple[str, tuple[_draft.Draft, ...]]:
        """The question, and the first draft, or two halves, that are usable and no copy of a seed."""
        transformation, parents = self.job.transformation, self.job.parents
        name = parents[0].entry_point if transformation in PRESERVING else None
        rules = self.prompts.render("evolve-rules")
        question, reply = await self._ask(f"evolve-{transformation}", parents=self._seeds(), rules=rules)
        for repairs in range(MAX_REPAIRS + 1):
            try:
                drafts = _draft.read_drafts(reply.text, transformation, name)
                if any(_draft.is_copy(draft, parent) for draft in drafts for parent in parents):
                    raise _draft.UnusableReplyError(
                        "one of its functions is the problem that you were given."
                    )
                return question, drafts
            except _draft.UnusableReplyError as error:
                complaint = str(error)
            if reply.finish is not Finish.STOP:
                complaint = f"{reply.finish.outcome_without_answer}: {complaint}"
            if repairs < MAX_REPAIRS:
                _, reply = await self._ask(
                    "evolve-fix", question=question, answer=reply.text, complaint=complaint
                )
        raise DroppedError(f"no usable problem came: {complaint}")

    def _seeds(self) -> list[dict[str, str]]:
        return [
            {"prompt": seed.prompt.strip("\n"), "entry_point": seed.entry_point} for seed in self.job.parents
        ]

    async def _rewrite(self, draft: _draft.Draft, prompt: str, **values: Any) -> _draft.Draft:
        """The problem as the model rewrites it; the old one where that changes more than the docstring."""
        problem, helpers = draft.prompt.strip("\n"), bool(draft.helpers)
        _, reply = await self._ask(prompt, problem=problem, helpers=helpers, **values)
        try:
            (new,) = _draft.read_drafts(reply.text, "tool_use" if helpers else "", draft.entry_point)
        except _draft.UnusableReplyError:
            return draft
        is_same = (new.parameters, new.helpers) == (draft.parameters, draft.helpers)
        return new if is_same else draft

    # A new problem

    async def _refine(self, draft: _draft.Draft) -> Written:
        """Solution and inputs, results, real examples in the docstring, second solution, comparison."""
        for number in range(1, MAX_ROUNDS + 1):
            self.round = number
            first, values = await self._solve_on_inputs(draft)
            # The model rewrites the prose; the examples are put in here, so that they are true.
            examples = _examples(draft, values)
            draft = await self._rewrite(draft, "evolve-examples", examples=examples)
            draft = _draft.with_docstring(draft, draft.docstring, examples)
            second = await self._solve(draft, 2 * number + 1)
            results = await self._execute(second, draft.entry_point, list(values))
            differences = _differing(values, values.values(), results)
            if not differences:
                # The second is the reference: a float of the first's may be another in its last digits.
                examples = _examples(draft, dict(zip(values, results, strict=True)))
                draft = _draft.with_docstring(draft, draft.docstring, examples)
                return await self._add_inputs(draft, first, second, list(values))
            disagreements = "\n".join(
                f"- {call_text(draft.entry_point, text)} gives {_shown(left)} to the one and {_shown(right)}"
                " to the other"
                for text, left, right in differences[:5]
            )
            draft = await self._rewrite(draft, "evolve-disagree", disagreements=disagreements)
        raise DroppedError(f"two solutions still differ after {MAX_ROUNDS} rounds")

    async def _solve_on_inputs(self, draft: _draft.Draft) -> tuple[str, dict[str, Returned]]:
        """A first solution, and by input what it returns; it must do so again in another order."""
        program = await self._solve(draft, 2 * self.round)
        if not program:
            raise DroppedError("the model gives no solution to its own problem")
        inputs = await self._ask_inputs(draft, ASKED_INPUTS)
        results = await self._execute(program, draft.entry_point, inputs)
        values: dict[str, Returned] = {}
        fault = ""
        for text, result in zip(inputs, results, strict=True):
            if isinstance(result, Returned) and _source(result):
                values[text] = result
            else:
                fault = fault or f"; on {text[:80]}: {_shown(result)}"
        if len(values) < MIN_INPUTS:
            raise DroppedError(f"its solution works on {len(values)} of {len(inputs)} inputs{fault}")
        backwards = list(values)[::-1]
        again = await self._execute(program, draft.entry_point, backwards)
        if _differing(backwards, list(values.values())[::-1], again):  # chance, or a state between calls
            raise DroppedError("its solution gives other values when it runs again in another order")
        return program, values

    async def _add_inputs(self, draft: _draft.Draft, first: str, second: str, known: list[str]) -> Written:
        """Asks for more inputs and keeps those on which both solutions agree."""
        inputs = list(dict.fromkeys((*known, *await self._ask_inputs(draft, MORE_INPUTS, known))))
        results = await self._execute(second, draft.entry_point, inputs)
        checks = await self._execute(first, draft.entry_point, inputs)
        disputed = {text for text, *_ in _differing(inputs, results, checks)}
        usable = {
            text: result
            for text, result in zip(inputs, results, strict=True)
            if _source(result) and text not in disputed
        }
        value = next(iter(usable.values()), "nothing")
        if all(_same(value, result) for result in usable.values()):
            raise DroppedError(f"its solution gives {_shown(value)} on each of {len(usable)} inputs")
        return Written(draft, second, tuple(usable))

    async def _check_differs_from_seeds(self, written: Written) -> None:
        """Drops a problem that is solved by the reference of a seed that it was evolved from."""
        draft, inputs = written.draft, written.inputs
        truth = await self._execute(written.reference, draft.entry_point, inputs)
        for parent in self.job.parents:
            if len(_draft.Draft(parent.entry_point, parent.prompt).parameters) == len(draft.parameters):
                results = await self._execute(parent.reference, parent.entry_point, inputs)
                if not _differing(inputs, truth, results):
                    raise DroppedError(f"the reference of its seed {parent.task_id} solves it on all inputs")

    # The seed in other words, or in halves

    async def _reword(self) -> Written:
        """The seed in other words: a solution written from them must give what the seed's reference gives."""
        (seed,) = self.job.parents
        if seed.comparison.oracle in ("checker", "set", "not-none"):
            raise DroppedError("its seed has several right answers, which only the seed's own set can judge")
        question, (draft,) = await self._ask_drafts()
        draft = _with_seeds_examples(draft, seed)
        truth = await self._execute(seed.reference, seed.entry_point, seed.inputs)
        for number in range(1, MAX_ROUNDS + 1):
            self.round = number
            solution = await self._solve(draft, number)
            results = await self._execute(solution, draft.entry_point, seed.inputs)
            differences = _differing(seed.inputs, truth, results)
            if not differences:
                return Written(draft, seed.reference, seed.inputs)
            text, right, got = differences[0]
            complaint = (
                f"a solution written from it gives {_shown(got)} for {text}, where the original gives"
                f" {_shown(right)}."
            )
            answer = f"```python\n{draft.prompt}```"
            draft = await self._rewrite(
                draft, "evolve-fix", question=question, answer=answer, complaint=complaint
            )
            draft = _with_seeds_examples(draft, seed)
        raise DroppedError(
            f"solutions written from it still differ from the seed's after {MAX_ROUNDS} rounds"
        )

    async def _check_join(self, halves: tuple[Written, ...]) -> None:
        """Drops the halves where no program that calls both solves the seed."""
        (seed,) = self.job.parents
        names = {half.draft.entry_point for half in halves}
        prompts = "\n\n\n".join(half.draft.prompt.strip("\n") for half in halves)
        truth = await self._execute(seed.reference, seed.entry_point, seed.inputs)
        for turn in range(1, MAX_ROUNDS + 1):
            _, reply = await self._ask(
                "evolve-join", turn, parents=self._seeds(), halves=prompts, entry_point=seed.entry_point
            )
            join = (await extract(reply, entry_point=seed.entry_point, prompt=seed.prompt)).program
            program = "\n\n\n".join((*(half.reference for half in halves), join))
            results = await self._execute(program, seed.entry_point, seed.inputs)
            tree = parse_or_none(join)
            calls_both = tree is not None and names <= used_names(tree)
            if calls_both and not _differing(seed.inputs, truth, results):
                return
        raise DroppedError(f"no program that calls both halves solves the seed, in {MAX_ROUNDS} attempts")


def _examples(draft: _draft.Draft, results: Mapping[str, Result]) -> str:
    """Examples of a docstring, of what a solution returned on each input."""
    values = {text: each.value for text, each in results.items() if isinstance(each, Returned)}
    return _draft.doctest_of(draft.entry_point, values)


def _with_seeds_examples(draft: _draft.Draft, seed: Problem) -> _draft.Draft:
    """The new words around the seed's own signature and examples: nothing else may change."""
    old = _draft.Draft(seed.entry_point, seed.prompt)
    if draft.parameters != old.parameters:
        raise DroppedError(f"the parameters {draft.parameters} are not the seed's {old.parameters}")
    examples = old.docstring[len(_draft.without_examples(old.docstring)) :].strip("\n")
    return _draft.with_docstring(old, draft.docstring, examples)


def _same(left: Result, right: Result) -> bool:
    """Whether two solutions gave the same on one input, by value or by failing in the same way."""
    if isinstance(left, Returned) and isinstance(right, Returned):
        return agree(_SAME, left.value, right.value)
    return isinstance(left, str) and isinstance(right, str) and left.split(":")[0] == right.split(":")[0]


def _differing(
    inputs: Iterable[str], left: Iterable[Result], right: Iterable[Result]
) -> list[tuple[str, Result, Result]]:
    """The inputs on which two solutions do not give the same, with what they give."""
    rows = zip(inputs, left, right, strict=True)
    return [(text, first, second) for text, first, second in rows if not _same(first, second)]


def _source(result: Result) -> str:
    """The value as source text; empty without one, and for an int of too many digits or a deep nesting."""
    if isinstance(result, str) or isinstance(result.value, Opaque):
        return ""
    try:
        return repr(result.value)
    except (ValueError, RecursionError):
        return ""


def _shown(result: Result) -> str:
    if isinstance(result, str):
        return result
    return shortened(_source(result), 300) or "<what cannot be written down>"
