"""Starts a template server: `python -s -S -B -P _boot.py <control descriptor> <configuration>`.

Makes the folder `_inside` a package of its own, so that nothing else of this package is imported.
"""

import os
import sys
from types import ModuleType


def main() -> None:
    package = ModuleType("inside")
    package.__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "_inside")]  # noqa: PTH100, PTH118, PTH120 (pathlib would be in every fork)
    sys.modules["inside"] = package
    from inside.server import main as serve  # type: ignore[import-not-found] # noqa: PLC0415

    serve(int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
