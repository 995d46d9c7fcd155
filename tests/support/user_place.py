"""A folder in which all commands find a data set of the user's own."""

import base64
import gzip
from pathlib import Path
from typing import Self

from support.small_run import SmallRun
from support.user_problems import ROW, SUITES, write_problems

MODELS = """
models:
  - {{id: good, api: {{base_url: "{url}", model: good}}}}
  - {{id: worse, api: {{base_url: "{url}", model: worse}}}}
"""


class UserPlace(SmallRun):
    """A folder with models.yaml, suites.yaml and problems."""

    @classmethod
    def made(cls, root: Path, url: str) -> Self:
        (root / "models.yaml").write_text(MODELS.format(url=url))
        (root / "suites.yaml").write_text(ROW)
        write_problems(root / "mine.jsonl")
        return cls(root)

    def run(self, options: str = "", code: int = 0, *texts: str) -> str:
        return self.expect(f"run --suites {SUITES} --profile standard {options}", code, *texts)

    def site(self) -> dict[str, str]:
        self.expect("build", 0)
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
