"""Every suite there is, in the order in which the board shows them."""

import functools
from collections.abc import Sequence

from triathlon_runner import evolved, loop, runtime, translation
from triathlon_runner.registry import check_names
from triathlon_runner.suites import SuiteEntry


@functools.cache
def entries() -> tuple[SuiteEntry, ...]:
    """All suites, variants included; nothing is read for this."""
    return (*loop.catalogue(), *translation.catalogue(), *runtime.catalogue(), *evolved.catalogue())


def select(ids: Sequence[str] | None = None) -> tuple[SuiteEntry, ...]:
    """The suites of these ids, in the order of the catalogue; all but variants for None.

    Raises:
        UserError: an id that is not in the catalogue.
    """
    if ids is None:
        return tuple(entry for entry in entries() if entry.variant_of is None)
    check_names(ids, [entry.id for entry in entries()], what="suite")
    return tuple(entry for entry in entries() if entry.id in ids)
