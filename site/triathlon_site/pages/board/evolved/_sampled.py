"""Sets that were asked several times at a temperature: pass@k."""

from collections.abc import Iterator, Mapping

from triathlon_runner.metrics import Metric
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._values import model_cell
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, set_title, total, variants_of


def sampled_sections(board: Board, models: Mapping[str, ModelInfo]) -> Iterator[Section]:
    """pass@k by model and set; nothing where no set was asked so."""
    rows: list[tuple[ModelInfo, str, int, dict[str, Value]]] = []
    titles: dict[str, str] = {}
    for variant in variants_of(board, "temperatures"):
        for model, file in board.of_suite(variant.entry.id).items():
            cells = {}
            for metric in variant.entry.metrics:
                if value := _pass_at(file, metric):
                    cells[metric.id], titles[metric.id] = value, metric.title
            setting = f"{set_title(variant.entry.set_name)} at {variant.title}"
            rows.append((models[model], setting, int(file.frame["sample"].max()) + 1, cells))
    body = tuple(
        (
            model_cell(info),
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


def _pass_at(file: FileAggregate, metric: Metric) -> Value | None:
    """The cell of one pass@k; None where no task has k samples."""
    part = total(file, metric.id)
    if not part.denominator:
        return None
    score = metric.scale * part.numerator / part.denominator
    return Value(formats.score(score, metric.maximum), f"{part.denominator:.0f} tasks")
