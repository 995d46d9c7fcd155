"""Asks one model with two wordings of our prompts and compares the scores, task by task.

    python benchmarks/prompts.py BEFORE AFTER --suite evolved/humaneval-plus --model MODEL [-- OPTIONS]

BEFORE and AFTER are folders of prompts (`<discipline>/<name>.txt`, as for `triathlon run --prompts`), or
`ours` for the prompts of this checkout. Each is asked by `triathlon run`, which OPTIONS are passed on to.
Results are kept in --out, so an interrupted comparison goes on where it was. For every metric of the suite:
both scores, the tasks gained and lost, and the 95 % interval of the difference by a paired bootstrap over
tasks (over programs in runtime). For runtime, also the three answers that each kind of question gets most
often, with their number and that of the wrong ones: an answer of a demonstration among them was copied.
"""

import argparse
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from triathlon_runner import catalogue
from triathlon_runner.metrics import Metric
from triathlon_runner.records import Outcome, RuntimeRecord, UnitRecord
from triathlon_runner.store import read_records
from triathlon_runner.suites import SuiteEntry

DRAWS = 10_000


def ask(folder: str, results: Path, suite: str, model: str, options: Sequence[str]) -> Path:
    """Returns the file with the model's results, after asking for what is missing in it."""
    prompts = [] if folder == "ours" else ["--prompts", folder]
    command = ["run", "--models", model, "--suites", suite, "--profile", "standard", *prompts]
    run = [sys.executable, "-m", "triathlon_site", *command, "--results", str(results), *options]
    code = subprocess.run(run, check=False).returncode
    if code:
        sys.exit(f"error: expected exit code 0 of `triathlon {' '.join(command)}`, got {code}")
    return results / "runs" / model / f"{suite}.jsonl"


def totals(metric: Metric, records: Sequence[UnitRecord]) -> dict[str, tuple[float, float]]:
    """Numerator and denominator of the metric by cluster."""
    sums: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for cluster, numerator, denominator in metric.contributions(records):
        above, below = sums[cluster]
        sums[cluster] = above + numerator, below + denominator
    return sums


def compare(metric: Metric, before: Sequence[UnitRecord], after: Sequence[UnitRecord]) -> str:
    """A line about one metric: both scores, clusters gained and lost, the interval of the difference."""
    unit = metric.scale * (100 if metric.maximum == 1 else 1)  # shares are shown in per cent
    sums = totals(metric, before), totals(metric, after)
    clusters = sorted(sums[0].keys() & sums[1].keys())
    if not clusters:
        return f"{metric.title:32} asked nowhere in both"
    values = np.array([[side[cluster] for cluster in clusters] for side in sums])
    shares = values[:, :, 0] / np.maximum(values[:, :, 1], 1e-12)
    gained, lost = int((shares[1] > shares[0] + 1e-9).sum()), int((shares[1] < shares[0] - 1e-9).sum())
    weights = np.random.default_rng(0).exponential(size=(DRAWS, len(clusters)))
    drawn = np.einsum("dc,scv->dsv", weights, values)
    differences = drawn[:, 1, 0] / drawn[:, 1, 1] - drawn[:, 0, 0] / drawn[:, 0, 1]
    low, high = (unit * np.quantile(differences, (0.025, 0.975))).tolist()
    first, second = (unit * side[:, 0].sum() / side[:, 1].sum() for side in values)
    return (
        f"{metric.title:32} {first:7.2f} {second:7.2f}   gained {gained:4} lost {lost:4} of {len(clusters):4}"
        f"   difference {second - first:+.2f} ({low:+.2f} to {high:+.2f})"
    )


def frequent_answers(records: Sequence[UnitRecord]) -> Iterator[str]:
    """A line a kind of question: its most frequent answers, how often they came, how often wrongly."""
    answers: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    for record in records:
        for question in record.questions() if isinstance(record, RuntimeRecord) else ():
            is_right = question.outcome is Outcome.PASSED
            answers[question.name.partition("-")[0]][question.extracted, is_right] += 1
    for kind, counts in answers.items():
        totals: Counter[str] = Counter()
        for (answer, _), count in counts.items():
            totals[answer] += count
        most = (f"{text!r} {n} ({counts[text, False]} wrong)" for text, n in totals.most_common(3))
        yield f"{kind} of {totals.total()}: {', '.join(most)}"


def main() -> None:
    """Asks with both wordings and prints a line a metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--suite", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, default=Path("_prompts"), help="folder of both results")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments, options = parser.parse_args(words[:end]), words[end + 1 :]
    (entry,) = catalogue.select([arguments.suite])
    asked = (arguments.suite, arguments.model, options)
    before = records_of(entry, ask(arguments.before, arguments.out / "before", *asked))
    after = records_of(entry, ask(arguments.after, arguments.out / "after", *asked))
    print(f"{arguments.suite}, {arguments.model}: {arguments.before} against {arguments.after}")
    for metric in entry.metrics:
        if metric.role != "curve":
            print(compare(metric, before, after))
    for name, records in (("before", before), ("after", after)):
        for line in frequent_answers(records):
            print(f"{name}, {line}")


def records_of(entry: SuiteEntry, path: Path) -> list[UnitRecord]:
    """All records of a results file."""
    return list(read_records(path, entry.record))


if __name__ == "__main__":
    main()
