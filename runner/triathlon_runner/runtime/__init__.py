"""The runtime discipline (REval): what does a program do while it runs, and do the answers fit together?

A question is built by `_construct` from a data set of `_catalogue`, worded by `_questions` and asked by
`_suite`. `_answers` takes its answer out of the reply and grades it; of an output `_outputs` reads what is
stated for the masks, and the test is executed by `_sandboxed/programs`. `_metrics` makes scores of the
records.
"""

from triathlon_runner.runtime._answers import Graded
from triathlon_runner.runtime._catalogue import DATASETS, DISCIPLINE, catalogue, question_source
from triathlon_runner.runtime._construct import without_libraries
from triathlon_runner.runtime._metrics import IC, METRICS, Chain, chains
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
