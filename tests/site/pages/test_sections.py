"""Figures and sections below a ranking, and the pages of tasks and models, on results with every variant."""

import json
import re
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import build_small, entries, page_text, rendered_texts, rich_results, small_results
from triathlon_runner.models_yaml import Price, Registry, row_without_server
from triathlon_site import analysis
from triathlon_site.build import build, gather
from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.pages import Gathered
from triathlon_site.pages._sides import profile
from triathlon_site.pages.board import view_of
from triathlon_site.pages.board._evolved_analyses import region_border
from triathlon_site.pages.board.evolved import evolved_sections, share
from triathlon_site.pages.board.loop import loop_sections, translation_sections
from triathlon_site.pages.board.runtime import RUNTIME
from triathlon_site.render import Figure, Section, Value
from triathlon_site.scores import Board, total

MODELS = (
    FakeModel("strong", 2.0, 0.95),
    FakeModel("middle", 0.5, 0.8),
    FakeModel("fair", 0.0, 0.9),
    FakeModel("weak", -9.0, 0.1),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    root = tmp_path_factory.mktemp("rich")
    return gather(rich_results(root, MODELS, tasks=10), None, cache=root / "cache")


def board(site: Gathered, name: str) -> Board:
    return next(one for one in site.boards if one.plan.id == name)


def titles(sections: list[Section]) -> list[str]:
    return [section.title for section in sections]


def cells(section: Section) -> dict[str, tuple[str, ...]]:
    return {row[0].text: tuple(cell.text for cell in row[1:]) for row in section.rows}


def test_the_loop_shows_what_was_varied_and_nothing_else(site: Gathered) -> None:
    """Prompts and one attack were run; no temperature was, so that there is one kind of loops a task."""
    sections = list(loop_sections(board(site, "loop-core"), site.models))
    varied = ["Other summary prompts", "Attacks on the first prompt"]
    assert titles(sections) == ["Rank shifts", "Where tasks are lost", "Loops sustained", *varied]
    _, _, loops, prompts, attacks = sections
    assert loops.head == ("Model", "loops a task", "ASL, s = 1", "ASL over solved tasks, s = 1")
    (file,) = (file for file in site.results.files if (file.model, file.suite) == ("fair", "loop/core"))
    shares = [total(file, name) for name in ("pass_at_1", *(f"sustain_{j}" for j in range(2, 11)))]
    assert cells(loops)["fair"][0] == f"{sum(s.numerator / s.denominator for s in shares):.2f}"
    assert float(cells(loops)["fair"][2]) >= float(cells(loops)["fair"][1])
    assert prompts.head == ("Model", "as asked", "detailed", "upper case", "rank as asked", "mean rank")
    assert "4 models, on the 10 tasks" in prompts.text and "Spearman" in prompts.text
    assert cells(prompts)["strong"][4] == "1"
    assert all(re.fullmatch(r"0.0|[+−]\d+\.\d", row[0]) for row in cells(attacks).values())


def test_a_board_says_whose_prompts_it_asks_with(tmp_path: Path) -> None:
    """On official data; our own problems have no other prompts than ours."""
    suites = ["evolved/humaneval", "evolved/core-seeds", "loop/mbpp-plus"]
    write_results(tmp_path, MODELS[:1], [FakeSuite(entry, tasks=4) for entry in entries(suites)])
    pages = rendered_texts(gather(tmp_path, None))
    about = "EvoEval words its instruction for each family of models; ours is one for all."
    assert about in pages["evolved-official.html"] and about not in pages["evolved.html"]
    assert "Attacks are our wording of EVALOOOP’s listing 3.1" in pages["loop-mbpp-plus.html"]


def test_a_row_of_another_protocol_is_seen_apart(tmp_path: Path) -> None:
    """Recorded with the authors' prompts, or measured with other ones: a mark, no rank, and what it means."""
    suite = [FakeSuite(entry, tasks=6) for entry in entries(["loop/mbpp-plus"])]
    write_results(tmp_path, [*MODELS, FakeModel("fifth"), FakeModel("apart", 3.0)], suite)
    for path in (tmp_path / "runs" / "apart").rglob("mbpp-plus.*"):
        path.write_text(re.sub(r'"asked": ?"[^"]*"', '"asked":"evalooop"', path.read_text()))
    page = rendered_texts(gather(tmp_path, None))["loop-mbpp-plus.html"]
    rows = {name: re.search(rf'<tr id="{name}".*?</tr>', page, re.DOTALL) for name in ("strong", "apart")}
    apart, ranked = (match[0] for name in ("apart", "strong") if (match := rows[name]))
    assert "≠</a>" in apart and "under another protocol than those that are ranked" in apart
    assert "≠</a>" not in ranked
    assert re.search(r'<td class="rank"[^>]*>(?:<i class="said">rank </i>)?<b>1</b>', ranked)
    assert 'class="rank" data-v=""' in apart
    assert "it is in no ranking, tier or test" in " ".join(page.split())


OURS = ("loop/mbpp-plus@own-prompts", "loop/mbpp-plus@own-prompts+temperature-0.2")


def test_variants_with_our_prompts_are_shown(tmp_path: Path) -> None:
    """Of every model that was asked so, also of one that has nothing else; the difference where both are."""
    both, alone = FakeModel("both", 1.0), FakeModel("alone", 1.0)
    names = ("loop/mbpp-plus", "runtime/dreval")
    plain = [FakeSuite(entry, tasks=8) for entry in entries(names)]
    ours = [FakeSuite(entry, tasks=8) for entry in entries([*OURS, "runtime/dreval@own-prompts"])]
    write_results(tmp_path, [both], plain)
    write_results(tmp_path, [both, alone], ours)
    site = gather(tmp_path, None)
    loop = {section.title: section for section in loop_sections(board(site, "loop-mbpp-plus"), site.models)}
    section = loop["With our prompts"]
    assert section.head == (
        "Model",
        "ours, ASL",
        "ours less the authors’",
        "ours+temperature-0.2, ASL",
    )
    shown = cells(section)
    assert list(shown) == ["both", "alone"]
    assert shown["alone"][0] != "–" and shown["alone"][1] == "–" and shown["both"][1] != "–"
    runtime = {s.title: s for s in RUNTIME.sections(board(site, "runtime-dreval"), site.models)}
    settings = [(row[0].text, row[1].text) for row in runtime["All settings"].rows]
    assert settings == [
        ("both", "as on this board"),
        ("Average", "own-prompts"),
        ("both", "own-prompts"),
        ("alone", "own-prompts"),
    ]


def test_a_translation_says_where_it_breaks(site: Gathered) -> None:
    """A share of those that got so far, with its counts; a step that nobody reached says so."""
    (section,) = translation_sections(board(site, "translation-core"), site.models)
    assert section.head == ("Model", "into PHP", "into Ruby", "into JavaScript", "into Perl", "into Python")
    weak = next(row for row in section.rows if row[0].text == "weak")
    assert weak[1].small == "0 of 10" and weak[2].small == "none reached it"


def test_a_runtime_board_says_what_it_asks(site: Gathered) -> None:
    """The boards of programs of our own and of DREval ask four questions; those of CRUXEval one."""
    texts = rendered_texts(site)
    plans = [one.plan for one in site.boards if one.plan.id.startswith("runtime")]
    assert plans
    for plan in plans:
        asks_four = "Four questions about a program that really ran" in texts[plan.page]
        assert asks_four is ("cruxeval" not in plan.id), plan.id


def test_runtime_shows_thinking_and_repeats(site: Gathered) -> None:
    """Differences to direct answers; every setting in one table, below an average of its models."""
    *_, thinking, settings = RUNTIME.sections(board(site, "runtime-core"), site.models)
    assert thinking.title == "With a chain of thought" and len(thinking.rows) == 4
    assert settings.head[:4] == ("Model", "asked", "Coverage", "Coverage F1")
    by_setting: dict[str, list[tuple[Value, ...]]] = {}
    for row in settings.rows:
        by_setting.setdefault(row[1].text, []).append(row)
    assert list(by_setting) == ["as on this board", "cot", "sampled"]
    for first, *rest in by_setting.values():
        assert first[0].text == "Average" and first[2].small == f"{len(rest)} models"
        known = [row[2].number for row in rest if row[2].number is not None]
        assert first[2].number == pytest.approx(fmean(known))
    repeated = by_setting["sampled"][1:]
    assert all(row[-1].text == "3" and row[2].small.startswith("± ") for row in repeated)


def test_the_evolved_sections_are_the_runners_numbers(site: Gathered) -> None:
    """Drops, compositions and pairs as the runner's analyses have them."""
    own = board(site, "evolved-core")
    sections = {section.title: section for section in evolved_sections(own, site.models)}
    assert list(sections) == [
        "Drops",
        "Seeds against the evolved sets",
        "Seed against change, problem by problem",
        "What other words and helpers change",
        "Composition",
        "Composition, combine naive",
        "Decomposition",
        "What helper functions change",
    ]
    units = {m: {file.suite: file.tasks for file in own.files[m]} for m in own.models}
    found = analysis.measured(own.plan.suites, units, dict.fromkeys(own.models, "instruct"))
    drops = cells(sections["Drops"])
    assert drops["strong"][0] == f"{-_change(found, 'strong', 'difficult'):.1f}".replace("-", "−")
    assert found.drops
    for place, by_model in ((-2, found.drops.of_five_sets), (-1, found.drops.per_model)):
        mean = fmean(by_model.values())
        assert drops["Mean of the models"][place] == f"{mean:.1f}".replace("-", "−"), "of the rows below"
    assert fmean(found.drops.of_five_sets.values()) == pytest.approx(found.drops.overall)
    low, high = (f(found.drops.per_model.values()) for f in (min, max))
    assert drops["Lowest to highest"][-1] == f"{low:.1f} to {high:.1f}".replace("-", "−")
    counts = found.compositions["combine"]["strong"]
    parts = (counts.both, counts.one, counts.none, counts.solved_both, counts.solved_one, counts.solved_none)
    assert cells(sections["Composition"])["strong"][:6] == tuple(map(str, parts))
    halves = found.decompositions["decompose"]["strong"]
    assert cells(sections["Decomposition"])["strong"][0] == str(halves.passed)
    helped = found.by_kind["tool_use"]["instruct"]
    words = cells(sections["What other words and helpers change"])
    assert words["tool use, instruct models"][1] == str(helped.models)
    pair = found.paired("strong", "seeds", "difficult")
    assert pair
    head = sections["Seed against change, problem by problem"].head
    shown = cells(sections["Seed against change, problem by problem"])["strong"][head.index("difficult") - 1]
    assert shown == f"{pair.first_only} : {pair.second_only}"


def _change(found: analysis.Measured, model: str, name: str) -> float:
    row = found.board[model]
    return 100 * (row[name] - row["seeds"]) / row["seeds"]


def test_a_share_carries_its_counts_and_interval() -> None:
    """5 of 5 is not 100 to 100; nothing to count is said."""
    assert share(5, 5).text == "100.0"
    assert re.fullmatch(r"5 of 5, (5\d)–100", share(5, 5).small)
    assert share(0, 0).small == "none to count"


def test_a_set_that_a_model_fails_is_a_weak_side(tmp_path: Path) -> None:
    """The best of six fails all of one set: it is named there, with its two ranks; the others are not."""
    fakes = [FakeModel(f"m{place}", -0.5 - 0.01 * place, 0.9) for place in range(5)]
    results = small_results(tmp_path / "results", [FakeModel("best", 4.0, 0.9), *fakes], tasks=30)
    subtle = [FakeSuite(entry, tasks=30) for entry in entries(["evolved/core-subtle"])]
    write_results(results, [FakeModel("best", -9.0)], subtle)
    site = gather(results, None)
    evolved = [board for board in site.boards if board.plan.id == "evolved-core"]
    (found,) = profile("best", evolved, {}, site.models).worse
    assert (found.column, found.rank.rank, found.against) == ("evolved subtle", 6, 1)
    for fake in fakes:
        assert not profile(fake.id, evolved, {}, site.models).better


def test_unknown_cost_is_no_small_cost(tmp_path: Path) -> None:
    """Where a server counted no tokens in one suite, its cost is unknown, and with it the whole model's."""
    results = rich_results(tmp_path / "results", (FakeModel("counted"), FakeModel("other")), tasks=4)
    path = results / "runs/other/loop/core.jsonl"
    path.write_text(path.read_text().replace('"requests":', '"uncounted":4,"requests":', 1))
    rows = (row_without_server(name, "instruct") for name in ("counted", "other"))
    price = Price(input=1, output=2)
    registry = Registry(models=tuple(row.model_copy(update={"price": price}) for row in rows))
    build(results, tmp_path / "_site", registry, cache=tmp_path / "c")
    front = (tmp_path / "_site/index.html").read_text()
    costs = dict(
        re.findall(
            r'models/(counted|other)\.html".*?<td class="number" data-v="[^"]*">([$–][^<]*)<', front, re.S
        )
    )
    assert costs["counted"].startswith("$") and costs["other"] == "–"
    assert ">unknown<" in (tmp_path / "_site/models/other.html").read_text()
    assert ">unknown<" not in (tmp_path / "_site/models/counted.html").read_text()


def test_two_models_that_solve_nothing_read_well(tmp_path: Path) -> None:
    """Words instead of a leader at 0, no figure of nothing, nothing said about agreement."""
    weak = (FakeModel("one", -99.0, 0.0), FakeModel("two", -99.0, 0.0))
    build(rich_results(tmp_path / "results", weak, tasks=4), tmp_path / "_site", None, cache=tmp_path / "c")
    front = (tmp_path / "_site/index.html").read_text()
    assert "Nobody gets beyond" in front and "leads with" not in front
    agreement = " ".join((tmp_path / "_site/agreement.html").read_text().split())
    assert "nothing is said here until a third is measured" in agreement and "<table" not in agreement
    assert (
        "<svg"
        not in (tmp_path / "_site/evolved.html").read_text().partition("<tbody>")[2].partition("</table>")[2]
    )


def test_every_section_can_be_downloaded(site: Gathered) -> None:
    """Its CSV has a line a row, and what stood in small print; the page links it."""
    pages = rendered_texts(site)
    name = "data/loop-core-attacks-on-the-first-prompt.csv"
    head, *rows = pages[name].splitlines()
    assert head == 'Model,upper case,"upper case, low","upper case, high",tasks'
    assert [row.partition(",")[0] for row in rows] == list(board(site, "loop-core").models)
    for row in rows:
        change, low, high = map(float, row.split(",")[1:4])
        assert low <= change <= high
    assert "−" not in pages[name] and "'" not in pages[name]
    assert f'href="{name}"' in pages["loop.html"]


def test_who_solves_what_names_every_model_once_a_task(site: Gathered) -> None:
    """Each task lists all models, by how they ended, each with its evidence."""
    pages = rendered_texts(site)
    details = pages["tasks/loop-core/1.html"]
    articles = details.split('<section class="unit"')[1:]
    assert len(articles) == len(entries(["loop/core"])) * 10
    for article in articles:
        names = re.findall(r"evidence/[^\"]+#[^\"]+\">(\w+)</a>", article)
        assert sorted(names) == ["fair", "middle", "strong", "weak"]


OLD = {f"m{n}": 10.0 + 7 * n for n in range(12)}
NEW = {model: old - 5 + (3 if n % 2 else -3) - 30 * (n == 9) for n, (model, old) in enumerate(OLD.items())}


def test_the_border_parts_the_models_as_the_analysis_does() -> None:
    """Who lies below it is who is better on the old benchmark, and nobody else."""
    placed = analysis.regions(OLD, NEW)
    border = region_border(placed)
    assert border is not None
    below = {m for m, one in placed.items() if one.new < border.intercept + border.slope * one.old}
    assert below == {m for m, one in placed.items() if one.region == border.below} == {"m9"}


def test_models_that_do_not_spread_have_no_border() -> None:
    """All on one line, none at all, or all equal on the old benchmark."""
    assert region_border({}) is None
    assert region_border(analysis.regions(OLD, OLD)) is None
    assert region_border(analysis.regions(dict.fromkeys(OLD, 50.0), NEW)) is None


def test_an_old_result_is_marked(tmp_path: Path) -> None:
    """The front page says when everything was measured, and which result is old."""
    results = small_results(tmp_path / "results")
    for path in (results / "runs/weak").rglob("*.manifest.json"):
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps({**manifest, "ended": "2025-01-02T03:04:05Z"}))
    build_small(tmp_path)
    page = page_text(tmp_path / "_site/index.html")
    assert "Measured from 2025-01-02 to 2026-01-02." in page
    assert page.count('<span class="flag">old</span>') == 1
    assert "1 result is more than half a year older" in page


