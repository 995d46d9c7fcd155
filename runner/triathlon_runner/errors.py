"""The two kinds of failure that are not results.

A model's failure is a result (`records.Outcome`) and never an exception.
"""


class UserError(Exception):
    """Something that a user can mend: printed without a traceback, exit code 2.

    The message says what was expected, what came (`!r`) and what to do.
    """


class InfrastructureError(Exception):
    """Our machinery or somebody's server failed: the unit stays open and the next run tries it again."""
