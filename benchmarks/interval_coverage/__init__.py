"""How often the intervals that the pages show hold the truth; see `benchmarks/coverage.py`."""
