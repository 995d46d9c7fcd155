"""A scripted model for `python -m support.model_server`: it solves our own seeds every other time.

As a chat model it fences the whole function, as a base model it goes on with the prompt.
"""

from support.server_replies import Asked
from triathlon_runner.datasets import Problem, core


def every_other_time(asked: Asked) -> str:
    """The first, third, fifth… answer to one question is right; so is every answer to an easy one."""
    problem = next(seed for seed in core.problems("seeds") if f"def {seed.entry_point}(" in asked.prompt)
    right = problem.level == 1 or asked.attempt % 2 == 0
    if asked.endpoint == "completions":
        return _body(problem) if right else "    return 'wrong'\n\n\nleft_over = 1\n"
    program = problem.reference if right else f"def {problem.entry_point}(*arguments):\n    return 'wrong'\n"
    return f"Here it is:\n```python\n{program}```"


def _body(problem: Problem) -> str:
    """Calls the reference with the function's own arguments."""
    return (
        "    arguments = tuple(locals().values())\n    names = {}\n"
        f"    exec({problem.reference!r}, names)\n"
        f"    return names[{problem.entry_point!r}](*arguments)\n"
    )
