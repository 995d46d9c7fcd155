"""The hostile programs: one file each under `programs/`, its purpose in its first three lines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

AttackKind = Literal["cheat", "theft", "sabotage", "dos"]

_PROGRAMS = Path(__file__).parent / "programs"

_LOOT = '''
def loot(name, data):
    """Leaves a trace of what an attack got hold of or did."""
    import io
    import os

    try:
        io.open("@CANARY@/loot_" + name, "w").write(str(data)[:500])
    except BaseException:
        pass
    try:
        os.write(1, ("LOOT:%s:%s\\n" % (name, str(data)[:500])).encode("utf-8", "replace"))
    except BaseException:
        pass

'''


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile program."""

    name: str
    what: str
    kind: AttackKind
    honest: bool
    """Its answers are right: it may pass, but must not steal or damage anything."""
    source: str
    on_class: bool = False
    """It defines the class that a unittest module tests, not the function `f`."""
    is_answer: bool = False
    """It is the answer to a question (a completed assertion), not a program."""

    def program(self, places: dict[str, str]) -> str:
        """The program, aimed at this run's canaries."""
        text = self.source if self.is_answer else _LOOT + self.source
        for name, value in places.items():
            text = text.replace(f"@{name}@", value)
        return text


def library() -> tuple[Attack, ...]:
    """All attacks, by name; the second half of a pair comes right after the first."""
    return tuple(_read(path) for path in sorted(_PROGRAMS.glob("*.py.txt")))


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    what, kind, honest = (line.removeprefix("# ") for line in source.splitlines()[:3])
    return Attack(
        name=path.name.removesuffix(".py.txt"),
        what=what,
        kind=cast("AttackKind", kind.removeprefix("kind: ")),
        honest=honest == "honest: yes",
        source=source,
        on_class="# task: class\n" in source,
        is_answer="# answer: yes\n" in source,
    )
