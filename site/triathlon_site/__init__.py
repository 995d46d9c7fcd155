"""The site builder: reads results, writes pages. Never calls a model or runs a program.

`triathlon_site.frames(results)` returns the numbers of a site as DataFrames; see docs/frames.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triathlon_site.build import Frames, frames

__all__ = ["Frames", "frames"]


def __getattr__(name: str) -> Any:
    """Imports pandas when somebody asks for frames; other commands of `triathlon` need not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from triathlon_site import build  # noqa: PLC0415  see above

    return getattr(build, name)
