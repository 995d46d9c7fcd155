"""Settings of a server: isolation level, paths that its children may see, the user that they become."""

import importlib.metadata
import importlib.util
import itertools
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox._api import SandboxError

IsolationLevel = Literal["namespaces", "lite"]
LEVELS: tuple[IsolationLevel, ...] = ("namespaces", "lite")
"""From the strongest."""

_HARNESSES = Path(__file__).parent / "_languages"
_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
"""The dynamic loader, which the kernel executes for an interpreter."""
_FIRST_ID = 0x6000_0000
"""First user id of sandboxes, far above those of people and services; each worker has two."""
_counter = itertools.count()


def server_settings(
    level: IsolationLevel, language: Language, libraries: frozenset[str], directory: Path
) -> dict[str, Any]:
    """Settings of a server for programs in one language.

    Python's may import the standard library and `libraries`. Every other language's interpreter is started
    for each program.

    Raises:
        SandboxError: the language, or a library, is not installed.
    """
    settings = {
        "level": level,
        "directory": str(directory),
        "libraries": sorted(libraries),
        "path": [],
        "hidden": [],
        "runnable": [],
        "command": [],
        "reserves_memory": False,
        "outer_id": _FIRST_ID + (os.getpid() % 65536) * 4096 + next(_counter) % 2048 * 2
        if os.geteuid() == 0
        else None,
    }
    spec = LANGUAGES[language]
    if not spec.command:
        names = ("site-packages", "dist-packages")
        site_folders = [path for path in sys.path if path.endswith(names)]
        # Installed packages are hidden, but for the libraries that a job names.
        usual = [f"{path}/{name}" for path in _interpreter() for name in names]
        ours = [
            path for path in site_folders if path.startswith(tuple(f"{root}/" for root in _interpreter()))
        ]
        return settings | {
            "path": site_folders if libraries else [],
            "visible": [*_interpreter(), *_library_folders(libraries)],
            "hidden": sorted({path for path in (*usual, *ours) if Path(path).is_dir()}),
        }
    program = shutil.which(spec.command[0])
    if program is None:
        raise SandboxError(f"{language} is not installed: {spec.command[0]!r} is not on the PATH")
    executable, harness = str(Path(program).resolve()), str(_HARNESSES / spec.harness)
    visible = [path for path in (*_system_libraries(), *spec.libraries) if Path(path).exists()]
    return settings | {
        "visible": _outermost([*visible, executable, harness]),
        "runnable": [executable, *(str(Path(path).resolve()) for path in _LOADERS if Path(path).exists())],
        "command": [executable, *spec.command[1:], harness],
        "reserves_memory": spec.reserves_memory,
    }


@cache
def _interpreter() -> tuple[str, ...]:
    """The standard library and the shared libraries that its extension modules load."""
    paths = sysconfig.get_paths()
    folders = {
        paths["stdlib"],
        paths["platstdlib"].replace(sys.prefix, sys.base_prefix, 1),
        *map(str, Path(sys.base_prefix, "lib").glob("*.so*")),
        *_system_libraries(),
    }
    return _outermost(path for path in folders if Path(path).exists())


def _system_libraries() -> tuple[str, ...]:
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    folders = [f"{root}/{multiarch}" for root in ("/lib", "/usr/lib")]
    return (*folders, "/lib64", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale")


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Leaves out paths that lie under another one."""
    outermost: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(folder + "/") for folder in outermost):
            outermost.append(path)
    return tuple(outermost)


@cache
def _library_folders(libraries: frozenset[str]) -> tuple[str, ...]:
    """The folders of the libraries, with the folders in which wheels put their shared libraries."""
    folders = []
    for name in sorted(libraries):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise SandboxError(
                f"the library {name!r} is not installed where the runner is: pip install {name}"
            )
        for folder in spec.submodule_search_locations:
            # A wheel's folder of shared libraries has the name of the package or that of its distribution.
            shared = [Path(f"{folder}.libs")]
            if not shared[0].is_dir():
                wheels = importlib.metadata.packages_distributions().get(name, ())
                shared = [Path(folder).parent / f"{wheel}.libs" for wheel in wheels]
            folders += [folder, *(str(path) for path in shared if path.is_dir())]
    return tuple(folders)
