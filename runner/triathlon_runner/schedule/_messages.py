"""Messages above the progress panel: each with the time, each error of a model once."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from triathlon_runner.schedule._stop import Account

_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""
_SHOWN_CHARACTERS: Final = 60
"""Of an error, at least, where a later line refers to it: several may come within one second."""


@dataclass(frozen=True, slots=True)
class _Error:
    """An error of a model that was printed."""

    text: str
    time: str
    line: str
    """What was printed, where that refers to an earlier error itself; else empty."""
    is_repeated: bool
    """It came as a message and is printed each time: `starting, 30 s so far`."""


class Messages:
    """Prints messages about the models of a run and about the run itself."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        """`print_line` gets each message that is to be printed."""
        self._print = print_line
        self._accounts: dict[str, Account] = {}
        self._errors: dict[str, dict[str, _Error]] = {}
        """By model, then by the error without its numbers."""
        self._quoted: dict[str, dict[str, str]] = {}
        """By model: time of day by error of its server that a message has quoted."""
        self._others: dict[str, str] = {}
        """Time of day by message that is about no model."""

    def add_model(self, name: str) -> None:
        """Makes messages that begin with `name: ` messages about a model."""
        self._errors.setdefault(name, {})
        self._quoted.setdefault(name, {})

    def attach(self, account: Account) -> None:
        """Takes a model's counters, where its server's last error stands."""
        self.add_model(account.model)
        self._accounts[account.model] = account

    def say(self, message: str) -> None:
        """Prints a message, unless it is an error of a model that was printed before."""
        name, _, text = message.partition(": ")
        if name not in self._errors:
            self._others[message] = time_of_day()
            self._print(message)
            return
        known = self._errors[name].get(_without_numbers(text))
        if known is None or known.is_repeated:
            self._print_error(name, text, message, is_repeated=True)

    def say_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        errors, key = self._errors[name], _without_numbers(error)
        if any(key in known for known in errors):
            return
        if len(errors) < _ERRORS_PER_MODEL:
            self._print_error(name, error, message)
            return
        errors[key] = _Error(error, time_of_day(), "", is_repeated=False)
        if len(errors) == _ERRORS_PER_MODEL + 1:
            self._print(f"{name}: and other errors, which are not printed")

    def say_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, account in self._accounts.items():
            stats = account.stats
            if error := stats.stopped or stats.last_error:
                is_retried = not stats.stopped and stats.retried_error == error
                self.say_error(name, error, f"{name}: {error}{'; trying again' if is_retried else ''}")

    def once(self, message: str) -> str:
        """Returns a message or, where its error was printed above, a reference to that.

        The message is an error, or a model, a colon and an error. A line above that is a reference itself is
        repeated, so that no reference leads to another.
        """
        name, _, text = message.partition(": ")
        if message in self._others:
            return f"{name}, see the error of {self._others[message]} above"
        names, error = ([name], text) if name in self._errors else (list(self._errors), message)
        for name in names:
            if found := self._errors[name].get(_without_numbers(error)):
                beginning = self._beginning(name, found.text)
                return found.line or f"{name}, see the error of {found.time} above ({beginning})"
        return message

    def _print_error(self, name: str, error: str, message: str, *, is_repeated: bool = False) -> None:
        """Prints a message with an error; where it quotes one that was printed, it refers to that."""
        quoted, key, time, line = self._quoted[name], _without_numbers(error), time_of_day(), ""
        last_error = self._accounts[name].stats.last_error if name in self._accounts else ""
        earlier = next((text for text in quoted if text in message), None)
        if earlier is not None:
            reference = f"the error of {quoted[earlier]} above ({self._beginning(name, earlier)})"
            message = message.replace(earlier, reference)
            if key == _without_numbers(earlier):
                time = quoted[earlier]
            else:
                line = message
        elif last_error and last_error in message:
            quoted[last_error] = time
        self._errors[name][key] = _Error(error, time, line, is_repeated)
        self._print(message)

    def _beginning(self, name: str, error: str) -> str:
        """Returns an error in one line, cut where no other error of its model begins like it."""
        error = _in_one_line(error)
        known = [*self._quoted[name], *(printed.text for printed in self._errors[name].values())]
        others = [other for other in map(_in_one_line, known) if other not in error and error not in other]
        shown = _SHOWN_CHARACTERS
        while any(other.startswith(error[:shown]) for other in others):
            shown += 1
        return error if len(error) <= shown else f"{error[:shown].rstrip()}…"


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def time_of_day() -> str:
    """The time, as messages show it: `14:05:09`."""
    return datetime.now().astimezone().strftime("%H:%M:%S")
