"""The `triathlon` command, options that several commands share, and how errors are shown."""

import errno
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import typer
from typer import Option

from triathlon_runner import __version__
from triathlon_runner.errors import UserError, messages
from triathlon_runner.models_yaml import check_names
from triathlon_runner.terminal import print_error, print_traceback

RESULTS: Final = Path("results")
Command = TypeVar("Command", bound=Callable[..., Any])
_OUTPUT_LOST: Final = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
"""Errors without a file's name: of writing to the standard output."""


def examples(*lines: str) -> str:
    """Returns the end of a command's help: an example a line, as it is typed."""
    return "\n".join(("Examples:", *lines))


app = typer.Typer(
    name="triathlon",
    help="A leaderboard for code language models in three disciplines: loop, runtime, evolved.",
    epilog=examples("triathlon run --limit 2", "triathlon build && triathlon serve", "triathlon models"),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def group_of_commands(name: str, about: str, example: str) -> typer.Typer:
    """Returns a group of commands of `app`, such as `triathlon results`."""
    group = typer.Typer(help=about, epilog=examples(example), no_args_is_help=True)
    app.add_typer(group, name=name)
    return group


def command(
    *lines: str, group: typer.Typer = app, name: str | None = None, about: str = ""
) -> Callable[[Command], Command]:
    """Makes a function a command whose help ends with `about` and an example a line."""
    return group.command(name, epilog=about + examples(*lines))


def _show_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"triathlon {__version__}")
        raise typer.Exit


@app.callback()
def options_of_all_commands(
    version: Annotated[
        bool,
        Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """What stands before the command."""


def run_app() -> None:
    """Runs the command line. A user's error is printed without a traceback and ends with exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for a terminal whose encoding has no "…"
    try:
        app()
    except (UserError, BaseExceptionGroup) as error:
        if not (said := messages(error, UserError)):
            sys.excepthook = print_traceback
            raise
        for message in said:
            print_error(message)
        raise SystemExit(2) from None
    except OSError as error:
        if error.filename is None and error.errno not in _OUTPUT_LOST:
            sys.excepthook = print_traceback
            raise
        what = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write the output"
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else the interpreter tries once more to write it
        print_error(
            f"{what}: {error.strerror}; look at its rights, at what it is, and at the room on the disk"
        )
        raise SystemExit(2) from None
    except Exception:
        sys.excepthook = print_traceback  # typer's hook prints quoted control characters unescaped
        raise


def names(text: str | None) -> list[str] | None:
    """Returns the names in `a,b`; None, which stands for all, for None.

    Raises:
        UserError: the text has no name.
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UserError(
            f"expected names separated by commas, such as a,b, got {text!r}; leave it out for all"
        )
    return parts


@dataclass(frozen=True)
class Chosen:
    """The models and suites whose stored results `--models` and `--suites` name; None means all."""

    models: Sequence[str] | None = None
    suites: Sequence[str] | None = None
    known_models: Collection[str] = ()
    """Ids of models.yaml, with results or without."""
    known_suites: Collection[str] = ()
    """Ids of all suites, with results or without."""

    def check(self, models: Iterable[str], suites: Iterable[str]) -> None:
        """Compares what was named with the models and suites that have results.

        Raises:
            UserError: naming all that have none, each with what to do.
        """
        _check_have_results("model", self.models or (), sorted(set(models)), self.known_models)
        _check_have_results("suite", self.suites or (), sorted(set(suites)), self.known_suites)

    def includes(self, model: str, suites: Collection[str]) -> bool:
        """Whether a model's numbers on these suites are wanted: on all of them."""
        return (self.models is None or model in self.models) and (
            self.suites is None or set(suites) <= set(self.suites)
        )


def _check_have_results(
    what: str, names: Sequence[str], measured: Sequence[str], known: Collection[str]
) -> None:
    without = dict.fromkeys(name for name in names if name not in measured and name in known)
    if without:
        raise UserError(
            "\n".join(
                f"no results of {what} {name!r} here; `triathlon run` makes some, `triathlon results list`"
                " lists those that there are, --results names others"
                for name in without
            )
        )
    check_names(names, measured, what=what, command="triathlon results list --json")


def one_of(choices: Iterable[str]) -> Callable[[str], list[str]]:
    """Returns what completes one of these names, for the shell."""
    return lambda incomplete: [name for name in choices if name.startswith(incomplete)]


_IDS: Final = "Ids, separated by commas; left out: all."
Models = Annotated[str | None, Option(help=_IDS)]
Suites = Annotated[str | None, Option(help=_IDS)]
ModelsFile = Annotated[
    Path | None,
    Option("--models-file", help="The list of models; left out: models.yaml.", envvar="TRIATHLON_MODELS"),
]
Results = Annotated[Path, Option("--results", help="Folder of results.", envvar="TRIATHLON_RESULTS")]
Data = Annotated[
    Path | None, Option("--data", help="Folder with official data files.", envvar="TRIATHLON_DATA")
]
PromptsUsed = Annotated[Path | None, Option(help="Folder with your own prompts that were used.")]
MOST_SAMPLES: Final = 10_000
"""Of a task: more is a slip."""
Budget = Annotated[float | None, Option(min=0, help="USD; once they are spent, no request is sent.")]
DryRun = Annotated[bool, Option("--dry-run", help="Say what it would take, ask nothing.")]
AsJson = Annotated[bool, Option("--json", help="For machines.")]
ModelName = Annotated[
    str | None, Option("--model", help="One model without a row: its name at --base-url, and its id.")
]
BaseUrl = Annotated[str | None, Option(help="Server of --model, such as http://127.0.0.1:8000/v1.")]
KeyEnv = Annotated[str | None, Option(help="Environment variable with the key of --model, never the key.")]
PriceOfModel = Annotated[
    str | None, Option(help="Price of --model as INPUT,OUTPUT in USD per million tokens, such as 1,4.")
]
Executor = Literal["local", "ray"]
ExecutorOption = Annotated[Executor, Option(help="Where programs are executed: here or on a Ray cluster.")]
RayAddress = Annotated[str | None, Option(help="The cluster, as `ray start` prints it, or auto.")]
