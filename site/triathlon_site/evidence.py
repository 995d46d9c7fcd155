"""Evidence: what a model wrote for single tasks and what became of it, in packs for one page a suite.

Of each results file: its list of tasks, and packs of what was written for each, with the words that changed.
"""

import ast
import base64
import gzip
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any, Final, Literal, NamedTuple

from pydantic_core import to_json

from triathlon_runner.records import Outcome, RecordedUnit, UnitRecord, Verdict
from triathlon_runner.unit_pages import evidence_page, model_slug, unit_anchor
from triathlon_site.render import Environment, formats, show_control_characters
from triathlon_site.render.formats import receipt_anchor

MOST_PAIRS: Final = 10_000  # of equal words in two texts, beyond which a comparison takes too long
LONGEST_REASON: Final = 60  # characters of each value in the list of units
BEFORE: Final = 12  # of these, before the first that differs, where equal ones are left out
PACK_CHARACTERS: Final = 400_000
"""Of HTML in one pack: some 40 kB to load for one unit. Smaller ones are more files, and pack worse."""
PACKED: Final = 6  # level of gzip: at 9 it takes twice as long, for 2 % less
LINKS: Final = "links.html"
INDEX: Final = "index.js"
LINES: Final = "lines.jsonl.gz"
"""The file of results itself, as a download: whoever reads a file puts it beside the packs."""
_TOKENS: Final = re.compile(r"\s*(?:\w+|[^\w\s])|\s+\Z")
"""Words and signs, each with the white space before it."""


class Words(NamedTuple):
    """A run of text that stayed, came or went."""

    kind: Literal["same", "new", "gone"]
    text: str


@lru_cache(maxsize=4096)
def changed_words(before: str, after: str) -> list[Words]:
    """`after` with what is new marked, and what went in its place; unmarked where they share too many words.

    Cached, because all models are asked the same and a comparison takes milliseconds.
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    old_words, new_words = ([token.strip() for token in text] for text in (old, new))
    times = Counter(old_words)
    if sum(times[word] for word in new_words) > MOST_PAIRS:
        return [Words("same", after)]
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    runs = []
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        if operation == "equal":
            runs.append(Words("same", "".join(new[j1:j2])))
            continue
        if (gone := "".join(old[i1:i2])).strip():
            runs.append(Words("gone", gone))
        if j2 > j1:
            runs.append(Words("new", "".join(new[j1:j2])))
    return runs


class Missing(NamedTuple):
    """A function that was asked for and that a program does not define."""

    name: str
    defined: tuple[str, ...]  # what it defines instead


def missing_definition(program: str, verdict: Verdict | None) -> Missing | None:
    """The function whose call failed because the program does not define it; None where it does.

    The grader then looks the function up in vain, and the verdict has its `KeyError`.
    """
    case = verdict.failing if verdict else None
    if case is None or not case.got.startswith("KeyError: '"):
        return None
    name = case.got.removeprefix("KeyError: '").rstrip("'")
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = tuple(node.name for node in body if isinstance(node, functions))
    return Missing(name, defined) if case.input.startswith(f"{name}(") and name not in defined else None


TEXTS: Final = SimpleNamespace(changed_words=changed_words, missing=missing_definition)
"""What templates of articles compute from texts."""


def reason(record: Any) -> str:
    """Why a unit is not passed, in a few words; empty where its record has no verdict that says it."""
    verdict: Verdict | None = getattr(record, "verdict", None)
    if record.outcome == Outcome.PASSED or verdict is None:
        return ""
    if missing := missing_definition(getattr(record, "program", ""), verdict):
        return f"the reply does not define {missing.name}"
    if verdict.failing:
        return expected_and_got(formats.expected_value(verdict.failing), verdict.failing.got)
    return formats.shorten(" ".join(verdict.detail.split()).rstrip(": "), 2 * LONGEST_REASON)


def expected_and_got(expected: str, got: str) -> str:
    """Two values in one line, from shortly before they differ; white space in them stays as it is."""
    pairs = enumerate(zip_longest(expected, got))
    start = next((place for place, (one, other) in pairs if one != other), 0) - BEFORE
    start = start if start > BEFORE else 0

    def clipped(text: str) -> str:
        shown = text[start : start + LONGEST_REASON].replace("\n", "⏎")
        return f"{'…' * (start > 0)}{shown}{'…' * (start + LONGEST_REASON < len(text))}"

    return f"expected {clipped(expected)}, got {clipped(got)}"


@dataclass(frozen=True, slots=True)
class Article:
    """How the units of one type of record are shown."""

    template: str = "evidence/fields"
    """Has a macro `content`, which takes the record, the records of the problems that it was evolved from,
    `rows`, `TEXTS`, and whether it is the first that is shown of its task."""
    rows: Callable[[Any], Iterable[Any]] = lambda _record: ()
    """From the record to the rows of a table."""
    kinds: Callable[[Any], Iterable[str]] = lambda _record: ()
    """What a list of units can be filtered by, beside the outcome."""
    reason: Callable[[Any], str] = reason
    """Why a unit is not passed, in a few words."""
    alike: Callable[[Any], Hashable] = lambda record: record.sample
    """Samples of one task with the same are shown once."""
    summary: Callable[[Sequence[Any]], Mapping[str, Any] | None] = lambda _records: None
    """What boards say of all units of a file."""
    summary_of_outcomes: Callable[[Sequence[Any]], Mapping[str, Any] | None] = lambda _records: None
    """The same of units without texts: what their outcomes tell."""


Articles = Mapping[type[UnitRecord], Article]
"""By type of record; units of other types are shown field by field."""
Tasks = Mapping[str, Sequence[UnitRecord]]  # the units of each task, in the order of their samples


def render_tasks(
    tasks: Tasks, environment: Environment, article: Article, parents: Mapping[str, UnitRecord]
) -> Iterator[tuple[str, str]]:
    """Each task with the HTML of its units; samples that are alike stand once.

    `parents`: by task_id, what the model did with the problems that these were evolved from.
    """
    frame = environment.macro("evidence/unit", "article")
    content = environment.macro(article.template, "content")
    for task, records in tasks.items():
        groups = [records] if len(records) == 1 else _groups(records, article)
        shown: list[tuple[UnitRecord, list[int], str]] = []
        for group in groups:
            first = group[0]
            found = [parents.get(name) for name in getattr(first, "parents", ())] if parents else []
            seeds = [parent for parent in found if isinstance(parent, type(first))]
            text = content(first, seeds, [*article.rows(first)], TEXTS, not shown)
            shown.append((first, [record.sample + 1 for record in group], text))
        yield task, show_control_characters(frame(task, shown, len(records)))


def _groups(records: Sequence[UnitRecord], article: Article) -> list[Sequence[UnitRecord]]:
    """The samples that are alike together, the most first."""
    groups: dict[Hashable, list[UnitRecord]] = {}
    for record in records:
        groups.setdefault(article.alike(record), []).append(record)
    return sorted(groups.values(), key=len, reverse=True)


def imported_slug(slug: str) -> str:
    """The folder of evidence of a model whose results were imported; no model's own slug holds a `+`."""
    return f"imported+{slug}"


