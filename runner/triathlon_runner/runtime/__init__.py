"""The runtime discipline (REval): what does a program do while it runs, and do the answers fit together?"""

from triathlon_runner.runtime._asking import KINDS, STYLES, QuestionKind, Style
from triathlon_runner.runtime._catalogue import (
    DATASETS,
    DISCIPLINE,
    catalogue,
    entry_of_file,
    entry_of_results,
    question_source,
    suite_from_file,
)
from triathlon_runner.runtime._chain import Chain, chain, chains
from triathlon_runner.runtime._grade import Graded, grade_output
from triathlon_runner.runtime._metrics import AVERAGE, IC, METRICS
from triathlon_runner.runtime._questions import (
    FilterReport,
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
    Value,
    count_questions,
    read_questions,
    write_questions,
)
from triathlon_runner.runtime._suite import QuestionsNotBuiltError, RuntimeSuite

__all__ = [
    "AVERAGE",
    "DATASETS",
    "DISCIPLINE",
    "IC",
    "KINDS",
    "METRICS",
    "STYLES",
    "Chain",
    "FilterReport",
    "Graded",
    "InputQuestions",
    "ProgramQuestions",
    "QuestionFile",
    "QuestionKind",
    "QuestionsNotBuiltError",
    "RuntimeSuite",
    "StatementQuestion",
    "Style",
    "Value",
    "catalogue",
    "chain",
    "chains",
    "count_questions",
    "entry_of_file",
    "entry_of_results",
    "grade_output",
    "question_source",
    "read_questions",
    "suite_from_file",
    "write_questions",
]
