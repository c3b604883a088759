"""Measures by the names that people type, `b3`, `LEA`, `Arg-C` or `nugget.type+realis`, and a page on each."""

import difflib
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from karat.families import MEASURES
from karat.plugin import Card
from karat.report.layout import table

KIND = "KIND"
"""Stands for the kind of a link in an id."""
OPEN = "..."
"""Stands for further ids of the same shape, with other attributes."""


class Explained(NamedTuple):
    """A family, or one of its measures."""

    family: str
    card: Card
    row: str | None = None
    """The row of the card that describes the measure; None: the family as a whole."""
    id: str = ""
    """The measure, as the row lists it."""


def listed() -> dict[str, Explained]:
    """Return every id (or pattern of ids) that a row of a card lists or mentions, with its card and row."""
    ids: dict[str, Explained] = {}
    for name, family in MEASURES:
        for row, what in family.card.rows.items():
            mentioned = re.findall(rf"\b{re.escape(name)}\.[\w.+]*\w", what)
            known = [id_ for id_ in (*row.split(", "), *mentioned) if id_ != OPEN]
            ids |= {id_: Explained(name, family.card, row, id_) for id_ in known}
    return ids


def find(name: str) -> list[Explained]:
    """Find what a person may mean: a family, an id, or the end of an id; case and punctuation do not matter."""
    wanted = plain(name)
    for family in MEASURES.names():
        if wanted == plain(family):
            return [Explained(family, MEASURES.get(family).card)]
    ids = listed()
    for id_, explained in ids.items():
        if re.fullmatch(re.escape(plain(id_)).replace(KIND.lower(), r"[^.]+"), wanted):
            return [explained]
    plain_ids = [(plain(id_), explained) for id_, explained in ids.items()]
    for matches in (
        [explained for id_, explained in plain_ids if id_.endswith(f".{wanted}")],
        [explained for id_, explained in plain_ids if id_.replace(".", "") == wanted],  # Arg-C
        [explained for id_, explained in plain_ids if id_.startswith(f"{wanted}.")],
        [explained for _, explained in plain_ids if plain(_what(explained).partition(":")[0]) == wanted],  # B-cubed
    ):
        if matches:
            return matches
    last = [id_.rpartition(".")[2] for id_ in map(plain, ids) if _shape(id_) == _shape(wanted)]
    if difflib.get_close_matches(wanted.rpartition(".")[2], last, n=1):
        return []
    # Attributes are open: nugget.polarity is a measure wherever gold has a polarity.
    open_ = [explained for explained in ids.values() if explained.row is not None and explained.row.endswith(OPEN)]
    same = [explained for explained in open_ if _shape(wanted) == _shape(plain(explained.id))]
    return same[:1] or [ids[id_] for id_ in ids if len(wanted) > 3 and plain(id_).endswith(wanted)]  # STMp


def _what(explained: Explained) -> str:
    return "" if explained.row is None else explained.card.rows[explained.row]


def also(name: str) -> list[str]:
    """Measures that a name is a part of, such as coref.muc for muc."""
    return [id_ for id_ in listed() if f".{plain(name)}." in f"{plain(id_)}."]


def nearest(name: str, others: Iterable[str] = ()) -> str | None:
    """The measure, or other name, that is nearest to a misspelt one."""
    ids = [*listed()]
    names: dict[str, str] = {}
    for short, known in [*((id_.rpartition(".")[2], id_) for id_ in ids), *zip(ids, ids, strict=True)]:
        names.setdefault(plain(short), known)
    for other in others:
        names.setdefault(plain(other), other)
    wanted = plain(name)
    close = [other for other in names if wanted and other.startswith(wanted)]
    close = close or difflib.get_close_matches(wanted, names, n=1)
    return names[close[0]] if close else None


def plain(name: str) -> str:
    """Small letters, digits, dots and plus signs: `B³` and `b-3` are `b3`."""
    return re.sub(r"[^a-z0-9.+]", "", unicodedata.normalize("NFKC", name).casefold())


