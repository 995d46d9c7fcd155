"""`triathlon` with two of DREval's programs, as building the questions of all takes minutes.

`python -m support.papers_command reproduce reval …`
"""

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.runtime import _programs
from triathlon_site.__main__ import main

PROGRAMS = 2


def few(store: DataStore) -> tuple[official.DrevalProgram, ...]:
    """The first programs of DREval."""
    return official.dreval(store)[:PROGRAMS]


if __name__ == "__main__":
    vars(_programs)["dreval"] = few
    main()
