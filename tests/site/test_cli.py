"""The site's commands."""

import json
import os
import re
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import triathlon_site.reproduce_command  # noqa: F401  adds `build`, `scores` and others to the command
from support.case_files import rows
from support.results import FakeModel, FakeSuite, write_results
from support.site import change, imported_results, results_on, small_results
from triathlon_runner.catalogue import read_catalogue
from triathlon_runner.cli import add_commands, app
from triathlon_runner.errors import UserError
from triathlon_site.build import build
from triathlon_site.serve import make_server

HERE = Path(__file__).parent
add_commands()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in the test's folder, which has a cache of its own, too."""
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def call(*words: str, width: int = 200) -> Result:
    return CliRunner().invoke(app, [*words], env={"COLUMNS": str(width)})


def scores(*options: str) -> Any:
    shown = call("scores", "--json", *options)
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.stdout)["scores"]


def test_scores_as_json_are_those_of_the_site(tmp_path: Path) -> None:
    """`scores --json` and the site's data files hold the same numbers."""
    small_results(tmp_path / "results")
    found = [row for row in scores() if row["board"] == "loop-core"]
    build(tmp_path / "results", tmp_path / "_site", None, cache=tmp_path / "cache" / "site")
    assert found == json.loads((tmp_path / "_site/data/loop-core.json").read_text())["rows"]


def test_scores_of_some_models_and_suites(tmp_path: Path) -> None:
    """The ranks stay as they are; unknown names are refused, an emptied file is named before."""
    models = [FakeModel("a", -2.0), FakeModel("b", 2.0)]
    results_on(tmp_path / "results", models, "evolved/core-seeds", "evolved/core-subtle", tasks=6)
    results_on(tmp_path / "results", [FakeModel("emptied")], "evolved/core-seeds", tasks=6)
    (tmp_path / "results/runs/emptied/evolved/core-seeds.jsonl").write_text("")
    row = "{id: listed, name: L, api: {base_url: http://localhost/v1, model: l}}"
    (tmp_path / "models.yaml").write_text(f"models: [{row}]")
    every, of_a = scores(), scores("--models", "a")
    assert of_a == [row for row in every if row["model"] == "a"] != every
    on_seeds = scores("--suites", "evolved/core-seeds")
    assert on_seeds == [row for row in every if row["suites"] == ["evolved/core-seeds"]] != []
    assert scores("--suites", "evolved/core-seeds,evolved/core-subtle", "--models", "a,b") == every
    table = call("scores", "--models", "a").output
    assert "a " in table and "b " not in {line[:2] for line in table.splitlines()}
    for option, name, said in map(dict.values, rows(HERE / "refused_names.csv")):
        shown = call("scores", option, name)
        assert said in str(shown.exception)
        assert "its manifest counts 6 units, lines in the file: 0; some were lost" in shown.stderr
        assert said in str(call("export", "evalplus", "--out", "exported", option, name).exception)


def test_scores_as_json_have_the_noise_budget(tmp_path: Path) -> None:
    """Of each suite with repeats, also of one on the user's own problems."""
    (tmp_path / "mine.jsonl").touch()
    (tmp_path / "suites.yaml").write_text("- {id: mine, title: My functions, problems: mine.jsonl}")
    known = read_catalogue(tmp_path / "suites.yaml").select(["evolved/core-seeds", "evolved/mine"])
    suites = [FakeSuite(entry, tasks=30, samples=3) for entry in known]
    write_results(tmp_path / "results", [FakeModel("a", 0.5)], suites)
    row, of_user = json.loads(call("scores", "--json").stdout)["noise"]
    assert (of_user["model"], of_user["suite"], of_user["samples"]) == ("a", "evolved/mine", 3)
    assert (row["suite"], row["tasks"], row["samples"]) == ("evolved/core-seeds", 30, 3)
    assert row["half_width"] < row["half_width_one_sample"]
    assert row["sentence"].startswith(f"3 repeats narrow ±{100 * row['half_width_one_sample']:.1f} to")


