"""Messages above the progress panel: each with the time, each error of a model once."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from triathlon_runner.schedule._stop import Account

_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Where an error was printed: in which model's name, at what time of day."""

    model: str
    time: str
    line: str = ""
    """What was printed, where that refers to an earlier error itself; else empty."""


@dataclass(slots=True)
class _ModelMessages:
    """What was printed about one model. Errors are compared without their numbers."""

    account: Account | None = None
    errors: dict[str, str] = field(default_factory=dict)
    """Time of day by error."""
    quoted: dict[str, str] = field(default_factory=dict)
    """Time of day by error of its server that a message has quoted."""
    referring: dict[str, str] = field(default_factory=dict)
    """What was printed, by error, where that refers to an earlier one."""
    repeatable: set[str] = field(default_factory=set)
    """Errors that came as messages and are printed each time: `starting, 30 s so far`."""


class Messages:
    """Prints messages about the models of a run and about the run itself."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        """`print_line` gets each message that is to be printed."""
        self._print = print_line
        self._models: dict[str, _ModelMessages] = {}
        self._others: dict[str, str] = {}
        """Time of day by message that is about no model."""

    def add_model(self, name: str) -> None:
        """Makes messages that begin with `name: ` messages about a model."""
        self._models.setdefault(name, _ModelMessages())

    def attach(self, account: Account) -> None:
        """Takes a model's counters, where its server's last error stands."""
        self.add_model(account.model)
        self._models[account.model].account = account

    def say(self, message: str) -> None:
        """Prints a message, unless it is an error of a model that was printed before."""
        name, _, text = message.partition(": ")
        if name not in self._models:
            self._others[message] = time_of_day()
            self._print(message)
            return
        model, error = self._models[name], _without_numbers(text)
        if error not in model.errors or error in model.repeatable:
            model.repeatable.add(error)
            self._print_error(name, error, message)

    def say_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        errors, error = self._models[name].errors, _without_numbers(error)
        if any(error in known for known in errors):
            return
        if len(errors) < _ERRORS_PER_MODEL:
            self._print_error(name, error, message)
            return
        errors[error] = time_of_day()
        if len(errors) == _ERRORS_PER_MODEL + 1:
            self._print(f"{name}: and other errors, which are not printed")

    def say_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, model in self._models.items():
            if model.account and (error := model.account.stats.stopped or model.account.stats.last_error):
                self.say_error(name, error, f"{name}: {error}")

    def printed_at(self, message: str) -> Printed | None:
        """Where a model's error was printed; `message` is the error, or the model, a colon and the error."""
        name, _, text = message.partition(": ")
        if message in self._others:
            return Printed(name, self._others[message])
        names = [name] if name in self._models else list(self._models)
        error = _without_numbers(text if name in self._models else message)
        for name in names:
            model = self._models[name]
            if error in model.errors:
                return Printed(name, model.errors[error], model.referring.get(error, ""))
        return None

    def _print_error(self, name: str, error: str, message: str) -> None:
        """Prints a message with an error; where it quotes one that was printed, with the time of that."""
        model = self._models[name]
        last = model.account.stats.last_error if model.account else ""
        known = next((quoted for quoted in model.quoted if quoted in message), None)
        if known is not None:
            message = message.replace(known, f"the error of {model.quoted[known]} above")
        elif last and last in message:
            model.quoted[last] = time_of_day()
        says_no_more = known is not None and error == _without_numbers(known)
        if known is not None and not says_no_more:
            model.referring[error] = message
        model.errors[error] = model.quoted[known] if known and says_no_more else time_of_day()
        self._print(message)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def time_of_day() -> str:
    """The time, as messages show it: `14:05:09`."""
    return datetime.now().astimezone().strftime("%H:%M:%S")
