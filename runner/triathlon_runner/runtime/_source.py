"""Where a suite's questions come from: the cache, the constructor, or a user's file."""

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.runtime._construct import construct, constructor_hash
from triathlon_runner.runtime._programs import Subject
from triathlon_runner.runtime._questions import QuestionFile, read_questions, write_questions
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo


def tracing_python() -> str:
    """The version of Python that traces, as `3.11`; programs run in the runner's own."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class QuestionSource:
    """A data set that questions are built from, and the place where they may lie ready."""

    data: DataSetInfo
    subjects: Callable[[], Sequence[Subject]]
    cache: Path | None = None
    """A folder for question files; None: build anew each time."""

    @property
    def key(self) -> str:
        """Hash of what the questions depend on: data, tracer, constructor and the Python that traces."""
        text = "\0".join(
            [self.data.name, self.data.version, self.data.sha256, constructor_hash(), tracing_python()]
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def ready(self) -> QuestionFile | None:
        """The questions, where they were built before from the same data by the same code."""
        path = self._cached_path()
        if path is None or not path.is_file():
            return None
        try:
            questions = read_questions(path)
        except UserError:
            return None  # torn or made by another version; they are built anew
        made_here = (questions.sha256, questions.made_by, questions.python) == (
            self.data.sha256,
            constructor_hash(),
            tracing_python(),
        )
        return questions if made_here else None

    def _cached_path(self) -> Path | None:
        return None if self.cache is None else self.cache / f"{self.key[:24]}.json"

    async def build(self, sandbox: Sandbox) -> QuestionFile:
        """Traces the references and stores the questions, where there is a folder for them.

        Raises:
            SandboxError: the sandbox itself failed.
            UserError: the place can't be written.
        """
        programs, report = await construct(self.subjects(), sandbox)
        questions = QuestionFile(
            dataset=self.data.name,
            version=self.data.version,
            sha256=self.data.sha256,
            made_by=constructor_hash(),
            python=tracing_python(),
            report=report,
            programs=programs,
        )
        path = self._cached_path()
        if path is not None:
            write_questions(questions, path)
        return questions


@dataclass(frozen=True)
class FileSource:
    """Questions from a user's file."""

    path: Path

    def questions(self) -> QuestionFile:
        """Reads the file.

        Raises:
            UserError: it is no question file.
        """
        return read_questions(self.path)

    def ready(self) -> QuestionFile | None:
        return self.questions()

    async def build(self, _sandbox: Sandbox) -> QuestionFile:
        return self.questions()
