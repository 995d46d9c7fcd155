"""Prompt sets: data files with a name and a hash."""

from pathlib import Path

import pytest

from support.case_files import rows
from support.small_run import ROWS, SmallRun
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import UserError
from triathlon_runner.prompts import PromptSet, load_prompts


def digest(prompts: PromptSet) -> str:
    """Hash of the whole set."""
    return prompts.digest(*prompts.templates)


def test_the_hash_depends_on_content_alone() -> None:
    """Equal templates give equal hashes wherever they come from; of what is not named nothing counts."""
    one = PromptSet("a", {"x": "1", "y": "2"})
    assert digest(one) == digest(PromptSet("b", {"y": "2", "x": "1"}))
    for templates in ({"x": "1", "y": "3"}, {"x": "12", "y": ""}):
        assert digest(one) != digest(PromptSet("a", templates))
    assert one.digest("x") == PromptSet("a", {"x": "1", "y": "3"}).digest("x")


def template(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("broken_prompts.csv")), ids=str)
def test_a_broken_set_is_refused_as_a_whole(row: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=row["complaint"]):
        catalogue.check_prompts(template(tmp_path / "mine", row["name"], row["text"]))


@pytest.mark.parametrize(
    "text", ["{{ task + 1 }}", "{{ task[1 // 0] }}", "{{ range(10 ** 9) }}{{ task }}", "{{ task.tsak }}"]
)
def test_a_template_that_fails_with_its_values(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        UserError, match=r"prompt 'generate' of the set 'mine': .*[^.]\. It may use task; fix"
    ):
        load_prompts("loop", template(tmp_path / "mine", "loop/generate", text)).render("generate", task="x")


@pytest.mark.parametrize(
    ("text", "suite", "said"),
    [
        ("Do {{ tsak }}.", "loop/core", "asks for 'tsak'; it may use task"),
        ("Do {{ task }}.", "runtime/core", "expected --prompts with templates of runtime, which the suites"),
    ],
)
def test_a_set_that_cannot_be_asked_costs_nothing(tmp_path: Path, text: str, suite: str, said: str) -> None:
    """The command refuses it before anything is asked of a server, which here is away."""
    (tmp_path / "models.yaml").write_text(ROWS.format(url="http://127.0.0.1:9/v1"))
    template(tmp_path / "mine", "loop/generate", text)
    SmallRun(tmp_path).expect(f"run --suites {suite} --prompts mine", 2, said)


def test_a_set_of_nothing_or_of_no_text_is_refused(tmp_path: Path) -> None:
    """A folder that is not there, or has no templates, would run ours under the user's name."""
    with pytest.raises(UserError, match="nowhere"):
        load_prompts("loop", tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"holds none\. Disciplines: loop"):
        catalogue.check_prompts(tmp_path)
    folder = template(tmp_path / "mine", "loop/generate", "")
    (folder / "loop" / "generate.txt").write_bytes(b"\xff\xfe{{ task }}")
    with pytest.raises(UserError, match=r"generate\.txt' is no template"):
        catalogue.check_prompts(folder)


def test_our_own_templates_make_a_good_set(tmp_path: Path) -> None:
    """A user may begin with a copy of ours: it is accepted, and it is the same protocol."""
    for discipline in (one.name for one in catalogue.DISCIPLINES):
        ours = load_prompts(discipline)
        for name, text in ours.templates.items():
            path = tmp_path / discipline / f"{name}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert digest(load_prompts(discipline, tmp_path)) == digest(ours)
    catalogue.check_prompts(tmp_path)


@pytest.mark.parametrize(
    ("suite_id", "name", "text"),
    [
        ("loop/core", "loop/generate", "{{ task }} Now."),
        ("translation/core", "translation/translate", "{{ code }} into {{ target }}: {{ opening }}"),
        ("evolved/core-seeds", "evolved/solve", "{{ prompt }} Now."),
        ("runtime/core", "runtime/state-system", "You know Python."),
    ],
)
def test_every_discipline_takes_another_set(suite_id: str, name: str, text: str, tmp_path: Path) -> None:
    """A user's template reaches the suites of its discipline through the catalogue, and no other's."""
    store = DataStore(cache=Path("nowhere"), fetch=False)
    ours, theirs = (
        {
            suite: catalogue.select([suite], prompts=folder)[0].build(store).protocol["asked"]["prompts"]
            for suite in ("loop/core", "translation/core", "evolved/core-seeds", "runtime/core")
        }
        for folder in (None, template(tmp_path / "mine", name, text))
    )
    assert [suite for suite in ours if ours[suite] != theirs[suite]] == [suite_id]
