"""From results to `_site/`: gather, check, then write, so that a failed build leaves the old site."""

from triathlon_site.build._build import (
    BuildReport,
    Options,
    build,
    cache_folder,
    checked_url,
    in_words,
)
from triathlon_site.build._gather import gather
from triathlon_site.build._write import sweep, write_site
