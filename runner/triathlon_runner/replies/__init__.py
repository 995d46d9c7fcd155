"""Replies as models and servers write them: markup is read by one table, and the program taken out."""

from triathlon_runner.replies._fences import begins_again, code_blocks
from triathlon_runner.replies._markup import (
    ended_text,
    final_answer,
    markers_in,
    split_reasoning,
    unknown_marker,
    visible_text,
)
from triathlon_runner.replies._pieces import is_definition
from triathlon_runner.replies._program import Extraction, extract, extract_program
