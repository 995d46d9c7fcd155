"""What the model of the loop's benchmark says: functions of the prompt and the number of the request."""

import re


def new_programs(prompt: str, number: int) -> str:
    """A right program, or a sentence, that no two requests share."""
    if _asks_for_a_sentence(prompt):
        return f"Write a Python function to add two numbers ({number})."
    return f"```python\ndef add(a, b):\n    return a + b  # {number}\n```"


def same_program(prompt: str, number: int) -> str:
    """One right program a task, or a sentence that no two requests share."""
    named = re.search(r"task (\d+)", prompt.lower())
    task = named[1] if named else "unknown"
    if _asks_for_a_sentence(prompt):
        return f"For task {task} write a Python function to add two numbers ({number})."
    return f"```python\ndef add(a, b):\n    return a + b  # task {task}\n```"


def _asks_for_a_sentence(prompt: str) -> bool:
    """Of our built-in prompts."""
    return "Say in one sentence" in prompt
