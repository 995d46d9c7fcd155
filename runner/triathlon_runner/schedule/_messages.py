"""Messages above the progress panel: each with the time, each error of a model once."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from triathlon_runner.schedule._stop import Account

_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""
_SHOWN_CHARACTERS: Final = 60
"""Of an error, at least, where a later line refers to it: several may come within one second."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Where an error was printed: in which model's name, at what time of day, and how it begins."""

    model: str
    time: str
    beginning: str = ""
    """Of the error, so far that no other one of the model begins like it."""
    line: str = ""
    """What was printed, where that refers to an earlier error itself; else empty."""


@dataclass(slots=True)
class _ModelMessages:
    """What was printed about one model. Errors are compared without their numbers."""

    account: Account | None = None
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Time of day and text, by error."""
    quoted: dict[str, str] = field(default_factory=dict)
    """Time of day by error of its server that a message has quoted."""
    referring: dict[str, str] = field(default_factory=dict)
    """What was printed, by error, where that refers to an earlier one."""
    repeatable: set[str] = field(default_factory=set)
    """Errors that came as messages and are printed each time: `starting, 30 s so far`."""

    def beginning(self, error: str) -> str:
        """Returns an error in one line, cut where no other error of this model begins like it."""
        error = _in_one_line(error)
        texts = {_in_one_line(text) for text in (*self.quoted, *(text for _, text in self.errors.values()))}
        other_errors = [text for text in texts if text not in error and error not in text]
        shown = _SHOWN_CHARACTERS
        while shown < len(error) and any(other.startswith(error[:shown]) for other in other_errors):
            shown += 1
        return error if len(error) <= shown else f"{error[:shown].rstrip()}…"


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
            self._print_error(name, text, message)

    def say_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        errors, key = self._models[name].errors, _without_numbers(error)
        if any(key in known for known in errors):
            return
        if len(errors) < _ERRORS_PER_MODEL:
            self._print_error(name, error, message)
            return
        errors[key] = time_of_day(), error
        if len(errors) == _ERRORS_PER_MODEL + 1:
            self._print(f"{name}: and other errors, which are not printed")

    def say_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, model in self._models.items():
            stats = model.account.stats if model.account else None
            if stats and (error := stats.stopped or stats.last_error):
                is_retried = not stats.stopped and stats.retried_error == error
                self.say_error(name, error, f"{name}: {error}{'; trying again' if is_retried else ''}")

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
                time, printed = model.errors[error]
                return Printed(name, time, model.beginning(printed), model.referring.get(error, ""))
        return None

    def _print_error(self, name: str, error: str, message: str) -> None:
        """Prints a message with an error; where it quotes one that was printed, it refers to that."""
        model, key = self._models[name], _without_numbers(error)
        last = model.account.stats.last_error if model.account else ""
        known = next((quoted for quoted in model.quoted if quoted in message), None)
        if known is not None:
            reference = f"the error of {model.quoted[known]} above ({model.beginning(known)})"
            message = message.replace(known, reference)
        elif last and last in message:
            model.quoted[last] = time_of_day()
        says_no_more = known is not None and key == _without_numbers(known)
        if known is not None and not says_no_more:
            model.referring[key] = message
        model.errors[key] = (model.quoted[known] if known and says_no_more else time_of_day(), error)
        self._print(message)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def time_of_day() -> str:
    """The time, as messages show it: `14:05:09`."""
    return datetime.now().astimezone().strftime("%H:%M:%S")
