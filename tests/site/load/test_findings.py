"""What a run found of how its server behaves stands on the model's page."""

import json
from pathlib import Path

from support.site import MODELS, build_small, page_text, small_results


def test_findings_stand_on_the_page(tmp_path: Path) -> None:
    """In the receipt of the suite, with the setting; other suites and models say nothing."""
    results = small_results(tmp_path / "results", MODELS[1:])
    path = results / "runs/weak/loop/core.manifest.json"
    manifest = json.loads(path.read_text())
    found = ["reasoning: leaks into the text with '<think>': `reasoning_max_tokens: 8192` in its api block"]
    path.write_text(json.dumps({**manifest, "findings": found}))
    report = build_small(tmp_path)
    assert not report.notices
    heading = "Behaviour of its server, as the run saw it"
    page = page_text(tmp_path / "_site/models/weak.html")
    assert page.count(heading) == 1 and "leaks into the text with &#39;&lt;think&gt;&#39;" in page
    assert heading not in page_text(tmp_path / "_site/models/middle.html")
