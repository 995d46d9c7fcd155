"""Keeps the verdicts of a grader in a file, by program and problem."""

import json
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.concurrency import LONG, Once
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import parse_json
from triathlon_runner.grading._program_grader import Grader
from triathlon_runner.memo import memo_key
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.store import append_line, set_torn_line_aside
from triathlon_runner.syntax import tree_text

_REMEDY: Final = "make it writable, delete it, or name another cache in TRIATHLON_CACHE"


class CachingGrader:
    """Grades a program of a problem once, however many models wrote it, also in calls after this one."""

    def __init__(self, grader: Grader, file: Path | None = None) -> None:
        """Reads the verdicts of earlier calls from a file of JSON lines; None: they are held in memory.

        Each verdict is one line that is appended at once, so that several commands may use one file.
        """
        self._grader, self._file = grader, file
        verdicts: dict[str, Verdict] = {}
        self._verdicts = Once(verdicts)
        line = b""
        try:
            if file is not None and file.exists():
                set_torn_line_aside(file)
                for line in file.read_bytes().splitlines():
                    key, text = parse_json(line)
                    verdicts[key] = Verdict.model_validate_json(text)
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{file}: expected lines of a key and a verdict, got {line[:80]!r}"
                f" ({str(error).splitlines()[0]}); {_REMEDY}"
            ) from None

    @property
    def sandbox(self) -> Sandbox:
        return self._grader.sandbox

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Returns the verdict stored for the program's syntax tree, or grades the program and stores it.

        A long program is told by its text: parsing it takes seconds.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        text = tree_text(program) if len(program) < LONG else program
        key = memo_key("verdict", _problem_key(problem), inputs, text)
        return await self.grade_once(key, lambda: self._grader.grade(program, problem, inputs=inputs))

    async def grade_once(self, key: str, grade: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """Returns the verdict stored under a key, made by `memo_key`; without one, grades and stores it."""

        async def graded_and_stored() -> Verdict:
            verdict = await grade()
            if self._file is not None:
                try:
                    line = json.dumps([key, verdict.model_dump_json()]) + "\n"
                    append_line(self._file, line.encode())
                except OSError as error:
                    raise UserError(
                        f"cannot write verdicts to {str(self._file)!r} ({error.strerror}); {_REMEDY}"
                    ) from None
            return verdict

        return await self._verdicts.get(key, graded_and_stored)


@lru_cache(maxsize=4096)
def _problem_key(problem: FunctionProblem) -> str:
    """Stands for a whole problem, whose thousands of inputs take milliseconds to write out."""
    return memo_key("problem", problem)
