"""The runtime discipline (REval): what does a program do while it runs, and do the answers fit together?

The path of one question through these modules stands in `docs/architecture.md`.
"""

from triathlon_runner.runtime._catalogue import DATASETS, DISCIPLINE, catalogue, question_source
from triathlon_runner.runtime._construct import without_libraries
from triathlon_runner.runtime._grade import Graded
from triathlon_runner.runtime._metrics import IC, METRICS, chains, consistency
from triathlon_runner.runtime._outputs import grade_output
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
    Value,
    read_questions,
    write_questions,
)
from triathlon_runner.runtime._suite import RuntimeSuite
