"""The runtime discipline (REval): what does a program do while it runs, and do the answers fit together?

A question is built by `_construct`, worded by `_questions` and asked by `_suite`. `_grade` takes its answer
out of the reply and compares values by `_literals`; what is stated for a mask is read by `_assertions`,
`_masked` and `_expressions`, and `_outputs` has the test executed by `_sandboxed/programs`. `_metrics` makes
scores of the records.
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
