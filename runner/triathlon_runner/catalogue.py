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


def select(ids: Sequence[str] | None = None, variants: Sequence[str] = ()) -> tuple[SuiteEntry, ...]:
    """The suites of these ids, in the order of the catalogue; all but variants for None.

    `variants` adds the suites' variants of these kinds: prompts, temperatures, attacks.

    Raises:
        UserError: an id that is not in the catalogue, a kind that no suite has.
    """
    if ids is not None:
        check_names(ids, [entry.id for entry in entries()], what="suite")
    kinds = sorted({entry.variant_kind for entry in entries() if entry.variant_kind is not None})
    check_names(variants, kinds, what="kind of variant")

    def wanted(entry: SuiteEntry) -> bool:
        if entry.variant_of is None or entry.variant_kind not in variants:
            return entry.id in ids if ids is not None else entry.variant_of is None
        return ids is None or entry.variant_of in ids or entry.id in ids

    return tuple(entry for entry in entries() if wanted(entry))
