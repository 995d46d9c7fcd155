"""The translation loop (EVALOOOP, section 5): Python, PHP, Ruby, JavaScript, Perl and back to Python."""

from triathlon_runner.translation._catalogue import DISCIPLINE, catalogue, metrics
from triathlon_runner.translation._check import LanguageCheck, check_references, report
from triathlon_runner.translation._data_sets import core_task, core_tasks, incomplete, joined, mbxp_tasks
from triathlon_runner.translation._languages import CHAIN
from triathlon_runner.translation._steps import CURVE, LanguageStep, by_language
from triathlon_runner.translation._suite import TranslationSuite
from triathlon_runner.translation._task import CoreTask, MbxpTask

__all__ = [
    "CHAIN",
    "CURVE",
    "DISCIPLINE",
    "CoreTask",
    "LanguageCheck",
    "LanguageStep",
    "MbxpTask",
    "TranslationSuite",
    "by_language",
    "catalogue",
    "check_references",
    "core_task",
    "core_tasks",
    "incomplete",
    "joined",
    "mbxp_tasks",
    "metrics",
    "report",
]
