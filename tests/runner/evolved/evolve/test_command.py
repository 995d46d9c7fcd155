"""`triathlon evolve` from the command line: costs, resuming, what cannot be asked."""

import re
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import SmallRun

pytestmark = pytest.mark.slow

UNREACHABLE = "http://127.0.0.1:9/v1"


def evolve(root: Path, options: str, code: int = 0) -> str:
    """What the command says, in one line."""
    ended, said = SmallRun(root).says(*f"evolve --model evolver --out work {options}".split())
    assert ended == code, said
    return " ".join(said.split())


def write_models(root: Path, url: str, model: str = "evolver") -> None:
    """Writes the evolving model's row."""
    api = f"{{base_url: {url}, model: {model}}}"
    row = f"{{id: evolver, name: Evolver, api: {api}, price: {{input: 10, output: 30}}}}"
    (root / "models.yaml").write_text(f"models: [{row}]")


def test_costs_are_shown(tmp_path: Path) -> None:
    """Before and during; what was evolved, or paid for, before is not done again."""
    with model_server_process("support.evolver_replies:answer", "--model", "evolver") as base_url:
        write_models(tmp_path, base_url)
        some = "--transformations verbose,concise --limit 1"
        said = evolve(tmp_path, f"{some} --dry-run")
        assert re.search(r"2 problems to evolve, about 4 requests, \d+ tokens, about 0\.\d\d USD", said)
        assert not (tmp_path / "work").exists()
        said = evolve(tmp_path, some)
        assert "2/2 evolved, 0 dropped, 0 open" in said and "0.00 USD" in said
        assert "2 of 2 jobs gave a problem" in said
        elsewhere = evolve(tmp_path, f"{some} --out elsewhere")
        assert "2/2 evolved, 0 dropped, 0 open, 0 tokens, 0.00 USD" in elsewhere  # paid for before
        again = evolve(tmp_path, some)
        assert "0 problems to evolve (2 done before), about 0 requests, 0 tokens, about 0.00 USD" in again
        assert "0/2 evolved" not in again


def test_what_is_looked_at_before_a_model_is_paid(tmp_path: Path) -> None:
    """A folder that can't be written, and a set that can't be read."""
    write_models(tmp_path, UNREACHABLE)
    (tmp_path / "work").write_text("a file")
    expected = "--out expects a folder that can be written, got 'work'"
    assert expected in evolve(tmp_path, "--limit 1", code=2)
    (tmp_path / "subtle.jsonl").write_text("{bad")
    assert "subtle.jsonl, line 1: expected JSON" in evolve(tmp_path, "--limit 1 --out .", code=2)


def test_a_budget_is_kept(tmp_path: Path) -> None:
    """Nothing is sent once it is spent: jobs stay open, and the next call goes on. It needs a price."""
    with model_server_process("support.evolver_replies:answer", "--model", "evolver") as base_url:
        write_models(tmp_path, base_url)
        jobs = "--transformations verbose --limit 12"
        assert "stopped: the budget of 0 USD" in evolve(tmp_path, f"{jobs} --budget 0", code=1)
        said = evolve(tmp_path, f"{jobs} --budget 0.003", code=1)
        assert "stopped: the budget of 0.003 USD is used up" in said
        spent = re.search(r"(0\.\d+) USD spent in this run", said)
        assert spent is not None and 0.003 <= float(spent[1]) < 0.006
        assert re.search(r"open, \d+ jobs: the run was stopped", said)
        assert "12/12 evolved, 0 dropped, 0 open" in evolve(tmp_path, f"{jobs} --budget 100")
    models = tmp_path / "models.yaml"
    models.write_text(models.read_text().replace(", price: {input: 10, output: 30}", ""))
    assert "--budget needs the price of 'evolver'" in evolve(tmp_path, f"{jobs} --budget 1", code=2)


@pytest.mark.parametrize("model", ["locked", "away"])
def test_a_model_that_cannot_be_asked_is_said_once(tmp_path: Path, model: str) -> None:
    """Exit code 2, with what to do in one line, however many jobs stay open."""
    with model_server_process("support.server_scripts:bad_replies") as url:
        write_models(tmp_path, UNREACHABLE if model == "away" else url, model)
        said = evolve(tmp_path, "--transformations verbose --limit 3", code=2)
    why = "no answer from the server" if model == "away" else "open, 3 jobs: a request without a key"
    assert why in said and said.count("Unauthorized") == (model == "locked")
