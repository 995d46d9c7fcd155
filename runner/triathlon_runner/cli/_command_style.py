"""Commands whose help shows flags without a value, and whose usage errors are messages like all others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import typer
from pydantic import ValidationError
from typer.core import TyperCommand, TyperGroup

from triathlon_runner.errors import UserError

Function = TypeVar("Function", bound=Callable[..., Any])


class App(typer.Typer):
    """A command line, or a group of its commands."""

    def __init__(self, **settings: Any) -> None:
        """Takes typer's settings."""
        super().__init__(cls=_Group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """As typer's decorator."""
        return super().command(name, cls=_Command, **settings)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types_of_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _usage_errors(ctx, args):
            return super().parse_args(ctx, args)


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types_of_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _usage_errors(ctx, args):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        with _usage_errors(ctx, args):
            return super().resolve_command(ctx, args)


def _without_types_of_flags(parameters: Sequence[Any]) -> list[Any]:
    """A flag takes no value, so the help shows no type behind it; typer would show `<bool>`."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return list(parameters)


@contextmanager
def _usage_errors(ctx: Any, args: Sequence[str]) -> Iterator[None]:
    """Turns errors of typer about the arguments into messages in our words.

    Raises:
        UserError: an unknown option or command, a missing or unusable value.
    """
    asked_for_help = not args and ctx.command.no_args_is_help
    try:
        yield
    except typer.TyperException as error:
        if asked_for_help:  # typer shows the help by raising an exception
            raise
        raise UserError(_fault_of_value(error) or _with_help(error.format_message(), ctx)) from None


def _with_help(message: str, ctx: Any) -> str:
    """Returns the message with the command that lists options and commands."""
    help_command = f"`{ctx.command_path} -h`"
    return (
        f"{message} See {help_command}"
        if message.endswith("?")
        else f"{message.rstrip('.')}; see {help_command}"
    )


def _fault_of_value(error: typer.TyperException) -> str:
    """Returns what a number or a choice should have been, and the value; empty for any other error."""
    parameter, cause = getattr(error, "param", None), error.__cause__
    if parameter is None or not isinstance(cause, ValidationError):
        return ""
    name = parameter.opts[-1] if parameter.opts else parameter.name
    return f"expected {name} {_expected(parameter)}, got {cause.errors()[0]['input']!r}"


def _expected(parameter: Any) -> str:
    kind = parameter.type_descriptor
    if kind.choices:
        return f"as {' or '.join(map(str, kind.choices))}"
    number = {int: "a whole number", float: "a number"}.get(kind.annotation)
    if number is None:
        return f"as {parameter.bare_type()}"
    low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if low is not None and high is not None:
        return f"as {number} from {low:g} to {high:g}"
    if low is not None:
        return f"as {number} of {low:g} or more"
    return f"as {number}" if high is None else f"as {number} of {high:g} or less"
