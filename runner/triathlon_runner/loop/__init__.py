"""The loop discipline (EVALOOOP): generate, execute, summarise, and again from the model's own words."""

from triathlon_runner.loop._catalogue import DISCIPLINE, VARIANTS, catalogue
from triathlon_runner.loop._metrics import asl_of_counts, metrics
from triathlon_runner.loop._prompt import PAPER_LOOPS, Setting, question
from triathlon_runner.loop._suite import LoopSuite
