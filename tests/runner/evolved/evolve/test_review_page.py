"""The review page in a real Chromium: a person accepts, refuses and saves; nothing of a model's runs."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from support.scripted_evolver import Said, ScriptedEvolver, fenced, same_problem
from triathlon_runner.datasets import Problem
from triathlon_runner.evolved.evolve import (
    DECISIONS,
    Evolver,
    Workspace,
    apply_decisions,
    make_jobs,
    run,
    write_review,
)
from triathlon_runner.prompts import load_prompts
from triathlon_runner.sandbox import open_sandbox

pytestmark = pytest.mark.browser

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")

SEEDS = [
    Problem(
        task_id=f"core/seeds/add-{name}",
        entry_point=f"add_{name}",
        prompt=f'def add_{name}(numbers: list[int]) -> int:\n    """Return the sum of all the numbers."""\n',
        reference=f"def add_{name}(numbers):\n    return sum(numbers)\n",
        inputs=("([1, 2],)", "([],)", "([-1],)"),
    )
    for name in ("up", "on", "in")
]
ATTACK = "</pre></script><script>document.title = 'owned'</script><img src=x onerror=document.title='owned'>"
SCRIPT: dict[str, Said | list[Said]] = {
    "transform": fenced(f'def even(numbers: list[int]) -> int:\n    """Return the even sum. {ATTACK}"""\n'),
    "solve": fenced("def even(numbers):\n    return sum(n for n in numbers if n % 2 == 0)\n"),
    "inputs": "even([1, 2])\neven([])\neven([2, 2, 4])\neven([7])",
    "examples": same_problem,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three evolved problems to review."""

    async def evolve() -> None:
        async with open_sandbox() as sandbox:
            evolver = Evolver(ScriptedEvolver(SCRIPT), load_prompts("evolved"), sandbox, Workspace(tmp_path))
            await run(evolver, make_jobs(SEEDS, ["difficult"]))

    asyncio.run(evolve())
    return Workspace(tmp_path)


def _chromium(playwright: Playwright) -> Browser:
    """The system's, else the one that Playwright installed."""
    named = os.environ.get("TRIATHLON_CHROMIUM")
    path = named or next((found for name in CHROMIUMS if (found := shutil.which(name))), None)
    if path is None and not Path(playwright.chromium.executable_path).exists():
        pytest.skip("no Chromium: install one, run `playwright install chromium` or set TRIATHLON_CHROMIUM")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


def test_a_person_decides(workspace: Workspace, tmp_path: Path) -> None:
    """One accepted with a note, one refused, one left: saved by the button, applied by `--apply`."""
    page_file = write_review(workspace, SEEDS)
    with sync_playwright() as playwright:
        browser = _chromium(playwright)
        page = browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(page_file.as_uri())
        assert page.title() == "Review of evolved problems"
        sets = page.locator("fieldset")
        assert sets.count() == 3
        sets.nth(0).get_by_label("accept").check()
        sets.nth(0).get_by_label("note").fill('clear & "short"')
        sets.nth(1).get_by_label("refuse").check()
        assert page.locator("#count").inner_text() == "2 decided."
        with page.expect_download() as download:
            page.get_by_role("button", name="Save").click()
        download.value.save_as(tmp_path / DECISIONS)
        browser.close()
    assert not faults
    decided = json.loads((tmp_path / DECISIONS).read_text())
    assert [one["verdict"] for one in decided.values()] == ["accept", "refuse"]
    applied = apply_decisions(workspace)
    assert (len(applied.accepted), len(applied.refused), len(applied.undecided)) == (1, 1, 1)
    kept = json.loads(applied.accepted[0].with_suffix(".history.json").read_text())
    assert kept["review"]["note"] == 'clear & "short"'