def imported_page(slug: str) -> str:
    """The page of all units of a model whose results were imported."""
    return f"imported/{slug}.html"


def outcomes_of(record: UnitRecord) -> tuple[Outcome, ...]:
    """Of each sample that a record holds: of several where a line of outcomes stands for a whole task."""
    return record.outcomes if isinstance(record, RecordedUnit) else (record.outcome,)


def _first_failed(records: Sequence[UnitRecord]) -> UnitRecord:
    return next((record for record in records if record.outcome != Outcome.PASSED), records[0])


def _ended(records: Sequence[UnitRecord]) -> str:
    """How the units of a task ended, as `Attempt` has it."""
    outcomes = [outcome for record in records for outcome in outcomes_of(record)]
    passed = outcomes.count(Outcome.PASSED)
    if len(outcomes) > 1 and passed < len(outcomes):
        return f"{passed} of {len(outcomes)} passed"
    return str(outcomes[0])


Attempt = tuple[str, str, str]
"""One model's units on one task, for runtime on one program: its id; how they ended (`passed`, another
outcome, `3 loops`, or `2 of 5 passed` where there are several); where their evidence is, from the root of the
site, of a failed unit where there is one."""


class Evidence(NamedTuple):
    """What pages show of one file of results."""

    files: Mapping[str, str]
    """`LINKS`; of results with texts also `INDEX` and the packs."""
    attempts: tuple[Attempt, ...]
    summary: Mapping[str, Any]
    """What its `Article` says of all units; empty where that says nothing."""


def _attempts(records: Sequence[UnitRecord], address: Callable[[UnitRecord], str]) -> Iterator[Attempt]:
    """The attempts at each task of one file; `address`: where the evidence of a unit is."""
    fields = type(records[0]).model_fields if records else {}
    unit = "program_id" if "program_id" in fields else "task_id"
    programs: dict[str, list[UnitRecord]] = {}
    for record in records:
        programs.setdefault(getattr(record, unit), []).append(record)
    has_loops = "sustained_loops" in fields
    for task, units in programs.items():
        shown = _first_failed(units)
        loops = getattr(shown, "sustained_loops", 0) if has_loops and len(units) == 1 else 0
        outcome = f"{loops} loop{'s' * (loops > 1)}" if loops else _ended(units)
        yield task, outcome, address(shown)


