"""Tables and figures below a ranking, and the pages of tasks and models; numbers over made-up results."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import (
    board_of,
    build_small,
    change,
    json_lines,
    registry_of,
    rendered_texts,
    results_on,
    rich_results,
    sections_of,
    small_results,
    write_lines,
)
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.models_yaml import Price
from triathlon_site import analysis
from triathlon_site.build import gather
from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.pages import Gathered
from triathlon_site.pages.board import view_of
from triathlon_site.pages.board.evolved import share
from triathlon_site.pages.model import drops_of
from triathlon_site.render import Figure, Section, Value
from triathlon_site.scores import Board

MOST_BARS, MOST_MUTED = 12, 200


def rows(section: Section) -> dict[str, tuple[Value, ...]]:
    """The cells behind the first of each row, by its text."""
    return {row[0].text: tuple(row[1:]) for row in section.rows}


def test_the_loop_shows_what_was_varied_and_nothing_else(
    rich: Gathered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts and one attack were run; no temperature was, so that there is one kind of loops a task."""
    monkeypatch.setattr("triathlon_site.pages.board.loop.FIGURE_ROWS", 3)
    found = sections_of(rich, "loop-core")
    varied = ["Other summary prompts", "Attacks on the first prompt"]
    assert list(found) == ["Where tasks are lost", "Loops sustained", *varied]
    loops = found["Loops sustained"]
    assert loops.head == ("Model", "loops a task", "ASL, s = 1", "ASL over solved tasks, s = 1")
    (file,) = (file for file in rich.results.files if (file.model, file.suite) == ("fair", "loop/core"))
    shares = [file.metrics[name] for name in ("pass_at_1", *(f"sustain_{j}" for j in range(2, 11)))]
    fair = [cell.text for cell in rows(loops)["fair"]]
    assert fair[0] == f"{sum(s.numerators.sum() / s.denominators.sum() for s in shares):.2f}"
    assert float(fair[2]) >= float(fair[1])
    prompts = found["Other summary prompts"]
    assert prompts.head == ("Model", "as asked", "detailed", "upper case")
    assert "4 models, on 10 tasks" in prompts.text and "Spearman" in prompts.text
    attacks = found["Attacks on the first prompt"]
    assert all(re.fullmatch(r"0.0|[+−]\d+\.\d", row[0].text) for row in rows(attacks).values())
    arrows = re.findall(r'class="arrow" d="M([\d.]+) [\d.]+H([\d.]+)"', attacks.figures[0].svg)
    assert attacks.figures[0].caption.endswith("The first 3 of 4 models.")
    for row, (start, end) in zip(attacks.rows[:3], arrows, strict=True):
        points = (float(end) - float(start)) / 3.54  # pixels of a point
        assert points == pytest.approx(row[1].number, abs=0.1)


def test_a_translation_says_where_it_breaks(rich: Gathered) -> None:
    """A share of those that got so far, with its counts; a step that nobody reached says so."""
    section = sections_of(rich, "translation-core")["Where the chain breaks"]
    assert section.head == ("Model", "into PHP", "into Ruby", "into JavaScript", "into Perl", "into Python")
    weak = next(row for row in section.rows if row[0].text == "weak")
    assert weak[1].small == "0 of 10" and weak[2].small == "none reached it"
    named = {drop.first.partition(":")[0] for drop in drops_of("middle", rich.boards)}
    assert {"translation, own problems", "loop, own problems"} <= named


def test_runtime_shows_thinking_and_repeats(rich: Gathered, rich_pages: dict[str, str]) -> None:
    """Differences to direct answers; every setting in one table, below an average of its models."""
    found = sections_of(rich, "runtime-core")
    assert len(found["With a chain of thought"].rows) == 4
    settings = found["All settings"]
    assert settings.head[:4] == ("Model", "asked", "Coverage", "Coverage F1")
    assert settings.texts == ("Model", "asked"), "sorted as texts"
    for setting in ("as on this board", "cot", "sampled"):
        first, *rest = [row for row in settings.rows if row[1].text == setting]
        assert first[0].text == "Average" and first[2].small == f"{len(rest)} models"
        known = [row[2].number for row in rest if row[2].number is not None]
        assert first[2].number == pytest.approx(fmean(known))
        if setting == "sampled":
            assert all(row[-1].text == "3" and row[2].small.startswith("± ") for row in rest)
    assert "Four questions about a program that really ran" in rich_pages["runtime.html"]


