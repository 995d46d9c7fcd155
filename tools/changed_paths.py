"""Prints the models whose results a pull request hands in, and reports every other path that it changes.

A pull request hands in whole files in results/runs/MODEL/, and may add the model's row to models.yaml.
Anything else is for a person: it is named in the report, and the exit code is 1.

    python tools/changed_paths.py HEAD BASE_COMMIT REPORT

HEAD is a checkout of the pull request with its history, BASE_COMMIT where it starts from, REPORT the file
that gets the section, in Markdown. Nothing in HEAD is executed, and no link in it followed.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner import yaml_file
from triathlon_runner.errors import UserError
from triathlon_runner.terminal import counted, first_of, in_markdown

RUNS: Final = ("results", "runs")
MODELS_FILE: Final = "models.yaml"
MODEL_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
PLAIN: Final = frozenset({"100644", "100755"})
"""Modes of plain files, as git writes them: no link (120000), no other repository (160000)."""
SHOWN: Final = 50


@dataclass(frozen=True)
class Change:
    """One path that differs between the two commits; a renamed file is one that was removed and one added."""

    path: str
    status: str
    """A (added), D (removed), M (changed), T (of another kind)."""
    mode: str
    """After the change."""

    @property
    def model(self) -> str:
        """The folder in results/runs that the path is in; empty for any other path."""
        parts = self.path.split("/")
        return parts[2] if tuple(parts[:2]) == RUNS and len(parts) > 3 else ""

    @property
    def adds(self) -> bool:
        """Whether it leaves a plain file at the path."""
        return self.status in {"A", "M"} and self.mode in PLAIN


def changes(head: Path, base: str) -> Iterator[Change]:
    """Yields every path that differs, none left out by a filter or told as renamed."""
    fields = git(head, "diff", "--raw", "-z", "--no-renames", "--abbrev=40", f"{base}...HEAD").split(b"\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, _, status = about.decode().split()
        yield Change(path.decode(errors="backslashreplace"), status, mode)


def refused(head: Path, base: str, found: Sequence[Change], models: Sequence[str]) -> Iterator[str]:
    """Yields a sentence for each change that is not one of the models' results or its new row."""
    for change in found:
        what = {"A": "adds", "D": "removes", "M": "changes", "T": "changes"}.get(change.status, "changes")
        if change.path == MODELS_FILE and change.adds:
            if why := why_not_rows_alone(head, base, models):
                yield f"{MODELS_FILE}: {why}"
        elif change.model not in models:
            yield f"{what} {change.path}"
        elif not change.adds:
            yield f"{what} {change.path}" + ("" if change.status == "D" else ", which is no plain file")


def why_not_rows_alone(head: Path, base: str, models: Sequence[str]) -> str:
    """Returns why models.yaml has other changes than new rows of these models; empty where it has none."""
    start = git(head, "merge-base", base, "HEAD").decode().strip()
    try:
        before, after = (content_of(head, commit) for commit in (start, "HEAD"))
        rows_before, rows_after = ({row["id"]: row for row in file.pop("models")} for file in (before, after))
    except (UserError, AttributeError, LookupError, TypeError) as error:
        return f"expected a list of models, got {error}"
    if before != after or any(rows_after.get(name) != row for name, row in rows_before.items()):
        return "changes more than it adds"
    others = sorted(rows_after.keys() - rows_before.keys() - set(models))
    return f"adds rows of models without results here: {', '.join(map(str, others))}" if others else ""


def content_of(head: Path, commit: str) -> dict[str, Any]:
    """Returns what models.yaml holds at a commit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / MODELS_FILE
        path.write_bytes(git(head, "show", f"{commit}:{MODELS_FILE}"))
        return dict(yaml_file.read(path).content)


def git(head: Path, *arguments: str) -> bytes:
    """Returns the output of a git command."""
    return subprocess.run(["git", "-C", head, *arguments], check=True, stdout=subprocess.PIPE).stdout


def main(head: Path, base: str, report: Path) -> int:
    """Returns the exit code."""
    found = list(changes(head, base))
    folders = {change.model for change in found if change.model and change.adds}
    models = sorted(folder for folder in folders if MODEL_ID.fullmatch(folder))
    lines = list(refused(head, base, found, models))
    if lines:
        paths = counted(len(lines), "change")
        text = (
            f"## Other changes\n\nA person has to agree to {paths} beside the results that are handed in:\n\n"
        )
        text += "".join(f"- {in_markdown(line)}\n" for line in first_of(lines, SHOWN))
        with report.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    sys.stdout.write("".join(f"{model}\n" for model in models))
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
