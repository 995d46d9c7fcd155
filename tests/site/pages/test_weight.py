"""How heavy the pages are."""

import gzip
import re
from pathlib import Path

from support.results import FakeModel
from support.site import add_published, registry, results_on
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import gather
from triathlon_site.pages import Rendering
from triathlon_site.render import installed_environment

MOST = 60_000
MOST_ELEMENTS = 5_000


def coders(count: int) -> list[FakeModel]:
    return [FakeModel(f"some-coder-{place}", -2 + place / 25, 0.5 + place / 250) for place in range(count)]


def registered(models: list[FakeModel]) -> Registry:
    """Every field that the table shows, different from row to row."""
    rows = {
        model.id: {
            "name": f"Some Coder {place} Instruct",
            "organization": f"Organisation {place % 40}",
            "parameters": f"{1 + place % 90}B",
            "license": ("mit", "apache-2.0", "other")[place % 3],
            "open_weights": place % 3 != 2,
            "released": f"20{20 + place % 7}-0{1 + place % 9}",
            "price": {"input": 1, "output": 3},
        }
        for place, model in enumerate(models)
    }
    return registry(rows)


def test_the_front_page_of_all_models_is_light(tmp_path: Path) -> None:
    """Of 330 models a phone can lay out the first rows; those further down are in a script."""
    models = coders(100)
    results = add_published(results_on(tmp_path, models, "loop/mbpp-plus", "runtime/dreval", tasks=6))
    environment = installed_environment()
    page = next(Rendering(gather(results, registered(models)), environment).section(0))
    assert page.path == "index.html" and page.content.count('<th scope="row"') == 60
    scripts = ("tables.js", "copy.js", "front.js", "find.js")
    parts = [page.bytes, *(environment.asset_contents[name] for name in scripts)]
    assert 20_000 < sum(len(gzip.compress(part, mtime=0)) for part in parts) <= MOST
    assert len(re.findall("<[a-z]", page.content)) <= MOST_ELEMENTS


def test_no_page_lays_out_more_than_5000_elements(tmp_path: Path) -> None:
    """Nor weighs 500 kB: rows of long tables wait. The front page has a limit of its own."""
    models = coders(12)
    evolved = ["humaneval", "difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise"]
    results_on(tmp_path, models, *(f"evolved/{name}" for name in evolved), tasks=3)
    results_on(tmp_path, models[1:3], "loop/mbpp-plus", tasks=800)
    add_published(tmp_path)
    site = gather(tmp_path, registered(models))
    rendering = Rendering(site, installed_environment())
    boards_to_published = range(1, len(site.boards) + 5)
    pages = [page for number in boards_to_published for page in rendering.section(number)]
    html = {page.path: page.content for page in pages if page.path.endswith(".html")}
    elements = {path: len(re.findall("<[a-z]", _laid_out(text))) for path, text in html.items()}
    assert {path: count for path, count in elements.items() if count > MOST_ELEMENTS} == {}
    assert [path for path, text in html.items() if len(text.encode()) > 500_000] == []
    table = html["evolved-official.html"].partition("</table>")[0]
    assert table.count("<tr") > 100 > _laid_out(table).count("<tr") > 20


def _laid_out(page: str) -> str:
    return re.sub("<template>.*?</template>", "", page, flags=re.DOTALL)