@dataclass(frozen=True)
class EvidenceExtractor:
    """Turns the records of one file into what pages show of them."""

    environment: Environment
    articles: Articles
    imported: bool = False
    """Whether others asked the models: their pages are apart from those of what was measured here."""

    def fingerprint(self) -> str:
        """Of everything that shapes the texts beside the records."""
        return f"{self.environment.fingerprint} {'imported' if self.imported else 'measured'}"

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> Evidence:
        """Nothing that a model wrote, nor a task's text, is in what is returned where `private`.

        `parents`: by task_id, what the model did with the problems that these were evolved from.
        """
        slug = model_slug(model)
        if any(isinstance(record, RecordedUnit) for record in records[:1]):
            return self._recorded(records, f"models/{slug}.html#{receipt_anchor(suite)}")
        page = evidence_page(imported_slug(slug) if self.imported else slug, suite)
        attempts = tuple(_attempts(records, lambda one: f"{page}#{unit_anchor(one.task_id, one.sample)}"))
        article = self.articles.get(type(records[0]), Article()) if records else Article()
        tasks: dict[str, list[UnitRecord]] = {}
        for record in records:
            tasks.setdefault(record.task_id, []).append(record)
        for of_task in tasks.values():
            of_task.sort(key=lambda record: record.sample)
        ended = {task: _ended(of_task) for task, of_task in tasks.items()}
        links = [_listed(task, of_task, ended[task], article, parents) for task, of_task in tasks.items()]
        if private:
            links = [link._replace(reason="") for link in links]
        files = {LINKS: self.environment.render("evidence/links", links=links)}
        if private:
            return Evidence(files, attempts, {})
        packs = list(_in_packs(render_tasks(tasks, self.environment, article, parents)))
        files[INDEX] = _packed(_index(tasks, ended, article, packs))
        files |= {f"{number}.js": _packed(pack) for number, pack in enumerate(packs, start=1)}
        return Evidence(files, attempts, article.summary(records) or {})

    def _recorded(self, records: Sequence[UnitRecord], receipt: str) -> Evidence:
        """The tasks by how they ended: of all of them the evidence is one receipt."""
        attempts = tuple(_attempts(records, lambda _record: receipt))
        kinds = (kind for kind in type(records[0]).__mro__ if kind in self.articles)
        article = self.articles.get(next(kinds, UnitRecord), Article())
        ended: dict[str, list[str]] = {}
        for task, outcome, _ in attempts:
            ended.setdefault(outcome, []).append(task)
        groups = [(outcome, len(names), ", ".join(names)) for outcome, names in sorted(ended.items())]
        files = {LINKS: self.environment.render("evidence/recorded", links=groups)}
        return Evidence(files, attempts, article.summary_of_outcomes(records) or {})


class _Listed(NamedTuple):
    """A task in the list of a model's units."""

    task: str
    outcome: str  # as `Attempt` has it
    anchor: str  # its id on the page
    reason: str  # why it is not passed
    parents_solved: bool  # whether it was made from others, and all of those with results are solved


def _listed(
    task: str, records: Sequence[UnitRecord], ended: str, article: Article, parents: Mapping[str, UnitRecord]
) -> _Listed:
    worst = _first_failed(records)
    named = getattr(worst, "parents", ()) if parents else ()
    known = [parents[name].outcome for name in named if name in parents]
    reason = article.reason(worst) if worst.outcome != Outcome.PASSED else ""
    solved = bool(known) and all(outcome == Outcome.PASSED for outcome in known)
    return _Listed(task, ended, unit_anchor(task), reason, solved)


def _index(
    tasks: Tasks, ended: Mapping[str, str], article: Article, packs: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Of each task its pack, how it ended and what it can be filtered by; the filters with their texts."""
    number = {task: place for place, pack in enumerate(packs, start=1) for task in pack}
    kinds = {
        task: sorted({str(kind) for one in of_task for kind in (one.outcome, *article.kinds(one))})
        for task, of_task in tasks.items()
    }
    counts = Counter(kind for of_task in kinds.values() for kind in of_task)
    return {
        "tasks": [[task, number[task], ended[task], kinds[task]] for task in tasks],
        "kinds": [[kind, f"{formats.words(kind)} ({counts[kind]})"] for kind in sorted(counts)],
    }


def _packed(content: Any) -> str:
    """A script that hands over the content, in base 64; the same bytes for the same content."""
    return f'triathlonPack("{base64.b64encode(gzip.compress(to_json(content), PACKED, mtime=0)).decode()}")\n'


def _in_packs(tasks: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """The tasks of each pack, with the HTML of each."""
    pack: dict[str, str] = {}
    size = 0
    for task, html in tasks:
        if pack and size + len(html) > PACK_CHARACTERS:
            yield pack
            pack, size = {}, 0
        pack[task] = html
        size += len(html)
    if pack:
        yield pack
