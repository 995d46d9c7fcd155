"""Official benchmark data, read from its released files. Nothing of it ships with the project.

Every function that takes a `DataStore` raises a `DataUnavailableError` where a file is not there and cannot
be fetched.
"""

from triathlon_runner.datasets.official._assertions import example_assertion, named_calls
from triathlon_runner.datasets.official._catalogue import (
    CLASSEVAL,
    CRUXEVAL,
    DREVAL_DATA,
    DREVAL_TASKS,
    EVOEVAL,
    EVOEVAL_SETS,
    HUMANEVAL,
    HUMANEVAL_PLUS,
    HUMANEVAL_PRO,
    MBPP_PLUS,
    MBPP_PRO,
    MBXP,
    MBXP_LANGUAGES,
    EvoEvalSet,
    MbxpLanguage,
)
from triathlon_runner.datasets.official._evalplus import (
    humaneval,
    humaneval_original,
    humaneval_plus,
    mbpp_plus,
)
from triathlon_runner.datasets.official._evoeval import evoeval, evoeval_main_only, graded_typed
from triathlon_runner.datasets.official._files import (
    ACCEPTED,
    FileProblem,
    file_problems,
    problem_bytes,
    problem_file,
)
from triathlon_runner.datasets.official._pro import humaneval_pro, mbpp_pro
from triathlon_runner.datasets.official._prompts import (
    JUDGE_PROMPT,
    LOOP_PROMPTS,
    PROMPT_FILES,
    RUNTIME_PROMPTS,
    loop_prompts,
    runtime_prompts,
)
from triathlon_runner.datasets.official._raw import (
    CruxevalTask,
    DrevalInput,
    DrevalProgram,
    MbxpRow,
    classeval,
    cruxeval,
    dreval,
    mbxp,
)

__all__ = [
    "ACCEPTED",
    "CLASSEVAL",
    "CRUXEVAL",
    "DREVAL_DATA",
    "DREVAL_TASKS",
    "EVOEVAL",
    "EVOEVAL_SETS",
    "HUMANEVAL",
    "HUMANEVAL_PLUS",
    "HUMANEVAL_PRO",
    "JUDGE_PROMPT",
    "LOOP_PROMPTS",
    "MBPP_PLUS",
    "MBPP_PRO",
    "MBXP",
    "MBXP_LANGUAGES",
    "PROMPT_FILES",
    "RUNTIME_PROMPTS",
    "CruxevalTask",
    "DrevalInput",
    "DrevalProgram",
    "EvoEvalSet",
    "FileProblem",
    "MbxpLanguage",
    "MbxpRow",
    "classeval",
    "cruxeval",
    "dreval",
    "evoeval",
    "evoeval_main_only",
    "example_assertion",
    "file_problems",
    "graded_typed",
    "humaneval",
    "humaneval_original",
    "humaneval_plus",
    "humaneval_pro",
    "loop_prompts",
    "mbpp_plus",
    "mbpp_pro",
    "mbxp",
    "named_calls",
    "problem_bytes",
    "problem_file",
    "runtime_prompts",
]
