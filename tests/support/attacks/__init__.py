"""Hostile programs, and what they do to the live engine."""

from support.attacks._run import Attack, attack, library

__all__ = ["Attack", "attack", "library"]
