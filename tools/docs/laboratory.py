"""The table of the laboratory page: every measure that can be examined on a bundled corpus.

`KARAT_RENEW=1 pytest tests/test_lab.py` renews it.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import markup

from karat.problems import Findings
from karat.studies.lab import Examination, Examined, Options, examine, setting
from karat.studies.properties import PROPERTIES, plural

PAGE = Path(__file__).parents[2] / "docs" / "laboratory.md"
PLACE = re.compile(r"(?<=<!-- examined -->\n).*?(?=<!-- end -->)", re.DOTALL)

EXAMINED = (
    ("nugget", "tac-2017"),
    ("nugget", "tac-pilot"),
    ("nugget", "liu-2015"),
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
"""A protocol, and the results for a measure under it."""


def examinations() -> list[Examination]:
    """All of them, with the default options of `karat lab`."""
    found = []
    for prefix, name in EXAMINED:
        gold, protocol = setting(prefix, None, name, {})
        found.append(examine(prefix, gold, protocol, Options(), findings=Findings()))
    return found


def section(found: Sequence[Examination]) -> str:
    """The text between the two markers of the page."""
    rows = [(one.base.protocol, row) for one in found for row in one.measures]
    return f"\n{table(rows)}\n\n{summary(rows)}\n\n"


def table(rows: Sequence[Row]) -> str:
    """One row per measure and protocol."""
    header = ["measure", "protocol", "pieces", *(f"{id_} {name}" for id_, name in PROPERTIES.items())]
    return markup.table(
        header,
        [
            [markup.code(one.measure), protocol, plural(one.noun, 2), *(verdict.summary for verdict in one.verdicts)]
            for protocol, one in rows
        ],
    )


def summary(rows: Sequence[Row]) -> str:
    """For each property, how many rows have it, and which do, or which do not."""
    lines = []
    for number, (id_, name) in enumerate(PROPERTIES.items()):
        judged = [(protocol, one) for protocol, one in rows if one.verdicts[number].holds is not None]
        holding = [(protocol, one) for protocol, one in judged if one.verdicts[number].holds]
        failing = [pair for pair in judged if pair not in holding]
        fewer = f"Holds for: {_names(holding)}." if len(holding) <= len(failing) else f"Fails for: {_names(failing)}."
        unjudged = len(rows) - len(judged)
        left = f", {unjudged} could not be judged" if unjudged else ""
        which = f" {fewer}" if holding and failing else ""
        lines.append(f"- **{id_} {name}**: holds in {len(holding)} of {len(judged)} rows{left}.{which}")
    return "\n".join(lines)


def _names(rows: Sequence[Row]) -> str:
    by_protocol: dict[str, list[str]] = {}
    for protocol, one in rows:
        by_protocol.setdefault(protocol, []).append(markup.code(one.measure))
    return "; ".join(f"{', '.join(names)} ({protocol})" for protocol, names in by_protocol.items())


def filled(page: str, text: str) -> str:
    """The page with the text between its markers."""
    return PLACE.sub(lambda _: text, page, count=1)
