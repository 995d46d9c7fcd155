"""A library of hostile programs, and a run of all of them against the live engine.

Each program is one documented attack on one task: `f(x)` is to return x + 1. They are bounded and touch only
this machine.
"""

from support.attacks._library import Attack, library
from support.attacks._run import AttackReport, AttackResult, attack

__all__ = ["Attack", "AttackReport", "AttackResult", "attack", "library"]
