"""A folder in which all commands find a data set of the user's own."""

import base64
import gzip
import json
from pathlib import Path

from support.small_run import SmallRun
from support.user_problems import ROW, SUITES, write_problems
from triathlon_runner.errors import UserError
from triathlon_site import cli as site_commands

assert site_commands


class Place:
    """A folder with models.yaml, suites.yaml and problems."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        rows = [
            f"  - {{id: {name}, api: {{base_url: '{url}', model: {name}}}}}\n" for name in ("good", "worse")
        ]
        (root / "models.yaml").write_text("models:\n" + "".join(rows))
        (root / "suites.yaml").write_text(ROW)
        write_problems(root / "mine.jsonl")

    def call(self, *arguments: str, code: int = 0) -> str:
        """What one `triathlon` command in this folder says, which is to end with this exit code."""
        result = SmallRun(self.root).call(*arguments)
        for_user = isinstance(result.exception, UserError)  # the entry point prints it and ends with 2
        said = f"{result.output}{result.exception}" if for_user else result.output
        assert (2 if for_user else result.exit_code) == code, said
        return result.stdout if not for_user else said

    def run(self, *arguments: str, code: int = 0) -> str:
        return self.call("run", "--suites", SUITES, "--profile", "standard", *arguments, code=code)

    def lines(self, model: str, suite: str) -> list[dict[str, object]]:
        path = self.root / "results/runs" / model / f"{suite}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def site(self) -> dict[str, str]:
        self.call("build")
        files = [path for path in (self.root / "_site").rglob("*") if path.is_file()]
        return {path.relative_to(self.root / "_site").as_posix(): _text(path) for path in files}


def _text(path: Path) -> str:
    """The file's text; of a packed one what is in it."""
    content = path.read_bytes()
    if content.startswith(b"triathlonPack("):
        content = gzip.decompress(base64.b64decode(content.split(b'"')[1]))
    elif path.suffix == ".gz":
        content = gzip.decompress(content)
    return content.decode("utf-8", "replace")