def test_imported_results_alone(tmp_path: Path) -> None:
    """`scores` shows them without ranks and as parts of their suites; `build`, strict too, says where."""
    imported_results(tmp_path / "results")
    manifest = tmp_path / "results/imported/runs/foreign/evolved/core-seeds.manifest.json"
    change(manifest, tasks_in_suite=30)
    shown = call("scores", width=80)
    assert shown.exit_code == 0 and "imported: evolved" in shown.output
    assert "12 of 30" in shown.output and "rank" not in shown.output.partition("Left out")[0]
    row = json.loads(call("scores", "--json", "--models", "foreign").stdout)["imported"][0]
    assert (row["model"], row["tasks"], row["tasks_in_suite"], row["rank"]) == ("foreign", 12, 30, None)
    built = call("build", "--strict")
    assert built.exit_code == 0 and "all 24 units are imported: they stand on" in built.output
    assert "All results were <a" in (tmp_path / "_site/index.html").read_text()
    # Those of one log beside those of another stand by name: the order of the scores would be a ranking.
    for path in (tmp_path / "results/imported/runs/foreign").rglob("*.json*"):
        path.write_text(re.sub('"asked": ?"[^"]+"', '"asked":"another log"', path.read_text()))
    found = json.loads(call("scores", "--json").stdout)["imported"]
    assert [row["model"] for row in found if row["title"] == "seeds"] == ["foreign", "weak"]


def test_results_of_variants_alone(tmp_path: Path) -> None:
    """What lies there and what is missing is said. A models file is not needed, but a named one is."""
    results_on(tmp_path / "results", [FakeModel("a")], "loop/core@prompt-upper", tasks=4)
    assert "those of variants alone (loop/core@prompt-upper)" in str(call("scores").exception)
    assert call("build").exit_code == 0
    page = (tmp_path / "_site/index.html").read_text()
    assert '<a href="models/a.html">a</a>:\nloop/core@prompt-upper' in page
    assert "Only variants" in page and "Nothing lies" not in page
    assert "no models file" in str(call("build", "--models-file", "nowhere.yaml").exception)


def test_scores_name_damaged_lines(tmp_path: Path) -> None:
    """A line that does not count is named with file and line, on stderr and in the JSON."""
    small_results(tmp_path / "results")
    path = next((tmp_path / "results/runs").rglob("evolved/core-seeds.jsonl"))
    first, *rest = path.read_text().splitlines()
    changed = json.loads(first)
    changed["outcome"] = "failed" if changed["outcome"] == "passed" else "passed"
    path.write_text("\n".join([json.dumps(changed), "nonsense", *rest, ""]))
    file = path.relative_to(tmp_path / "results").as_posix()
    for options in ([], ["--json"]):
        result = call("scores", *options)
        assert result.exit_code == 0, result.output
        assert f"warning: results/{file}, line 1: outcome: " in result.stderr
        nonsense = f"warning: results/{file}, line 2: expected a JSON object, got 'nonsense'; delete"
        assert nonsense in result.stderr
    found = json.loads(result.stdout)["notices"]
    assert [(one["file"], one["line"]) for one in found] == [(file, 1), (file, 2)]


def test_scores_with_open_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They leave a column without a rank; a narrow window shows them, and names what it leaves out."""
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("NO_COLOR", "1")
    models = [FakeModel(name, place) for place, name in enumerate("abcde")]
    results_on(tmp_path / "results", models, "evolved/core-seeds", tasks=6)
    results_on(tmp_path / "results", models, "evolved/core-subtle", tasks=6, open_units=7)
    wide = call("scores").output
    assert "None" not in wide and "tasks" in wide and "Left out" not in wide
    assert "A score with open units leaves them out, and has no rank until they are there" in wide
    opened = {(row["model"], *row["suites"]): (row["open_units"], row["rank"]) for row in scores()}
    assert opened["a", "evolved/core-seeds"] == (0, 5) and opened["b", "evolved/core-seeds"] == (0, 4)
    assert opened["a", "evolved/core-subtle"] == opened["b", "evolved/core-subtle"] == (7, None)
    narrow = call("scores", "--suites", "evolved/core-subtle", width=80).output
    heading = next(line for line in narrow.splitlines() if line.startswith("model "))
    assert heading.split()[-2:] == ["rank", "open"]
    assert all(line.endswith(" 7") for line in narrow.splitlines() if line.startswith("a "))
    assert "Left out at 80 columns: tasks," in narrow and "--json" in narrow
    assert max(map(len, narrow.splitlines())) <= 80
    finished = call("scores", "--suites", "evolved/core-seeds", width=80).output
    assert next(line for line in finished.splitlines() if line.startswith("model ")).endswith("rank")


@pytest.mark.parametrize(
    ("suite", "content", "hinted"), [("evolved/future", "{}\n", False), ("evolved/core-seeds", "", True)]
)
def test_a_hint_about_commands_needs_one(tmp_path: Path, suite: str, content: str, hinted: bool) -> None:
    """An unknown suite's warning names none; that of an emptied file names `triathlon run`."""
    small_results(tmp_path / "torn", tasks=3)
    (tmp_path / f"torn/runs/weak/{suite}.jsonl").write_text(content)
    result = call("build", "--results", "torn", "--no-cache")
    assert result.exit_code == 0 and "warning: " in result.output
    assert ("commands named above need --results torn, too" in result.output) is hinted


