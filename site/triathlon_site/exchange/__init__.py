"""Results in the formats of other programs, so that they are readable elsewhere: `triathlon export`."""

from triathlon_site.exchange._source import sources_of
from triathlon_site.exchange._write import DATA_SETS, EXPORTS, Exported, write_export
