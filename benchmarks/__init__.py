"""Measurements, each a program of its own; a package, because pyarrow 17 installs another of this name."""