MOST_BARS, MOST_MUTED = 12, 200


@pytest.mark.parametrize(("models", "titles"), [(MOST_BARS, 1), (MOST_BARS + 1, 2)])
def test_the_questions_are_bars_with_the_line_of_ic(tmp_path: Path, models: int, titles: int) -> None:
    """However many models there are: the best ones as bars; where there are more, all as dots below."""
    fakes = [FakeModel(f"m{n:02}", 2.0 - n / 4) for n in range(models)]
    write_results(tmp_path, fakes, [FakeSuite(entry, tasks=6) for entry in entries(["runtime/core"])])
    site = gather(tmp_path, None)
    (runtime,) = site.boards
    first, *others = view_of(runtime).figures(runtime, runtime.models, site.models)
    assert first.svg.count('class="bar c') == 5 * (MOST_BARS + 1)  # with the average; and the legend
    assert first.svg.count("<circle") == MOST_BARS
    assert len(others) == titles - 1
    for figure in others:
        assert all(site.models[model].name in figure.svg for model in runtime.models)


def loop_board(root: Path, models: int) -> tuple[Gathered, Board]:
    """A board with so many models."""
    fakes = [FakeModel(f"m{place:03d}", place / 50 - 1, 0.8) for place in range(models)]
    write_results(root, fakes, [FakeSuite(entries(["loop/core"])[0], tasks=4)])
    site = gather(root, None)
    return site, site.boards[0]


