"""What runs on the untrusted side: the template server, its confinement and the harness of a child.

Standard library only, relative imports only: a bare interpreter that sees neither the rest of this package
nor any other starts a server by `python -s -S -B -P __init__.py <control descriptor> <configuration>`.
"""

if __name__ == "__main__":
    import os
    import sys
    from types import ModuleType

    sys.modules["inside"] = package = ModuleType("inside")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    from inside.server import main  # type: ignore[import-not-found]

    main(int(sys.argv[1]), sys.argv[2])
