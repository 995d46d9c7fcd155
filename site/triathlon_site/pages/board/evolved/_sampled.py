"""Sets that were asked several times at a temperature: pass@k."""

from collections.abc import Iterator, Mapping

from triathlon_runner.metrics import Metric
from triathlon_site.load import Parts
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import named
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, set_title, variants_of


def sampled_sections(board: Board, models: Mapping[str, ModelInfo]) -> Iterator[Section]:
    """pass@k by model and set; nothing where no set was asked so."""
    rows: list[tuple[ModelInfo, str, int, dict[str, Value]]] = []
    titles: dict[str, str] = {}
    for variant in variants_of(board, "temperatures"):
        known = {m.id: m for m in variant.entry.metrics}
        for model, file in board.of_suite(variant.entry.id).items():
            shown = {name: _pass_at(file.metrics[name], metric) for name, metric in known.items()}
            cells = {name: value for name, value in shown.items() if value}
            titles |= {name: known[name].title for name in cells}
            setting = f"{set_title(variant.entry.set_name)} at {variant.title}"
            rows.append((models[model], setting, int(file.frame["sample"].max()) + 1, cells))
    body = tuple(
        (
            named(info),
            Value(setting),
            Value(str(samples)),
            *(cells.get(name) or Value(formats.NONE) for name in titles),
        )
        for info, setting, samples, cells in rows
    )
    text = "The unbiased estimate of pass@k (Chen et al. 2021) over the tasks that have k samples or more."
    head = ("Model", "set and temperature", "samples", *titles.values())
    if body:
        yield Section("Several samples at a temperature", text, head, body)


def _pass_at(parts: Parts, metric: Metric) -> Value | None:
    total = sum(parts.denominators)
    if not total:
        return None
    score = metric.scale * sum(parts.numerators) / total
    return Value(formats.score(score, metric.maximum), f"{total:.0f} tasks")
