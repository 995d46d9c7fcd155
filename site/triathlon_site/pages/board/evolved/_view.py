"""What the evolved discipline says of models that fall, and its parts of the board's page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from triathlon_runner.records import EvolvedRecord
from triathlon_site.evidence import Article
from triathlon_site.pages.board._figures import curve_and_radar
from triathlon_site.pages.board._retention import BoardRetention, Retention, changed_values
from triathlon_site.pages.board._view_protocol import DisciplineView, FrontColumn
from triathlon_site.pages.board.evolved._sections import evolved_sections
from triathlon_site.scores import Board, set_title


def _retentions(board: Board, parents: Mapping[str, Sequence[str]]) -> Iterator[Retention]:
    """Whether a changed problem is solved, of those whose seeds are."""
    seeds = {entry.id: entry.seeds for entry in board.plan.suites}
    samples = {sample.suite: sample for sample in board.headline.samples}
    for suite, sample in samples.items():
        seed = samples.get(seeds[suite] or suite)
        if seed is not None and seed is not sample:
            yield Retention(suite, sample.clusters, changed_values(sample, seed, parents), 1.0)


def _losses(model: str, _: Board, board_retention: BoardRetention) -> Iterator[str]:
    """The share of changed problems that the model solves, and the set where it is furthest behind."""
    mean, rivals_mean = board_retention.beside(model, board_retention.means)
    yield (
        f"Of the changed problems whose seeds it solves, it solves {100 * mean:.0f} %;"
        f" the other models {100 * rivals_mean:.0f} % of theirs."
    )
    means = [(suite.suite, *board_retention.beside(model, suite.means)) for suite in board_retention.suites]
    behind = [(suite, mean, rivals_mean) for suite, mean, rivals_mean in means if rivals_mean - mean > 0]
    if behind:
        suite, mean, rivals_mean = max(behind, key=lambda entry: entry[2] - entry[1])
        name = set_title(suite.partition("/")[2].removeprefix("core-"))
        yield f"Furthest behind: {name}, {100 * mean:.0f} % against {100 * rivals_mean:.0f} %."


FRONT: Final = (
    FrontColumn(
        id="evolved",
        name="Evolved: EvoEval mean",
        tasks=164,
        board="evolved-official",
        column="evolved:average",
        small="EvoEval mean",
        about="solves changed problems",
        within="evolved",
    ),
    FrontColumn(
        "humaneval_plus",
        "HumanEval+ pass@1",
        164,
        "evolved-official",
        "evolved/humaneval-plus:pass@1",
        small="pass@1",
        head="HumanEval+",
        about="solves 164 short tasks at once",
        within="HumanEval+",
        published=(  # the newest board first
            ("evalplus", "humaneval_plus"),
            ("qwen_coder", "humaneval_plus"),
            ("evoeval", "humaneval_plus"),
        ),
    ),
    FrontColumn(
        "mbpp_plus",
        "MBPP+ pass@1",
        378,
        "evolved-official",
        "evolved/mbpp-plus:pass@1",
        small="pass@1",
        head="MBPP+",
        about="solves 378 short tasks at once",
        within="MBPP+",
    ),
)
EVOLVED = DisciplineView(
    figures_title="Set by set",
    endings="One unit a problem, over all sets that the board shows.",
    figures=curve_and_radar,
    sections=evolved_sections,
    retentions=_retentions,
    losses=_losses,
    loss_note=lambda _value, total, rivals, _most: (
        f"not solved, its seed is; {total:.0f} of {rivals:.0f} others with the seed solve it"
    ),
    has_parents=True,
    articles={EvolvedRecord: Article("board/evolved_unit")},
    about_prompts="EvoEval words its instruction for each family of models; ours is one for all.",
    front=FRONT,
)
