"""Taking the program out of a reply, and saying what was changed on the way."""

from triathlon_runner.extraction._program import Extraction, extract_program
from triathlon_runner.extraction._text import code_blocks, visible_text

__all__ = ["Extraction", "code_blocks", "extract_program", "visible_text"]
