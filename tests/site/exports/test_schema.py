"""The data files keep to the schema that is published beside them."""

import html
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.golden import golden_results
from triathlon_site.build import build

FORMAT_OF = {"overall-core.json": "overall", "notices.json": "notices"}
"""Every other file is a board's."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with every kind of data file, of results that have faults."""
    root = tmp_path_factory.mktemp("schema")
    golden_results(root / "results")
    build(root / "results", root / "_site", None, cache=root / "cache")
    return root / "_site"


def _schema(site: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((site / f"data/schema/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def test_every_data_file_is_valid(site: Path) -> None:
    """Each `data/*.json` is what its published schema says, with no field that the schema leaves out."""
    paths = sorted((site / "data").glob("*.json"))
    kinds = {FORMAT_OF.get(path.name, "board") for path in paths}
    assert kinds == {"board", "overall", "notices"}
    for path in paths:
        schema = _schema(site, FORMAT_OF.get(path.name, "board"))
        content = json.loads(path.read_text())
        jsonschema.validate(content, schema, cls=jsonschema.Draft202012Validator)
        assert content.get("rows") or content.get("notices"), f"{path.name} says nothing that could be wrong"


def test_an_unknown_or_missing_field_is_refused(site: Path) -> None:
    """The schema is strict: a reader may rely on every field, and no field is undocumented."""
    schema = _schema(site, "board")
    board = json.loads((site / "data/loop-core.json").read_text())
    for change in ({"surprise": 1}, {"tasks": "twelve"}):
        wrong = {**board, "rows": [{**board["rows"][0], **change}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema, cls=jsonschema.Draft202012Validator)
    del board["rows"][0]["score"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(board, schema, cls=jsonschema.Draft202012Validator)


def test_the_page_describes_every_field(site: Path) -> None:
    """Each field of each schema stands on the Data page with its type, and the schema is linked."""
    page = html.unescape((site / "data.html").read_text())
    for name, row in (("board", "BoardRow"), ("overall", "OverallRow"), ("notices", "NoticeRow")):
        assert f'href="data/schema/{name}.schema.json"' in page
        for field, one in _schema(site, name)["$defs"][row]["properties"].items():
            assert f"<dt><code>{field}</code> <small>" in page
            assert one["description"] in page
