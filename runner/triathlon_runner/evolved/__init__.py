"""The evolved discipline (EvoEval): problems evolved from known ones, solved in one go."""

from triathlon_runner.evolved._catalogue import DISCIPLINE, SEED, SEMANTIC_ALTERING, catalogue, pass_at_k
from triathlon_runner.evolved._suite import STOP, STOP_SELF_INVOKING, EvolvedSuite
