"""Every data file of the site but those of single sections."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from triathlon_site.exports._formats import csv_file, json_file, parquet_file
from triathlon_site.exports._latex import board_files, overall_files
from triathlon_site.exports._schema import schema_files
from triathlon_site.exports._scores import Models, Reported, overall_frame, records, score_frame
from triathlon_site.load import Notice
from triathlon_site.published import Published
from triathlon_site.render import Page
from triathlon_site.scores import Board, Overall


def data_files(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Models,
    notices: Sequence[Notice],
    reported: Reported,
) -> Iterator[Page]:
    """Each board and overall ranking as JSON, CSV and LaTeX; all scores as Parquet; faults; the schemas."""
    for board in boards:
        frame = score_frame([board], models, reported)
        yield json_file(f"data/{board.plan.id}.json", {"board": board.plan.id}, records(frame))
        yield csv_file(f"data/{board.plan.id}.csv", frame)
    for family, overall in overalls.items():
        frame = overall_frame(overall, models)
        yield json_file(f"data/overall-{family}.json", {"family": family}, records(frame))
        yield csv_file(f"data/overall-{family}.csv", frame)
    yield from board_files(boards, models)
    yield from overall_files(overalls, models)
    if boards:
        yield parquet_file("data/scores.parquet", score_frame(boards, models, reported))
    yield json_file("data/notices.json", {}, [notice.model_dump() for notice in notices], "notices")
    yield from schema_files()


def published_files(published: Published) -> Iterator[Page]:
    """The published tables as they were read."""
    for name, rows in published.tables.items():
        yield csv_file(f"data/published-{name}.csv", pd.DataFrame(rows))
