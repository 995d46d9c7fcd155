"""Results in the formats of other programs, so that they are readable elsewhere: `triathlon export`."""

from triathlon_site.exchange._hugging_face import DATA_SETS
from triathlon_site.exchange._write import EXPORTS, Archive, Export, Exported, archives, write_export
