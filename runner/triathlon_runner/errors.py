"""The two kinds of failure that are not results.

A model's failure is a result (`records.Outcome`) and never an exception.
"""

from collections.abc import Iterator


class UserError(Exception):
    """Something that a user can fix: printed without a traceback, exit code 2.

    The message says what was expected, what came (`!r`) and what to do.
    """


class InfrastructureError(Exception):
    """Our machinery or somebody's server failed: the unit stays open and the next run tries it again."""


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in the groups that task groups raise; the exception itself where it is none."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def messages(error: BaseException, *kinds: type[BaseException]) -> list[str]:
    """What the exceptions in an error say, each text once; none where one of them is of another kind."""
    inner = list(leaves(error))
    return list(dict.fromkeys(map(str, inner))) if all(isinstance(each, kinds) for each in inner) else []
