"""How often the intervals that the pages show hold the truth, and how often equal models are told apart.

python benchmarks/coverage.py                     all kinds, 400 experiments each
python benchmarks/coverage.py ranks tiers --experiments 2000

Each line is one setting: models and tasks are invented with a known truth, scored as the site scores them,
and the share of experiments is printed in which the interval held the truth (or, for tiers and shifts,
in which something was called different that is equal; for drawn-again, in which the truth lies outside, on
either side). Where one experiment is a whole table, as for ranks,
every model of it counts, and there are fewer tables. The same command prints the same lines.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.interval_coverage.experiment import Kind
from benchmarks.interval_coverage.intervals import (
    asl,
    consistency,
    correlations,
    drawn_again,
    drops,
    few_seeds,
    mean_of_sets,
    of_two_means,
    of_two_models,
    pass_at_1,
)
from benchmarks.interval_coverage.tables import of_ranks, of_tiers, overall_ranks, shifts

KINDS: Final[dict[str, Kind]] = {
    "pass@1": pass_at_1,
    "asl": asl,
    "ic": consistency,
    "mean": mean_of_sets,
    "drops": drops,
    "few-seeds": few_seeds,
    "differences": of_two_models,
    "mean-differences": of_two_means,
    "ranks": of_ranks,
    "tiers": of_tiers,
    "shifts": shifts,
    "overall": overall_ranks,
    "correlations": correlations,
    "drawn-again": drawn_again,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--experiments", type=int, default=400, help="a setting")
    arguments = parser.parse_args()
    for kind in arguments.kinds or KINDS:
        print(f"{kind}: {(KINDS[kind].__doc__ or '').splitlines()[0]}", flush=True)
        shares = []
        for cell in KINDS[kind](arguments.experiments):
            print(f"  {cell}", flush=True)
            shares.append(cell.share)
        print(f"  {len(shares)} settings, {min(shares):.3f} to {max(shares):.3f}", flush=True)


if __name__ == "__main__":
    main()