def names_of(figure: Figure) -> tuple[set[str], set[str]]:
    """The models that are named at the ends of their lines, and those whose lines are grey."""
    svg = ElementTree.fromstring(figure.svg)
    named = {text.text or "" for group in svg.iter("g") for text in group.findall("text")}
    grey = {path.findtext("title") or "" for path in svg.iter("path") if path.get("class") == "line muted"}
    return named, grey


def test_curves_name_the_shown_and_both_ends_of_the_order(tmp_path: Path) -> None:
    """Of 80 models: the shown ones, the best and the last two in colour; every other one is a grey line, and
    so is one whose low score is of replies that did not run.
    """
    site, loop = loop_board(tmp_path, 80)
    order = list(loop.models)
    figure = next(view_of(loop).figures(loop, order[30:35], site.models))
    ran = [model for model in order if mostly_ran(share_that_ran(loop.files[model]))]
    named, grey = names_of(figure)
    assert 10 < len(ran) < 70 and ran[-2:] != order[-2:]
    assert named == {ran[0], *order[30:35], *ran[-2:]}
    assert grey == set(order) - named
    assert figure.caption.endswith("Grey: the others.")


@pytest.mark.slow
def test_a_background_of_very_many_models_is_thinned_and_says_so(tmp_path: Path) -> None:
    """At most 200 of the others are drawn; the caption says one in how many."""
    site, loop = loop_board(tmp_path, MOST_MUTED + 5)
    figure = next(view_of(loop).figures(loop, loop.models[:1], site.models))
    named, grey = names_of(figure)
    assert len(named) == 3 and 0 < len(grey) <= MOST_MUTED
    assert figure.caption.endswith("Grey: one in 2 of the others.")
