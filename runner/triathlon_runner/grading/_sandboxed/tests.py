"""Appended to unittest classes: runs one test method and returns how it ended."""

from typing import Any


def _triathlon_test(class_name: str, method: str) -> list[str]:
    """`passed`, `failed` (an assertion did not hold) or `crashed`, and the last words."""
    import unittest  # noqa: PLC0415 (the names of this module are the tests')

    names: dict[str, Any] = globals()
    result = unittest.TestResult()
    unittest.TestSuite([names[class_name](method)]).run(result)
    for outcome, faults in (("crashed", result.errors), ("failed", result.failures)):
        for _, text in faults:
            return [outcome, text.strip().splitlines()[-1][:500]]
    return ["passed", ""]