def test_no_cache_reads_what_looks_unchanged(tmp_path: Path) -> None:
    """A file that was changed without its size and time changing is found by `--no-cache` alone."""
    path = small_results(tmp_path / "results", tasks=3) / "runs/weak/loop/core.jsonl"
    call("build")
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"suite"', b'"suits"', 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "line 1" not in call("build").output
    assert "warning: results/runs/weak/loop/core.jsonl, line 1" in call("build", "--no-cache").output


def test_the_site_is_served_on_loopback(tmp_path: Path) -> None:
    """Asked for anew each time; another site's name is refused, and so are no site and a taken port."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, text in (("../secret", "secret"), ("index.html", "here"), ("404.html", "no such page")):
        (folder / name).write_text(text)
    with pytest.raises(UserError, match="run `triathlon build`"):
        make_server(tmp_path, 0)
    with make_server(folder, 0) as server:
        port = server.server_address[1]
        with pytest.raises(UserError, match=f"cannot listen on port {port}"):
            make_server(folder, port)
        Thread(target=server.serve_forever, daemon=True).start()
        for path, host, status, body in map(dict.values, rows(HERE / "served.csv")):
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", f"/{path}", headers={"Host": host})
            answer = connection.getresponse()
            assert answer.status == int(status) and answer.headers["Cache-Control"] == "no-cache", path
            assert body in answer.read().decode()
            connection.close()
        server.shutdown()


@pytest.mark.parametrize(
    ("words", "added"), [("build --help", False), ("models --help", True), ("--help", True)]
)
def test_a_command_of_the_site_does_not_wait_for_the_runners(words: str, added: bool) -> None:
    """What they need takes as long to import as a small build; help and other words know all of them."""
    program = (
        "import sys\nfrom triathlon_site.__main__ import main\n"
        "try:\n    main()\nfinally:\n    assert 'pandas' not in sys.modules\n"
        "    print('triathlon_runner.cli._run' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"{added}\n")


@pytest.mark.slow
def test_a_score_that_is_known_as_a_range_shows_both_ends() -> None:
    """The committed recordings have loops without a judge: the lower end alone would read as the score."""
    results = str(Path(__file__).parents[2] / "results")
    words = ["scores", "--results", results, "--suites", "loop/mbpp-plus", "--models", "claude-opus-4"]
    shown = call(*words, width=120)
    assert "ASL 7.782–7.787 7.333–8.191 1 (1–9)" in " ".join(shown.output.split()), shown.output


def test_a_fault_of_every_line_is_said_once(tmp_path: Path) -> None:
    """A folder that was renamed: a fault of each of its lines, with what to do."""
    small_results(tmp_path / "results", tasks=3)
    (tmp_path / "results/runs/weak").rename(tmp_path / "results/runs/new-name")
    warnings = call("build").output.replace("\n", "").partition("evolved/core-seeds.jsonl, line 1: ")
    assert "a line of model 'weak' in the folder of 'new-name'" in warnings[2]
    assert "`name` of a model's row is what pages show; likewise 2 further lines" in warnings[2]
    assert warnings[2].count("evolved/core-seeds.jsonl") == 1  # that of its manifest