def _shape(id_: str) -> tuple[str, bool]:
    """Return all but the last part of an id, and whether that part combines several attributes."""
    head, _, last = id_.rpartition(".")
    return head, "+" in last


def page(explained: Explained) -> str:
    """Explain a measure or a family: its counts, formula, citation, traps, and where paper and program differ."""
    card = explained.card if explained.row is None else _of_measure(explained)
    rows = table([], [[f"  {id_}", what] for id_, what in card.rows.items()], left=2)
    symbols = table([], [[f"  {symbol}", what] for symbol, what in card.symbols.items()], left=2)
    family = explained.family
    parts = [
        f"{card.title}\n\n{rows}" if explained.row is None else f"{explained.row}: {card.rows[explained.row]}",
        textwrap.indent(card.formula, "  "),
        symbols if card.symbols else "",
        paragraph(card.citation),
        _points("Known traps", card.traps),
        _points("Where paper and program differ", card.departures),
        _points("What --details lists", [f"{name}: {meaning}" for name, meaning in card.outcomes.items()]),
        f"Its arithmetic obeys these laws: {', '.join(card.laws)}.",
        ""
        if explained.row is None
        else f"{card.title}: `karat explain {family}` describes all measures of this family.",
    ]
    return "\n\n".join(filter(None, parts))


def _points(title: str, points: Sequence[str]) -> str:
    return "\n".join([title, *(paragraph(point, bullet="- ") for point in points)]) if points else ""


def paragraph(text: str, *, bullet: str = "") -> str:
    """A paragraph, wrapped and indented."""
    return textwrap.fill(text, 100, initial_indent="  " + bullet, subsequent_indent="  " + " " * len(bullet))


def _of_measure(explained: Explained) -> Card:
    """The card without what is about other measures of the family.

    A block of the formula is about the measures that it begins with, a sentence about those that it names; without any,
    they are about all.
    """
    card, row = explained.card, explained.row or ""
    blocks = [*_blocks(card.formula)]
    parts = {part for id_ in listed() if id_.startswith(f"{explained.family}.") for part in plain(id_).split(".")[1:]}
    labels = {label for begins, _ in blocks for label in begins if plain(label) in parts}

    def names(text: str) -> set[str]:
        ids = set(re.findall(rf"\b{re.escape(explained.family)}\.[\w.+]*\w", text))
        words = re.findall(r"\w+", text)
        return ids | {
            label
            for label in labels
            for word in words
            if plain(label) == plain(word) or (len(word) > 3 and word.isupper() and label.startswith(word))
        }

    own = {label for label in labels if plain(label) in plain(explained.id).split(".")} | names(
        f"{row} {card.rows[row]}"
    )

    def is_about(text: str) -> bool:
        return not (named := names(text)) or not named.isdisjoint(own)

    formula = "\n".join([text for begins, text in blocks if not labels & {*begins} or own & {*begins}])
    return replace(
        card,
        formula=formula,
        symbols={symbol: what for symbol, what in card.symbols.items() if _occurs(symbol, formula)},
        traps=tuple(filter(is_about, card.traps)),
        departures=tuple(filter(is_about, card.departures)),
        outcomes={name: what for name, what in card.outcomes.items() if is_about(what)},
    )


def _blocks(formula: str) -> Iterator[tuple[list[str], str]]:
    """Lines of a formula with the indented lines below each, and the names before its equals sign or its gap."""
    for block in re.findall(r"^\S.*(?:\n .*)*|^ .*(?:\n .*)*", formula, re.MULTILINE):
        yield re.split(r"\s{2,}|\s=\s", block, maxsplit=1)[0].split(", "), block


def _occurs(symbols: str, formula: str) -> bool:
    names = [name for name in re.split(r", |\(.*\)", symbols) if name]
    # In ASCII, a superscript is not a letter: `o²` has the symbol `o`.
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", formula, re.ASCII) for name in names)
