"""The translation loop (EVALOOOP, section 5): Python, PHP, Ruby, JavaScript, Perl and back to Python."""

from triathlon_runner.translation._languages import CHAIN, STEPS, TARGETS, TITLES
from triathlon_runner.translation._suite import DISCIPLINE, TranslationSuite, catalogue
from triathlon_runner.translation._task import (
    CoreTask,
    MbxpTask,
    core_task,
    core_tasks,
    mbxp_tasks,
)
