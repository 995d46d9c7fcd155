"""Every suite there is, in the order in which the board shows them."""

import functools
from collections.abc import Sequence
from pathlib import Path

from triathlon_runner import evolved, loop, runtime, translation
from triathlon_runner.registry import check_names
from triathlon_runner.suites import SuiteEntry


@functools.cache
def entries(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites, variants included; nothing is read for this.

    Args:
        prompts: A user's folder of prompts (`--prompts`) in place of ours.
    """
    return (
        *loop.catalogue(prompts),
        *translation.catalogue(prompts),
        *runtime.catalogue(prompts),
        *evolved.catalogue(prompts),
    )


def select(
    ids: Sequence[str] | None = None, variants: Sequence[str] = (), prompts: Path | None = None
) -> tuple[SuiteEntry, ...]:
    """The suites of these ids, in the order of the catalogue; all but variants for None.

    `variants` adds the suites' variants of these kinds: prompts, temperatures, attacks; `prompts` is a user's
    folder of prompts in place of ours.

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

    return tuple(entry for entry in entries(prompts) if wanted(entry))
