"""Plain values at random, in each other to some depth."""

from typing import Any

from hypothesis import strategies as st


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Leaves, and lists, tuples, dicts and sets of them; keys are also the members of sets."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(keys, inner, max_size=4)
            | st.sets(keys, max_size=4)
            | st.frozensets(keys, max_size=4)
        ),
        max_leaves=12,
    )
