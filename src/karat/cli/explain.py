"""`karat explain`, and names of measures as people type them: `b3`, `LEA`, `coref.ceafe`, `nugget.type+realis`."""

import difflib
import re
import textwrap
import unicodedata
from typing import NamedTuple

import click

from karat.cli._values import completes
from karat.families import MEASURES
from karat.plugin import Card
from karat.problems import UsageError, nearest

EPILOG = """\b
Examples:
  karat explain nugget
  karat explain nugget.type+realis
  karat explain b3

MEASURE is a family (`karat measures` lists them), the id of a measure, or the last part of an id. Case does not matter.
"""


@click.command(epilog=EPILOG)
@click.argument("measure", shell_complete=completes("measures"))
def explain(measure: str) -> None:
    """Explain MEASURE.

    Prints what it counts, its formula and what the symbols mean, its citation, known traps, and where paper and
    program differ.
    """
    from karat.report.layout import table

    card, row = find(measure)
    if row is not None:
        click.echo(f"{row}: {card.rows[row]}\n")
    click.echo(f"{card.title}\n")
    if row is None and (others := also(measure)):
        click.echo(f"{measure} is also short for {', '.join(others)}.\n")
    click.echo(table([], [[f"  {id_}", what] for id_, what in card.rows.items()], left=2) + "\n")
    click.echo(textwrap.indent(card.formula, "  ") + "\n")
    if card.symbols:
        click.echo(table([], [[f"  {symbol}", what] for symbol, what in card.symbols.items()], left=2) + "\n")
    click.echo(_paragraph(card.citation) + "\n")
    outcomes = [f"{name}: {meaning}" for name, meaning in card.outcomes.items()]
    for title, points in (
        ("Known traps", card.traps),
        ("Where paper and program differ", card.departures),
        ("What --details lists", outcomes),
    ):
        if points:
            click.echo(f"{title}\n" + "\n".join(_paragraph(point, bullet="- ") for point in points) + "\n")
    click.echo(f"Its arithmetic obeys these laws: {', '.join(card.laws)}.")


def _paragraph(text: str, *, bullet: str = "") -> str:
    return textwrap.fill(text, 100, initial_indent="  " + bullet, subsequent_indent="  " + " " * len(bullet))


KIND = "KIND"
"""Stands for the kind of a link in an id."""
OPEN = "..."
"""Stands for further ids of the same shape, with other attributes."""


class Explained(NamedTuple):
    """A family, and the row of its card that describes one of its measures; None: the family as a whole."""

    card: Card
    row: str | None = None


def listed() -> dict[str, Explained]:
    """Every id (or pattern of ids) that a row of a card lists or mentions, with its card and row."""
    ids: dict[str, Explained] = {}
    for name, family in MEASURES:
        for row, what in family.card.rows.items():
            mentioned = re.findall(rf"\b{re.escape(name)}\.[\w.+]*\w", what)
            ids |= {id_: Explained(family.card, row) for id_ in (*row.split(", "), *mentioned) if id_ != OPEN}
    return ids


def find(name: str) -> Explained:
    """Find what a person means: a family, an id, or the last part of an id; case and punctuation do not matter."""
    wanted = _plain(name)
    for family in MEASURES.names():
        if wanted == _plain(family):
            return Explained(MEASURES.get(family).card)
    ids = listed()
    for id_, explained in ids.items():
        if re.fullmatch(re.escape(_plain(id_)).replace(KIND.lower(), r"[^.]+"), wanted):
            return explained
    short = [id_ for id_ in ids if _plain(id_).endswith(f".{wanted}")]
    if len(short) == 1:
        return ids[short[0]]
    if short:
        message = f"{name!r} is short for several measures"
        raise UsageError("measure-ambiguous", message, f"Choose one: {', '.join(short)}.")
    last = [plain.rpartition(".")[2] for plain in map(_plain, ids) if _shape(plain) == _shape(wanted)]
    near = difflib.get_close_matches(wanted.rpartition(".")[2], last, n=1)
    for id_, explained in ids.items():
        # Attributes are open: nugget.polarity is a measure wherever gold has a polarity.
        is_open = explained.row is not None and explained.row.endswith(OPEN)
        if is_open and not near and _shape(wanted) == _shape(_plain(id_)):
            return explained
    names = {_plain(id_): id_ for id_ in ids} | {_plain(id_.rpartition(".")[2]): id_ for id_ in ids}
    close = [plain for plain in names if plain.startswith(wanted)] or difflib.get_close_matches(wanted, names, n=1)
    hint = f"Did you mean {names[close[0]]}?" if close else nearest(name, MEASURES.names())
    raise UsageError("unknown-measure", f"there is no measure {name!r}", f"{hint} `karat measures` lists them.")


def also(name: str) -> list[str]:
    """Other measures that a name could be short for, such as coref.muc for the family muc."""
    return [id_ for id_ in listed() if _plain(id_).endswith(f".{_plain(name)}")]


def _plain(name: str) -> str:
    """Small letters, digits, dots and plus signs: `B³` and `b-3` are `b3`."""
    return re.sub(r"[^a-z0-9.+]", "", unicodedata.normalize("NFKC", name).casefold())


def _shape(id_: str) -> tuple[str, bool]:
    """All but the last part of an id, and whether that combines several attributes."""
    head, _, last = id_.rpartition(".")
    return head, "+" in last
