"""From results to `_site/`: gather, check, then write, so that a failed build leaves the old site."""

from triathlon_site.build._build import (
    BuildReport,
    Options,
    about_commands,
    build,
    cache_folder,
    checked_url,
    sweep,
    write_site,
)
from triathlon_site.build._gather import Frames, frames, gather
