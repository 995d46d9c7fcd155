"""A scripted model for `python -m support.model_server`: it solves our own seeds every other time.

As a chat model it fences the whole function, as a base model it goes on with the prompt.
"""

import ast

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
    """What stands below the signature in the reference, docstring left out, with its helpers inside."""
    module = ast.parse(problem.reference)
    own = next(
        node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point
    )
    body = own.body[1:] if ast.get_docstring(own) is not None else own.body
    helpers = [node for node in module.body if node is not own]
    function = ast.FunctionDef("f", own.args, [*helpers, *body], [], lineno=1)
    lines = ast.unparse(ast.fix_missing_locations(function)).split("\n")
    return "\n".join(lines[1:]) + "\n"
