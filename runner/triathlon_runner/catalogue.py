"""Every suite there is, in the order in which the board shows them, those of suites.yaml among them."""

import functools
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, RootModel

from triathlon_runner import evolved, loop, pasted_keys, runtime, translation
from triathlon_runner.datasets.user import DataSetRow, UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import check_names
from triathlon_runner.prompts import BUILT_IN as OUR_PROMPTS
from triathlon_runner.suites import DisciplineEntry, SuiteEntry
from triathlon_runner.yaml_file import read, validated

DISCIPLINES: tuple[DisciplineEntry, ...] = (
    loop.DISCIPLINE,
    translation.DISCIPLINE,
    runtime.DISCIPLINE,
    evolved.DISCIPLINE,
)
"""A new discipline is one line here."""
_RESERVED: Final = "core"
"""What the names of our own data sets begin with."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The built-in suites, and those on the data sets of a suites.yaml."""

    user_data: tuple[UserDataSet, ...] = ()

    def entries(self, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
        """Returns all suites, variants included; nothing is read for this. `prompts` is `--prompts`."""
        return _entries(DISCIPLINES, self.user_data, prompts)

    @property
    def ids(self) -> list[str]:
        """The ids of all suites, variants included."""
        return [entry.id for entry in self.entries()]

    def select(
        self, ids: Sequence[str] | None = None, variants: Sequence[str] = (), prompts: Path | None = None
    ) -> tuple[SuiteEntry, ...]:
        """The suites of these ids, in the order of the catalogue; all but variants for None.

        `variants` adds the suites' variants of these kinds: prompts, temperatures, attacks; `prompts` is a
        user's folder of prompts in place of ours. A question file (`questions.json@cot`) and a set at a
        temperature (`evolved/core-seeds@temperature-0.7`) are suites of the user's own.

        Raises:
            UserError: an id that is not in the catalogue, a kind that no suite has, two suites of one id.
        """
        of_user = {}
        for text in ids or ():
            of_file = (discipline.suite_of_file(text, prompts) for discipline in DISCIPLINES)
            if entry := self._at_temperature(text, prompts) or next(filter(None, of_file), None):
                of_user[text] = entry
        if ids is not None:
            known = [*self.ids, *of_user]
            check_names(ids, known, what="suite", command="triathlon suites --variants")
        kinds = sorted({entry.variant_kind for entry in self.entries() if entry.variant_kind is not None})
        check_names(variants, kinds, what="kind of variant")

        def wanted(entry: SuiteEntry) -> bool:
            if entry.variant_of is None or entry.variant_kind not in variants:
                return entry.id in ids if ids is not None else entry.variant_of is None
            return ids is None or entry.variant_of in ids or entry.id in ids

        chosen = (*(entry for entry in self.entries(prompts) if wanted(entry)), *of_user.values())
        # A question file's results would lie among those of the suite that is called like it.
        for suite_id, count in Counter([*self.ids, *(entry.id for entry in of_user.values())]).items():
            if count > 1:
                raise UserError(
                    f"two suites are called {suite_id!r}; rename the file of the one or leave one out"
                )
        return chosen

    def id_of(self, text: str) -> str:
        """Returns the id of the suite that a text names, which may be a question file; else the text."""
        of_file = (discipline.suite_of_file(text, None) for discipline in DISCIPLINES)
        return next((entry.id for entry in of_file if entry is not None), text)

    def find(self, suite_id: str) -> SuiteEntry | None:
        """Returns the suite of results, one of the user's own too; None where nothing is known of it."""
        known = {entry.id: entry for entry in self.entries()}
        of_results = (discipline.suite_of_results(suite_id) for discipline in DISCIPLINES)
        found = known.get(suite_id) or self._at_temperature(suite_id, None)
        return found or next(filter(None, of_results), None)

    def _at_temperature(self, suite_id: str, prompts: Path | None) -> SuiteEntry | None:
        """`evolved/core-seeds@temperature-0.7`; None for other ids, and for suites of the catalogue."""
        plain, _, text = suite_id.partition("@temperature-")
        known = {entry.id: entry for entry in self.entries(prompts)}
        if suite_id in known or plain not in known or not re.fullmatch(r"\d+(\.\d+)?", text):
            return None
        make = known[plain].at_temperature
        entry = make(float(text)) if make is not None else None
        return entry if entry is not None and entry.id == suite_id else None


@functools.cache
def _entries(
    disciplines: tuple[DisciplineEntry, ...], user_data: tuple[UserDataSet, ...], prompts: Path | None
) -> tuple[SuiteEntry, ...]:
    return tuple(
        suite
        for discipline in disciplines
        for suites in (
            discipline.suites(prompts),
            *(discipline.suites_of_user(data, prompts) for data in user_data),
        )
        for suite in suites
    )


BUILT_IN: Final = Catalogue()
"""Without a suites.yaml."""
entries, select, find = BUILT_IN.entries, BUILT_IN.select, BUILT_IN.find


class _Rows(RootModel[tuple[DataSetRow, ...]]):
    root: Annotated[tuple[DataSetRow, ...], Field(strict=False)]


def suites_file_beside(models_file: Path | None = None) -> Path:
    """Where suites.yaml lies: beside the list of models, which is TRIATHLON_MODELS where none is named."""
    return (models_file or Path(os.environ.get("TRIATHLON_MODELS") or "models.yaml")).parent / "suites.yaml"


def read_catalogue(models_file: Path | None = None) -> Catalogue:
    """Returns the built-in suites and those of a suites.yaml beside the models, whose problems are not read.

    Raises:
        UserError: bad YAML, an unknown key, a wrong value (names line and key), an id that another data set
            has, seeds that are none.
    """
    if not (suites_file := suites_file_beside(models_file)).exists():
        return BUILT_IN
    file = read(suites_file)
    pasted_keys.check_file(file)
    known = {name for entry in entries() for name in (entry.id, entry.set_name)}
    listed: list[UserDataSet] = []
    for number, row in enumerate(validated(file, _Rows).root):
        place = f"{suites_file}, line {file.existing((number, 'problems'))[0]}"
        data = UserDataSet(**row.model_dump(), folder=suites_file.parent, listed_at=place)
        suites = [suite.id for suite in Catalogue((data,)).entries() if suite.user_data]
        if {*suites, row.id} & known or row.id.startswith(_RESERVED):
            raise UserError(
                f"{place}: {number}.id: expected an id that no built-in data set and none above has and that"
                f" does not begin with {_RESERVED!r}, got {row.id!r}; rename it"
            )
        before = Catalogue(tuple(listed)).entries()
        sets = [entry.id for entry in before if entry.set_name and entry.variant_of is None]
        if row.seeds is not None and row.seeds not in sets:
            raise UserError(
                f"{place}: expected seeds: to name a set of the evolved discipline that is built in or listed"
                f" above, one of {', '.join(sorted(sets))}; got {row.seeds!r}"
            )
        listed.append(data)
        known.update((*suites, row.id))
    return Catalogue(tuple(listed))


def discipline(name: str) -> DisciplineEntry:
    """Returns the discipline of this name.

    Raises:
        KeyError: there is none.
    """
    return {entry.name: entry for entry in DISCIPLINES}[name]


def check_prompts(folder: Path, suites: Sequence[SuiteEntry] = ()) -> None:
    """Reads every template of a user's folder before a model is asked.

    Raises:
        UserError: one is broken, or nothing in the folder would replace a prompt of ours, or of these suites.
    """
    disciplines = {entry.name: entry.prompts for entry in DISCIPLINES if entry.prompts is not None}
    replaced = {name for name, prompts in disciplines.items() if prompts(folder).name != OUR_PROMPTS}
    unknown = sorted({path.parent.name for path in folder.glob("*/*.txt")} - disciplines.keys())
    if unknown or not replaced:
        got = f"the folder {unknown[0]!r}, no discipline" if unknown else "none"
        raise UserError(
            f"--prompts expects templates <discipline>/<name>.txt; {str(folder)!r} holds {got}. Disciplines:"
            f" {', '.join(disciplines)}."
        )
    asked = {suite.discipline for suite in suites}
    if asked and replaced.isdisjoint(asked):
        raise UserError(
            f"expected --prompts with templates of {' or '.join(sorted(asked))}, which the suites of this run"
            f" are of, got {str(folder)!r} with those of {' and '.join(sorted(replaced))}: nothing would be"
            " asked by them; name other suites or another folder"
        )
