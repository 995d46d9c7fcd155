"""Results in the formats of other programs, so that they are readable elsewhere: `triathlon export`."""

from triathlon_site.exchange._hugging_face import DATA_SETS
from triathlon_site.exchange._write import EXPORTS, Archive, Export, Exported, archives, write_export
from triathlon_site.wanted import Wanted

__all__ = ["DATA_SETS", "EXPORTS", "Archive", "Export", "Exported", "Wanted", "archives", "write_export"]
