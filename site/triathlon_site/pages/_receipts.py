"""Where each number of a model comes from, in plain Python: a large site has thousands of receipts."""

import json
import re
import shlex
from functools import lru_cache

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from triathlon_runner.records import Manifest
from triathlon_site.load import FileAggregate
from triathlon_site.pages._cells import escaped
from triathlon_site.pages._models import ModelInfo


def receipt_anchor(suite: str) -> str:
    return f"receipt-{re.sub(r'[^a-z0-9]+', '-', suite.lower())}"


def receipt(file: FileAggregate, info: ModelInfo) -> Markup:
    """What one results file holds, under which conditions it was made, and what verifies it."""
    units, passed, run = file.units, file.outcomes.get("passed", 0), file.manifest
    said = (
        f", protocol {escaped(file.protocol[:12])}, {escaped(run.ended[:10] or 'unfinished')}" if run else ""
    )
    command = escaped(f"triathlon verify --models {shlex.quote(info.id)} --suites {shlex.quote(file.suite)}")
    return Markup(
        f'<details class="receipt"><summary>'
        f'<code>{escaped(file.suite)}</code> <span class="muted">{units} units{said}</span></summary>\n'
        # Within what is folded, so that a link to it unfolds it.
        f'<dl id="{receipt_anchor(file.suite)}">\n'
        f"{_row('Verify', f'<code>{command}</code>')}"
        f"{_row('n', f'{units} units, {passed} passed')}"
        f"{_row('File', f'<code>{escaped(file.file)}</code>')}"
        f"{_row('SHA-256 of the file', f'<code>{file.sha256}</code>')}"
        f"{_row('Protocol', f'<code>{escaped(file.protocol)}</code>')}"
        f"{_conditions(run, file.open_units) if run else ''}</dl></details>\n"
    )


def _conditions(run: Manifest, open_units: int) -> str:
    reasons = "; ".join(f"{count} × {escaped(reason)}" for reason, count in run.open_reasons.items())
    planned = f"{run.tasks_planned} of {run.tasks_in_suite}, profile {escaped(run.profile)}"
    opened = f"{open_units} open{': ' if reasons else ''}{reasons}"
    data = f"{escaped(run.data.name)} {escaped(run.data.version)}"
    grader = escaped(run.grader_integrity)
    ended = f"to {escaped(run.ended)}" if run.ended else "and not finished"
    return (
        f"{_row('Data', f'{data}, SHA-256 <code>{escaped(run.data.sha256)}</code>')}"
        f"{_row('Served', f'{escaped(run.served_model)} by {escaped(run.served_by)}')}"
        f"{_row('Tasks', f'{planned}; {opened}')}"
        f"{_row('Sandbox', f'{escaped(run.sandbox_level)}; grader integrity: {grader}')}"
        f"{_row('Runner', f'{escaped(run.runner_version)}, {escaped(run.started)} {ended}')}"
        f"{_row('Settings', f'<pre>{_settings(json.dumps(run.settings, sort_keys=True))}</pre>')}"
    )


def _row(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>\n"


@lru_cache(maxsize=512)
def _settings(text: str) -> Markup:
    """All models are asked under the same, mostly."""
    return htmlsafe_json_dumps(json.loads(text), indent=1, sort_keys=True)
