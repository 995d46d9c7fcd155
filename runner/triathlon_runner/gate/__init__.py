"""Is model B worse than model A? A paired sequential test that stops as soon as the answer is clear."""

from triathlon_runner.gate._sequential import SequentialTest, Verdict

__all__ = ["SequentialTest", "Verdict"]
