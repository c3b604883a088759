"""The table of the laboratory page: every measure that a bundled corpus can show, under one protocol each.

`KARAT_RENEW=1 pytest tests/test_lab.py` writes it into the page anew.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import markup

from karat.errors import Findings
from karat.studies.lab import Examination, Examined, Options, examine, setting
from karat.studies.properties import PROPERTIES, plural

PAGE = Path(__file__).parents[2] / "docs" / "laboratory.md"
PLACE = re.compile(r"(?<=<!-- examined -->\n).*?(?=<!-- end -->)", re.DOTALL)

EXAMINED = (
    ("nugget", "tac-2017"),
    ("nugget", "tac-pilot"),
    ("muc", "muc-5"),
    ("coref", "conll-2012"),
    ("coref", "simple-cdec"),
    ("coref", "pure-cdec"),
    ("hierarchy", "araki-2014"),
    ("sequence", "tac-2017"),
    ("ace", "ace-2005"),
    ("ace", "ace-2005-nist"),
)
"""Which measures are examined under which protocol."""

Row = tuple[str, Examined]
"""A protocol, and what was found of a measure under it."""


def examinations() -> list[Examination]:
    """All of them, with the options that `karat lab` has by itself."""
    found = []
    for prefix, name in EXAMINED:
        gold, protocol = setting(prefix, None, name, {})
        found.append(examine(prefix, gold, protocol, Options(), findings=Findings()))
    return found


def section(found: Sequence[Examination]) -> str:
    """What the page says between its two marks."""
    rows = [(one.base.protocol, row) for one in found for row in one.measures]
    return f"\n{table(rows)}\n\n{summary(rows)}\n\n"


def table(rows: Sequence[Row]) -> str:
    """A row for each measure under each protocol."""
    header = ["measure", "protocol", "pieces", *(f"{id_} {name}" for id_, name in PROPERTIES.items())]
    return markup.table(
        header,
        [
            [markup.code(one.measure), protocol, plural(one.noun, 2), *(verdict.told for verdict in one.verdicts)]
            for protocol, one in rows
        ],
    )


def summary(rows: Sequence[Row]) -> str:
    """For each property, of how many it holds, and which those are if they are the fewer."""
    told = []
    for number, (id_, name) in enumerate(PROPERTIES.items()):
        judged = [(protocol, one) for protocol, one in rows if one.verdicts[number].holds is not None]
        holding = [(protocol, one) for protocol, one in judged if one.verdicts[number].holds]
        failing = [pair for pair in judged if pair not in holding]
        fewer = f"It holds for: {_names(holding)}." if len(holding) <= len(failing) else f"All but: {_names(failing)}."
        unjudged = len(rows) - len(judged)
        left = f", {unjudged} could not be judged" if unjudged else ""
        which = f" {fewer}" if holding and failing else ""
        told.append(f"- **{id_} {name}**: holds in {len(holding)} of {len(judged)} rows{left}.{which}")
    return "\n".join(told)


def _names(rows: Sequence[Row]) -> str:
    by_protocol: dict[str, list[str]] = {}
    for protocol, one in rows:
        by_protocol.setdefault(protocol, []).append(markup.code(one.measure))
    return "; ".join(f"{', '.join(names)} ({protocol})" for protocol, names in by_protocol.items())


def filled(page: str, text: str) -> str:
    """The page with that between its marks."""
    return PLACE.sub(lambda _: text, page, count=1)
