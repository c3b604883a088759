"""Relations between mentions as files give them: labels, ends, and what is wrong with them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from karat.formats._text import decode, text_lines
from karat.model import Document, Link, Mention, Places, compact_lines
from karat.plugin.formats import Context, Piece
from karat.problems import Report, Rule, nearest, quoted

LABEL = Rule("relation-label", "note", "Correct the label if it is misspelt; labels are compared as written.")
END = Rule(
    "relation-end-unknown", "fault", "Name a mention, event or time of the same document; the relation is ignored."
)


class RelationLinks:
    """Collects the relations of a document. Those that name nothing are reported and left out."""

    def __init__(self, document: str, ends: Mapping[str, str], file: str, report: Report) -> None:
        """`ends` are the ids of mentions or clusters by their names in the file."""
        self.ends = ends
        self._document, self._file, self._report = document, file, report
        self.links: list[Link] = []
        self.lines: list[int] = []

    def add(self, label: str, source: str, target: str, line: int) -> None:
        known = self.ends
        if source in known and target in known:
            self.links.append(Link(label, known[source], known[target]))
            self.lines.append(line)
            return
        end = target if source in known else source
        message = f"the {label} from {quoted(source)} to {quoted(target)} names {quoted(end)}, which does not exist in "
        self._report(END.at(f"{message}document {quoted(self._document)}", file=self._file, line=line, found=end))

    def add_all(self, label: str, pairs: Collection[tuple[str, str]]) -> Collection[tuple[str, str]]:
        """Add relations that stand in the line of their document, and need no line; return those that name nothing."""
        known = self.ends
        try:
            self.links += [Link(label, known[source], known[target]) for source, target in pairs]
        except KeyError:
            rest = [pair for pair in pairs if not known.keys() >= {*pair}]
            self.add_all(label, [pair for pair in pairs if known.keys() >= {*pair}])
            return rest
        return ()

    def check_label(self, label: str, known: Collection[str], line: int) -> None:
        """Report a label that no protocol of the format knows."""
        if label not in known:
            message = f"the relation {quoted(label)} is not one of the format. {nearest(label, known)}"
            self._report(LABEL.at(message, file=self._file, line=line, found=label))

    def added_to(self, document: Document) -> Document:
        places = document.places or Places(1)
        return replace(document, links=tuple(self.links)).at(replace(places, links=compact_lines(self.lines)))


class Row(NamedTuple):
    """A line of a table: the document, two mentions, and the label of the relation from the first to the second."""

    document: str
    source: Mention
    target: Mention
    label: str


def read_table(
    piece: Piece,
    context: Context,
    row_of: Callable[[str], Row | None],
    shape: Rule,
    labels: Collection[str],
) -> Iterator[Document]:
    """Read a table of relations between mentions that are known by their ids alone; `row_of` reads a line."""
    rows: dict[str, list[tuple[int, Row]]] = {}
    for line, text in enumerate(text_lines(decode(piece.data, file=piece.name, line=1)), 1):
        if text.strip():
            row = row_of(text)
            if row is None:
                raise shape.error(f"found {quoted(text)}", file=piece.name, line=line, found=text[:60])
            rows.setdefault(row.document, []).append((line, row))
    for id_, numbered in rows.items():
        lines: dict[str, int] = {}
        mentions: dict[str, Mention] = {}
        for line, given in numbered:
            for mention in (given.source, given.target):
                mentions.setdefault(mention.id, mention)
                lines.setdefault(mention.id, line)
        ids = sorted(mentions, key=lambda id_: (id_.rstrip("0123456789"), len(id_), id_))
        relations = RelationLinks(id_, {name: name for name in ids}, piece.name, context.report)
        for line, given in numbered:
            relations.check_label(given.label, labels, line)
            relations.add(given.label, given.source.id, given.target.id, line)
        unit = context.options.unit or "char"
        document = Document(id_, unit=unit, mentions=tuple([mentions[name] for name in ids]))
        yield relations.added_to(document.at(Places(numbered[0][0], compact_lines([lines[name] for name in ids]))))