def test_the_evolved_sections_are_the_runners_numbers(rich: Gathered) -> None:
    """Drops, compositions and pairs as the analyses have them; a share with its counts and interval."""
    kinds = {m: "instruct" for m in rich.models if m != "middle"}  # a model of unknown kind is of none
    site = replace(rich, models={m: replace(info, kind=kinds.get(m)) for m, info in rich.models.items()})
    own, found = board_of(site, "evolved-core"), sections_of(site, "evolved-core")
    assert len(found) == 6 and "Composition, combine naive" in found
    units = {m: {file.suite: file.tasks for file in own.files[m]} for m in own.models}
    measured = analysis.Measured(own.plan.suites, units, kinds)
    scores, drops = measured.board["strong"], rows(found["Drops"])
    change = 100 * (scores["difficult"] - scores["seeds"]) / scores["seeds"]
    assert drops["strong"][0].text == f"{-change:.1f}".replace("-", "−")
    assert measured.drops
    for place, by_model in ((-2, measured.drops.of_five_sets), (-1, measured.drops.per_model)):
        mean = fmean(by_model.values())
        assert drops["Mean of the models"][place].text == f"{mean:.1f}".replace("-", "−"), "of the rows below"
    assert fmean(measured.drops.of_five_sets.values()) == pytest.approx(measured.drops.overall)
    low, high = (f(measured.drops.per_model.values()) for f in (min, max))
    assert drops["Lowest to highest"][-1].text == f"{low:.1f} to {high:.1f}".replace("-", "−")
    counts = measured.compositions["combine"]["strong"]
    composed = [cell.text for cell in rows(found["Composition"])["strong"][:6]]
    assert composed == [str(count) for count in (*counts.every, *counts.solved)]
    halves = measured.decompositions["decompose"]["strong"]
    assert rows(found["Decomposition"])["strong"][0].text == str(sum(halves.solved))
    helped = measured.by_kind["tool_use"]["instruct"]
    words = rows(found["What other words and helpers change"])
    assert words["tool use, instruct models"][1].text == str(helped.models)
    pair = measured.pairs["difficult"]["strong"]
    pairs = found["Seed against change, problem by problem"]
    shown = rows(pairs)["strong"][pairs.head.index("difficult") - 1].text
    assert shown == f"{pair.first_only} : {pair.second_only}"
    assert share(5, 5).text == "100.0" and re.fullmatch(r"5 of 5, (5\d)–100", share(5, 5).small)
    assert share(0, 0).small == "none to count"
    in_common = [("ab"[place // 10], f"own {place}") for place in range(20)]
    assert [share(10, 20, of).small for of in ((), in_common)] == ["10 of 20, 28–72", "10 of 20, 0–100"]


def test_variants_with_our_prompts_are_shown(tmp_path: Path) -> None:
    """Also of a model that has nothing else; a board says whose prompts it has where others are than ours."""
    both, alone = FakeModel("both", 1.0), FakeModel("alone", 1.0)
    plain = ("loop/mbpp-plus", "runtime/dreval", "evolved/humaneval", "evolved/core-seeds")
    ours = ("loop/mbpp-plus@own-prompts", "loop/mbpp-plus@own-prompts+temperature-0.2")
    results_on(tmp_path, [both], *plain, tasks=8)
    results_on(tmp_path, [both, alone], *ours, "runtime/dreval@own-prompts", tasks=8)
    results_on(tmp_path, [alone], "loop/mbpp-plus@prompt-upper", "loop/mbpp-plus@attack-upper", tasks=8)
    site = gather(tmp_path, None)
    expected = [("Average", "{}"), ("both", "{}"), ("alone", "{}")]
    for name, title, settings in (
        ("loop-mbpp-plus", "With our prompts", ("ours", "ours+temperature-0.2")),
        ("runtime-dreval", "All settings", ("own-prompts",)),
    ):
        rows = [(row[0].text, row[1].text) for row in sections_of(site, name)[title].rows]
        shown = [(model, text.format(setting)) for setting in settings for model, text in expected]
        assert [row for row in rows if row[1] != "as on this board"] == shown
    pages = rendered_texts(site)
    about = "EvoEval words its instruction for each family of models; ours is one for all."
    assert about in pages["evolved-official.html"] and about not in pages["evolved.html"]
    assert "Attacks are our wording of EVALOOOP’s listing 3.1" in pages["loop-mbpp-plus.html"]
    assert not re.search("Other summary prompts|Attacks on the first", pages["loop-mbpp-plus.html"])
    assert not re.search('compare.html|<ul class="findings">', pages["models/alone.html"])


def test_a_model_of_another_protocol_is_seen_apart(tmp_path: Path) -> None:
    """A mark, no rank and no badge on every page and in LaTeX; no table is empty, and nothing is "nan"."""
    suites = ("loop/mbpp-plus", "runtime/dreval", "evolved/humaneval", "evolved/difficult")
    models = [*(FakeModel(f"m{n}", 3.0 - n) for n in range(5)), FakeModel("apart", 1.5)]
    results_on(tmp_path, models, *suites, tasks=12)
    for path in (tmp_path / "runs/apart").rglob("*.*"):
        path.write_text(re.sub(r'"asked": ?"[^"]*"', '"asked":"elsewhere"', path.read_text()))
    site = gather(tmp_path, None)
    pages = rendered_texts(site)
    read = {path: text for path, text in pages.items() if path.endswith((".html", ".tex"))}
    assert [path for path, text in read.items() if re.search(r"\bnan\b", text)] == []
    assert [path for path, text in read.items() if re.search(r"<tbody>\s*</tbody>", text)] == []
    assert {path for path in pages if path.startswith("badges/")} == {f"badges/m{n}.svg" for n in range(5)}
    table, board = pages["data/loop-mbpp-plus.tex"], pages["loop-mbpp-plus.html"]
    assert re.search(r"^-- & apart & [0-9.-]+ \([0-9.-]+\)\* &", table, re.MULTILINE)
    assert table.count("*") == 1 + 3  # what the sign means, and three columns of that row
    row = board.partition('<tr id="apart"')[2].partition("</tr>")[0]
    assert board.count("≠</a>") == row.count("≠</a>") > 0 and 'class="rank" data-v=""' in row
    assert "under another protocol than those that are ranked" in row
    assert re.search(r'<td class="rank"[^>]*>(?:<i class="said">rank </i>)?<b>1</b>', board)
    front = pages["index.html"].partition('<tr id="apart"')[2].partition("</tr>")[0]
    assert front.count("≠</a>") == 2 and '<span class="none">–</span></td>' in front
    assert "<b>≠</b> asked or graded under another protocol" in pages["index.html"]
    assert "it is in no ranking, tier or test" in " ".join(board.split())
    page = pages["models/apart.html"]
    columns = [column for own in site.boards for column in own.shown if "apart" in column.apart]
    assert page.count("≠</a>") == len(columns) > 10 and "rank <b>" not in page
    assert "≠: asked or graded under another protocol than those that are ranked." in page
    assert {figure.count("≠ apart") for figure in re.findall(r"<svg[^>]*>.*?</svg>", page, re.DOTALL)} >= {1}
    bars = board_of(site, "runtime-dreval")
    (figure,) = view_of(bars).figures(bars, ["apart"], site.models)
    assert figure.svg.count('class="bar c') == 5 * 2  # of the model, and of the legend
    drops = sections_of(site, "evolved-official")["Drops"]
    drop = next(row[1] for row in drops.rows if row[0].text == "apart")
    assert (drop.details["low"] or 0) < (drop.number or 0) < (drop.details["high"] or 0)


def test_drops_are_in_points_and_end_on_a_failed_task(tmp_path: Path) -> None:
    """From the first loop to the last and from seeds to sets, the largest first, as the records say."""
    models = (FakeModel("forgetful", 4.0, 0.15), *(FakeModel(f"steady-{n}", 0.4, 0.97) for n in range(2)))
    small_results(tmp_path / "results", models, tasks=40)
    build_small(tmp_path)
    site = gather(tmp_path / "results", None, cache=tmp_path / "cache")
    drops = drops_of("forgetful", site.boards)
    points = [drop.points for drop in drops]
    assert points == sorted(points, reverse=True) and points[-1] > 0
    loop = next(drop for drop in drops if drop.second == "loop 10")
    lines = json_lines(tmp_path / "results/runs/forgetful/loop/core.jsonl")
    loops = [line["sustained_loops"] for line in lines]
    assert loop.before == pytest.approx(100 * sum(count > 0 for count in loops) / len(loops))
    assert loop.after == pytest.approx(100 * sum(count == 10 for count in loops) / len(loops))
    assert loop.points == round(loop.points, 9)
    page = (tmp_path / "_site/models/forgetful.html").read_text()
    section = page.partition('id="falls"')[2].partition("</section>")[0]
    assert all(drop.second in section for drop in drops)
    links = re.findall(r'href="\.\./(evidence/[^"#]+)#([^"]+)"', section)
    evidence = {path: (tmp_path / "_site" / path).read_text() for path, _ in links}
    assert links and all(f'id="{anchor}"' in evidence[path] for path, anchor in links)
    sampled = results_on(tmp_path / "sampled", models, "loop/core", tasks=40, samples=2)
    assert drops_of("forgetful", gather(sampled, None, cache=tmp_path / "cache").boards)[0].path


def test_unknown_cost_is_no_small_cost(tmp_path: Path) -> None:
    """Where a server counted no tokens in one suite, its cost is unknown, and with it the whole model's."""
    models = FakeModel("counted"), FakeModel("other")
    results = small_results(tmp_path, models, tasks=4)
    path = results / "runs/other/loop/core.jsonl"
    path.write_text(path.read_text().replace('"requests":', '"uncounted":4,"requests":', 1))
    site = gather(results, registry_of("counted", "other", price=Price(input=0.01, output=0.02)))
    pages = rendered_texts(site)
    cost = r'models/(counted|other)\.html".*?<td class="number" data-v="[^"]*">([$–][^<]*)<'
    costs = dict(re.findall(cost, pages["index.html"], re.DOTALL))
    usages = [file.usage for file in site.results.files if file.model == "counted"]
    dollars = sum(usage.input_tokens + 2 * usage.output_tokens for usage in usages) / 1e8
    assert costs == {"counted": f"${dollars:.2g}", "other": "–"} and 1e-4 < dollars < 5e-3
    other, counted = (pages[f"models/{model}.html"] for model in ("other", "counted"))
    assert (other.count(">unknown<"), counted.count(">unknown<")) == (3, 0) and "$0.00<" not in counted
    assert other.count("Output tokens a second") == counted.count("Output tokens a second") - 1


def test_two_models_that_solve_nothing_read_well(tmp_path: Path) -> None:
    """Words instead of a leader at 0, no figure, no agreement; one model, or equal ones, lead nobody."""
    weak = (FakeModel("one", -99.0, 0.0), FakeModel("two", -99.0, 0.0))
    pages = rendered_texts(gather(rich_results(tmp_path / "two", weak, tasks=4), None))
    front, agreement = pages["index.html"], " ".join(pages["agreement.html"].split())
    assert "Nobody gets beyond" in front and "leads with" not in front
    assert "nothing is said here until a third is measured" in agreement and "<table" not in agreement
    for board in ("loop", "runtime", "evolved"):
        assert "<svg" not in pages[f"{board}.html"].partition("</table>")[2]
    for names, said in ((["only"], "</a> has ASL"), (["one", "other"], "</a> have ASL")):
        equal = [FakeModel(name, 99.0, 1.0) for name in names]
        pages = rendered_texts(gather(small_results(tmp_path / names[0], equal, tasks=4), None))
        front = " ".join(pages["index.html"].split())
        assert said in front and " with ASL" not in front
        assert ("No other model has a complete score" in front) == (len(names) == 1)
        assert ("Mean of the models" in pages["loop.html"]) == (len(names) > 1)


def test_who_solves_what_names_every_model_once_a_task(rich_pages: dict[str, str]) -> None:
    """Each task lists all models, by how they ended, each with its evidence; the overview counts solvers."""
    tasks = rich_pages["tasks/loop-core/1.html"].split('<section class="unit"')[1:]
    assert len(tasks) == 10
    for task in tasks:
        names = re.findall(r"evidence/[^\"]+#[^\"]+\">(\w+)</a>", task)
        assert sorted(names) == ["fair", "middle", "strong", "weak"]
    suite = re.findall(r"</th>\s*<td[^>]*>4</td>\s*<td[^>]*>(\d)</td>", rich_pages["tasks/runtime-core.html"])
    row = rich_pages["tasks.html"].partition("tasks/runtime-core.html")[2].partition("</tr>")[0]
    counts = [str(suite.count(solvers)) for solvers in ("4", "0")]
    assert re.findall(r">([\d.]+)</td>", row)[-2:] == counts


def test_the_questions_are_bars_with_dots_of_ic(tmp_path: Path) -> None:
    """Of the best twelve models, which the caption says."""
    fakes = [FakeModel(f"m{n:02}", 2.0 - n / 4) for n in range(MOST_BARS + 1)]
    site = gather(results_on(tmp_path, fakes, "runtime/core", tasks=6), None, cache=tmp_path / "cache")
    (runtime,) = site.boards
    (figure,) = view_of(runtime).figures(runtime, runtime.models, site.models)
    assert figure.svg.count('class="bar c') == 5 * (MOST_BARS + 1)  # with the average; and the legend
    assert figure.svg.count("<circle") == MOST_BARS + 1
    assert figure.caption.endswith("The first 12 of 13 models, by average.")
    chains = sections_of(site, "runtime-core")["Chains of answers"]
    assert [row[0].text for row in chains.rows] == list(runtime.models)


def curves(root: Path, models: int, shown: slice) -> tuple[Board, Figure, set[str], set[str]]:
    """The curves of a board with so many models; whose are named, and whose are grey."""
    fakes = [FakeModel(f"m{place:03d}", place / 50 - 1, 0.8) for place in range(models)]
    site = gather(results_on(root, fakes, "loop/core", tasks=4), None)
    (loop,) = site.boards
    (figure,) = view_of(loop).figures(loop, loop.models[shown], site.models)
    svg = ElementTree.fromstring(figure.svg)
    named = {text.text or "" for group in svg.iter("g") for text in group.findall("text")}
    grey = {path.findtext("title") or "" for path in svg.iter("path") if path.get("class") == "line muted"}
    return loop, figure, named, grey


def test_curves_name_the_shown_and_both_ends_of_the_order(tmp_path: Path) -> None:
    """In colour; the others, and those whose replies mostly did not run, are grey lines."""
    loop, figure, named, grey = curves(tmp_path, 80, slice(30, 35))
    order = list(loop.models)
    ran = [model for model in order if mostly_ran(share_that_ran(loop.files[model]))]
    assert 10 < len(ran) < 70 and ran[-2:] != order[-2:]
    assert named == {ran[0], *order[30:35], *ran[-2:]}
    assert grey == set(order) - named and figure.caption.endswith("Grey: the others.")


@pytest.mark.slow
def test_a_background_of_very_many_models_is_thinned_and_says_so(tmp_path: Path) -> None:
    """At most 200 of the others are drawn; the caption says one in how many."""
    _, figure, named, grey = curves(tmp_path, MOST_MUTED + 5, slice(1))
    assert len(named) == 3 and 0 < len(grey) <= MOST_MUTED
    assert figure.caption.endswith("Grey: one in 2 of the others.")


def test_several_samples_have_pass_at_k_over_all_of_them(tmp_path: Path) -> None:
    """Ten samples a task: pass@5 is the estimate over all ten, and no column stands for more than ten."""
    warm = BUILT_IN.find("evolved/core-seeds@temperature-0.8")
    assert warm is not None
    models = [FakeModel("a", 1.0), FakeModel("b", 0.0)]
    results_on(tmp_path, models, "evolved/core-seeds", tasks=6)
    write_results(tmp_path, models, [FakeSuite(warm, tasks=6, samples=10)])
    site = gather(tmp_path, None)
    section = sections_of(site, "evolved-core")["Several samples at a temperature"]
    part = board_of(site, "evolved-core").of_suite(warm.id)["a"].metrics["pass@5"]
    row = dict(zip(section.head, next(r for r in section.rows if r[0].text == "a"), strict=True))
    assert row["pass@5"].number == pytest.approx(
        100 * part.numerators.sum() / part.denominators.sum(), abs=0.05
    )
    assert "pass@20" not in row and "pass@10" in row


def test_ranks_under_settings_go_by_the_middles_of_ranges(tmp_path: Path) -> None:
    """As on the board: without a judge a model stands as if every similarity were one half."""
    suites = "loop/core", "loop/core@prompt-detailed"
    judged = {"none": None, "most": 0.6, "much": 0.4, "some": 0.2, "least": 0.0}
    results_on(tmp_path, [FakeModel(name, 3.0, 0.5) for name in judged], *suites, tasks=6)
    for suite in suites:
        units = json_lines(tmp_path / f"runs/most/{suite}.jsonl")
        for name, value in judged.items():
            own = {"model": name, "similarity": value}
            lines = [u | own if 0 < u["sustained_loops"] < 10 else u | {"model": name} for u in units]
            write_lines(tmp_path / f"runs/{name}/{suite}.jsonl", lines)
    section = sections_of(gather(tmp_path, None), "loop-core")["Other summary prompts"]
    place = section.head.index("rank as asked")
    order = "most", "none", "much", "some", "least"
    assert {row[0].text: row[place].number for row in section.rows} == {m: n for n, m in enumerate(order, 1)}


def test_equal_models_have_equal_drops_whichever_others_there_are(tmp_path: Path) -> None:
    """With their intervals: neither the place in the table nor another model's results change them."""
    suites = "evolved/core-seeds", "evolved/core-subtle"
    results_on(tmp_path, [FakeModel("first"), FakeModel("other", 2.0), FakeModel("third")], *suites, tasks=20)
    for suite in suites:
        lines = json_lines(tmp_path / f"runs/first/{suite}.jsonl")
        write_lines(tmp_path / f"runs/third/{suite}.jsonl", [line | {"model": "third"} for line in lines])
    several = rows(sections_of(gather(tmp_path, None), "evolved-core")["Drops"])
    assert several["first"] == several["third"] != several["other"]
    shutil.rmtree(tmp_path / "runs/other")
    assert rows(sections_of(gather(tmp_path, None), "evolved-core")["Drops"])["first"] == several["first"]
    results_on(tmp_path / "few", [FakeModel("first", 9.0)], *suites, tasks=4)
    (drop,) = rows(sections_of(gather(tmp_path / "few", None), "evolved-core")["Drops"])["first"]
    assert several["first"][0].details and drop.number is not None and not drop.details, "of four seeds"


def test_a_part_of_the_tasks_is_counted_over_all_boards(tmp_path: Path) -> None:
    """As the open units beside it; an answer is a unit, and what too few sets cannot give has no column."""
    suites = "loop/core", "runtime/core", "evolved/core-seeds", "evolved/core-subtle"
    results_on(tmp_path, [FakeModel("one", 9.0)], *suites, tasks=6, planned=4, open_units=1, samples=2)
    pages = rendered_texts(gather(tmp_path, None))
    assert '<span class="flag">16 of 24</span> <span class="flag">4 open</span>' in pages["index.html"]
    assert not re.search("One unit a problem|EvoEval average", pages["evolved.html"])


def test_sets_with_open_units_are_in_no_drop_and_no_test(tmp_path: Path) -> None:
    """As in no ranking: what is missing may be what the model fails; its complete sets count."""
    models, suites = [FakeModel("one", 1.0), FakeModel("two")], ("evolved/core-seeds", "evolved/core-verbose")
    results_on(tmp_path, models, *suites, "evolved/core-subtle", tasks=20)
    change(tmp_path / "runs/two/evolved/core-subtle.manifest.json", open_units=2)
    found = sections_of(gather(tmp_path, None), "evolved-core")
    drops = {model: cell.text for model, (cell,) in rows(found["Drops"]).items()}
    assert drops["two"] == "–" != drops["one"]
    assert found["Drops"].rows[0][1].small == "1 model"
    pairs = found["Seed against change, problem by problem"]
    assert pairs.head == ("Model", "subtle", "verbose")
    assert [(row[0].text, row[1].text == "–", row[2].text == "–") for row in pairs.rows] == [
        ("one", False, False),
        ("two", True, False),
    ]


def test_the_most_that_ic_could_be_is_no_less_than_it_is(tmp_path: Path) -> None:
    """A right answer in place of a cut one behind a wrong one would spoil a chain: it need not be right."""
    path = results_on(tmp_path, [FakeModel("one")], "runtime/core", tasks=1) / "runs/one/runtime/core.jsonl"
    (unit,) = json_lines(path)
    right, wrong, cut = "passed", "failed", "truncated"
    chains = (right, wrong, cut), (right, cut, wrong), (right, right, right)
    answers = [(unit["output"], wrong)]
    for one, chain in zip(unit["statements"], chains, strict=True):
        answers += zip((one["coverage"], one["state"], one["path"]), chain, strict=True)
    for answer, outcome in answers:
        answer.update(outcome=outcome, correct=outcome == right)
    write_lines(path, [unit | {"outcome": "failed"}])
    site = gather(tmp_path, None, cache=tmp_path / "cache")  # from which the kinds of answers come
    section = sections_of(site, "runtime-core")["How wrong outputs are wrong"]
    most = section.rows[0][-1]
    assert most.number == pytest.approx(100 * (1 / 4 - 1 / 8) / 3) and most.text == "at most +4.2"
