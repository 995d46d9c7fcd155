"""Starts a template server: `python -I -S -B _boot.py <control descriptor> <configuration>`.

Loads the folder `_inside` as a package of its own, so that nothing else of this package is imported.
"""

import importlib
import importlib.util
import sys
from pathlib import Path


def main() -> None:
    folder = Path(__file__).parent / "_inside"
    spec = importlib.util.spec_from_file_location(
        "inside", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["inside"] = package
    spec.loader.exec_module(package)
    importlib.import_module("inside.server").main(int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
