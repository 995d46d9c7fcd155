"""Where each number of a model comes from, in plain Python: a large site has thousands of receipts."""

import json
import re
import shlex
from functools import lru_cache

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from triathlon_runner.records import Manifest
from triathlon_site.load import FileAggregate
from triathlon_site.pages._models import ModelInfo


def receipt_anchor(suite: str) -> str:
    return f"receipt-{re.sub(r'[^a-z0-9]+', '-', suite.lower())}"


def receipt(file: FileAggregate, info: ModelInfo) -> Markup:
    """What one results file holds, under which conditions it was made, and what verifies it."""
    units, passed, run = len(file.tasks), file.outcomes.get("passed", 0), file.manifest
    said = f", protocol {escape(file.protocol[:12])}, {escape(run.ended[:10])}" if run else ""
    command = escape(f"triathlon verify --models {shlex.quote(info.id)} --suites {shlex.quote(file.suite)}")
    return Markup(
        f'<details class="receipt" id="{receipt_anchor(file.suite)}"><summary>'
        f'<code>{escape(file.suite)}</code> <span class="muted">{units} units{said}</span></summary>\n<dl>\n'
        f"{_row('Verify', f'<code>{command}</code>')}"
        f"{_row('n', f'{units} units, {passed} passed')}"
        f"{_row('File', f'<code>{escape(file.file)}</code>')}"
        f"{_row('SHA-256 of the file', f'<code>{file.sha256}</code>')}"
        f"{_row('Protocol', f'<code>{escape(file.protocol)}</code>')}"
        f"{_conditions(run) if run else ''}</dl></details>\n"
    )


def _conditions(run: Manifest) -> str:
    reasons = "; ".join(f"{count} × {escape(reason)}" for reason, count in run.open_reasons.items())
    planned = f"{run.tasks_planned} of {run.tasks_in_suite}, profile {escape(run.profile)}"
    opened = f"{run.open_units} open{': ' if reasons else ''}{reasons}"
    data = f"{escape(run.data.name)} {escape(run.data.version)}"
    return (
        f"{_row('Data', f'{data}, SHA-256 <code>{escape(run.data.sha256)}</code>')}"
        f"{_row('Served', f'{escape(run.served_model)} by {escape(run.served_by)}')}"
        f"{_row('Tasks', f'{planned}; {opened}')}"
        f"{_row('Sandbox', f'{escape(run.sandbox_level)}; grader integrity: {escape(run.grader_integrity)}')}"
        f"{_row('Runner', f'{escape(run.runner_version)}, {escape(run.started)} to {escape(run.ended)}')}"
        f"{_row('Settings', f'<pre>{_settings(json.dumps(run.settings, sort_keys=True))}</pre>')}"
    )


def _row(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>\n"


@lru_cache(maxsize=512)
def _settings(text: str) -> Markup:
    """All models are asked under the same, mostly."""
    return htmlsafe_json_dumps(json.loads(text), indent=1, sort_keys=True)
