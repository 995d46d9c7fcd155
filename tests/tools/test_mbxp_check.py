"""What docs/data.md says of MBXP's references."""

import re
from pathlib import Path

import pytest

import mbxp_check
from support.official_data import official_store
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation import mbxp_tasks

DATA_PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_report_names_chains_without_a_beginning() -> None:
    """One line a language, and the tasks whose Python program is wrong from the start."""
    assert list(mbxp_check.report(4, {Language.PYTHON: (3, [56]), Language.PERL: (0, [])})) == [
        "4 tasks have all 5 languages",
        "language      references  passing",
        "Python                 3        2",
        "  without a correct Python program: 56",
        "Perl                   0        0",
    ]


@pytest.mark.official
@pytest.mark.slow
async def test_the_page_states_what_the_check_finds() -> None:
    """Tasks, usable tasks, and references that pass in each language, as executed here."""
    tasks = mbxp_tasks(official_store(), left_out=())
    usable = {task.number for task in mbxp_tasks(official_store())}
    async with open_sandbox() as sandbox:
        checks = [await mbxp_check.check(tasks, sandbox, language) for language in Language]
    assert set(checks[0][1]) == {task.number for task in tasks} - usable and len(usable) == 957
    assert checks[-1] == (0, [])  # Perl has none to execute
    stated = [f"{len(usable)} MBXP tasks", f"of {len(tasks)} that all five languages have"]
    for title, (count, failing) in zip(("PHP", "Ruby", "JavaScript"), checks[1:], strict=False):
        stated.append(f"{count - len(failing)} of {count}( tasks)? in {title}")
    text = " ".join(DATA_PAGE.split())
    assert not [one for one in stated if not re.search(one, text)]
