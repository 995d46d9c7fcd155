"""Verdicts stored by program and problem, so that an interrupted import continues."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.json_text import parse_json
from triathlon_runner.memo import memo_key
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.store import set_torn_line_aside
from triathlon_runner.syntax import tree_text


class VerdictCache:
    """Verdicts in a file, one JSON line each: key and verdict; without a file, in memory."""

    def __init__(self, file: Path | None = None) -> None:
        """Reads the file, if there is one.

        Raises:
            UserError: the file holds something else.
        """
        self._file = file
        self.verdicts: dict[str, Verdict] = {}
        if file is None:
            return
        line = b""
        try:
            set_torn_line_aside(file)
            lines = file.read_bytes().splitlines() if file.exists() else []
            for line in lines:
                key, text = parse_json(line)
                self.verdicts[key] = Verdict.model_validate_json(text)
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{file}: expected lines of a key and a verdict, got {line[:80]!r}"
                f" ({str(error).splitlines()[0]}); name another file at --verdicts"
            ) from None

    def put(self, key: str, verdict: Verdict) -> None:
        """Stores a verdict.

        Raises:
            UserError: the file cannot be written.
        """
        self.verdicts[key] = verdict
        if self._file is None:
            return
        try:
            with self._file.open("a") as lines:
                lines.write(json.dumps([key, verdict.model_dump_json()]) + "\n")
        except OSError as error:
            raise UserError(
                f"cannot write verdicts to {str(self._file)!r} ({error.strerror}); name another file at"
                " --verdicts"
            ) from None


class CachingGrader:
    """Grades a program of a problem once, however many models wrote it."""

    def __init__(self, grader: Grader, cache: VerdictCache) -> None:
        """Wraps a grader, which grades what the cache does not have."""
        self._grader, self._cache = grader, cache
        self._grading: dict[str, asyncio.Future[Verdict]] = {}

    @property
    def sandbox(self) -> Sandbox:
        return self._grader.sandbox

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Returns the verdict stored for the program's syntax tree, or grades the program and stores it.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        key = memo_key("verdict", problem, inputs, tree_text(program))
        return await self.grade_once(key, lambda: self._grader.grade(program, problem, inputs=inputs))

    async def grade_once(self, key: str, grade: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """Returns the stored verdict, or grades and stores it.

        Args:
            key: Of everything that the verdict depends on, made by `memo_key`.
            grade: Called for the verdict where none is stored.

        Raises:
            SandboxError: our machinery failed.
        """
        if (stored := self._cache.verdicts.get(key)) is not None:
            return stored
        if key not in self._grading:
            self._grading[key] = asyncio.ensure_future(grade())
            self._grading[key].add_done_callback(lambda _: self._grading.pop(key, None))
        verdict = await self._grading[key]
        if self._cache.verdicts.get(key) is None:
            self._cache.put(key, verdict)
        return verdict
