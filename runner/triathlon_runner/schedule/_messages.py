"""Messages above the progress panel: each error of a model once; later lines refer to it by its time."""

import re
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Final

from triathlon_runner.schedule._stop import Account

_ERRORS_PER_MODEL: Final = 10
"""Different errors of one model that are printed; a line says that there are more."""
_ERROR_OF_A_TRY: Final = re.compile(r": (.+); trying again")
"""In a message of a model's server, such as `no answer for 5 s: ERROR; trying again, for 10 min at most`."""


class Messages:
    """Prints messages about the models of a run and about the run itself."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        """`print_line` gets each message that is to be printed."""
        self._print = print_line
        self._accounts: dict[str, Account] = {}
        self._said: dict[str, str] = {}
        """Time of day by message, without its numbers."""
        self._errors: dict[str, dict[str, str]] = defaultdict(dict)
        """By model: time of day by error."""

    def attach(self, account: Account) -> None:
        """Takes a model's counters, where its server's last error stands."""
        self._accounts[account.model] = account

    def say(self, message: str) -> None:
        """Prints a message, unless it is an error of a model that was printed before."""
        name, _, text = message.partition(": ")
        if not self._time_of_error(name, text):
            self._said[_without_numbers(message)] = time_of_day()
            self._print(self._with_references(name, message))
            # The server may be tried again by another connection, which says the same.
            if (error := _ERROR_OF_A_TRY.search(text)) and not self._time_of_error(name, error[1]):
                self._errors[name][error[1]] = time_of_day()

    def say_error(self, name: str, error: str, message: str) -> None:
        """Prints a model's error the first time that it comes; at most ten different ones of a model."""
        if self._time_of(name, error) or len(self._errors[name]) > _ERRORS_PER_MODEL:
            return
        if len(self._errors[name]) == _ERRORS_PER_MODEL:
            message = f"{name}: and other errors, which are not printed"
        self._print(self._with_references(name, message))
        self._errors[name][error] = time_of_day()

    def say_errors_of_servers(self) -> None:
        """Prints what servers answered to requests that are tried again, and why models were stopped."""
        for name, account in self._accounts.items():
            stats = account.stats
            if error := stats.stopped or stats.last_error:
                is_retried = not stats.stopped and stats.retried_error == error
                message = f"{name}: {error}{'; trying again' if is_retried else ''}"
                self.say_error(name, error, message)

    def once(self, message: str) -> str:
        """Returns a message or, where it was printed above, a reference to that.

        The message is an error, or a model, a colon and an error.
        """
        name, _, error = message.partition(": ")
        for model, text in ((name, error), *((model, message) for model in self._accounts)):
            if time := self._time_of(model, text):
                return f"{model}, see the error of {time} above"
        return message

    def _time_of(self, name: str, error: str) -> str:
        """Returns when an error of a model was printed, by itself or as a message; empty where it was not."""
        return self._time_of_error(name, error) or self._said.get(_without_numbers(f"{name}: {error}"), "")

    def _time_of_error(self, name: str, error: str) -> str:
        key = _without_numbers(error)
        printed = self._errors[name].items()
        return next((time for text, time in printed if _without_numbers(text) == key), "")

    def _with_references(self, name: str, message: str) -> str:
        """Returns a message that, in place of a printed error behind a colon, names that error's time."""
        for error, time in self._errors[name].items():
            quoted = rf"(?<=: ){re.escape(error)}(?=;|$)"
            message = re.sub(quoted, f"the error of {time} above", message)
        last_error = self._accounts[name].stats.last_error if name in self._accounts else ""
        if last_error and last_error in message:
            self._errors[name][last_error] = time_of_day()
        return message


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def time_of_day() -> str:
    """The time, as messages show it: `14:05:09`."""
    return datetime.now().astimezone().strftime("%H:%M:%S")
