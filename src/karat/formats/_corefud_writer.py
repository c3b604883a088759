"""Writing CorefUD: CoNLL-U with words, empty nodes and entities; all other columns are empty.

    # newdoc id = D1
    # global.Entity = eid-etype-head-other
    # sent_id = D1-1
    1     She     _   ...   _           Entity=(e1-person-1)
    2     says    _   ...   _           Entity=(e2--1)
    2.1   _       _   ...   2:nsubj     Entity=(e1-person-1)

Entities are numbered in the order in which they appear. Of the attributes of mentions, `type` and `other` are written.
Without sentences, a document is one sentence.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator
from itertools import chain, pairwise, starmap

from karat.formats._clustered_writing import Placed, length, numbered, placed_mentions, report_losses, words
from karat.formats._columns import LONGEST_TEXT
from karat.model import Document, EmptyNode, Mention, Region
from karat.plugin.formats import ReportLoss
from karat.problems import Rule, quoted
from karat.regions import is_within, size, union

UNWRITABLE = Rule(
    "corefud-unwritable", "fatal", "CorefUD holds spans of whole tokens and ids of one line; jsonl holds everything."
)
FIELDS = "eid-etype-head-other"
NOTHING = "_"

_ESCAPED = re.compile(r"[-()|\s]")


def write(document: Document, report_loss: ReportLoss) -> bytes:
    """The lines of one document; what CorefUD cannot hold is reported."""
    if re.search(r"\A\s|[\n\0]|\s\Z", document.id):
        raise UNWRITABLE.error(f"the document id {quoted(document.id)} cannot be written after # newdoc id =")
    report_losses(
        document,
        UNWRITABLE,
        report_loss,
        holds=("forms", "sentences", "sentence_ids", "empty_nodes"),
        attributes=("type", "other"),
        regions=("head",),
    )
    placed = placed_mentions(document, UNWRITABLE, report_loss, _as_written)
    return "\n".join(_Page(document, placed, report_loss).lines()).encode("utf-8")


def _as_written(mention: Mention, span: Region) -> tuple[Region, Hashable]:
    return union(span, touching=True), (mention.head, *(mention.attributes.get(name) for name in ("type", "other")))


class _Page:
    """The lines of a document."""

    def __init__(self, document: Document, placed: list[Placed], report_loss: ReportLoss) -> None:
        self._document, self._report_loss = document, report_loss
        self._nodes = {node.token: node for node in document.empty_nodes}
        self._count = max(length(document, placed), *(token + 1 for token in self._nodes), 0)
        known = words(document, placed)
        self._forms = [known.get(token, "" if token in self._nodes else NOTHING) for token in range(self._count)]
        ordered = numbered(placed, report_loss, share=True)
        if [place.mention.id for place in ordered] != [place.mention.id for place in placed]:
            report_loss("the order of mentions")
        self._begins: dict[int, list[str]] = {}
        self._ends: dict[int, list[str]] = {}
        for mention in ordered:
            self._add(mention)

    def _add(self, placed: Placed) -> None:
        """Add the brackets of a mention."""
        mention, span, number = placed
        if self._document.unit == "token" and span != mention.span:
            self._report_loss("segments of spans that touch each other (written as one)")
        if mention.text is not None and mention.text != self._text(span):
            self._report_loss("the text of mentions")
        fields = "".join([f"-{field}" for field in self._fields(mention, span)])
        for piece, (begin, end) in enumerate(span, 1):
            id_ = f"e{number + 1}" if len(span) == 1 else f"e{number + 1}[{piece}/{len(span)}]"
            if end - begin == 1:
                self._begins.setdefault(begin, []).append(f"({id_}{fields})")
            else:
                self._begins.setdefault(begin, []).append(f"({id_}{fields}")
                self._ends.setdefault(end - 1, []).insert(0, f"{id_})")

    def _fields(self, mention: Mention, span: Region) -> list[str]:
        """Type, head and other, without empty ones at the end."""
        type_, other = (self._value(mention, name) for name in ("type", "other"))
        head = ""
        if mention.head is not None and self._document.unit == "token":
            if size(mention.head) == 1 and is_within(mention.head, span):
                head = str(1 + [*chain(*starmap(range, span))].index(mention.head[0][0]))
            else:
                self._report_loss("heads that are not one word of their mentions")
        elif mention.head is not None:
            self._report_loss("the head of mentions")
        fields = [type_, head or ("0" if other else ""), other]
        while fields and not fields[-1]:
            fields.pop()
        return fields

    def _value(self, mention: Mention, name: str) -> str:
        value = mention.attributes.get(name, "")
        if not isinstance(value, str) or (not value and name in mention.attributes):
            self._report_loss(f"the attribute {name}")
            return ""
        escaped = _ESCAPED.sub(lambda match: "".join([f"%{byte:02X}" for byte in match[0].encode()]), value)
        if escaped != value:
            self._report_loss(f"characters of the attribute {name} (written as %2D, ...)")
        return escaped

    def _text(self, span: Region) -> str | None:
        """The text of a mention as it will be read."""
        if size(span) > LONGEST_TEXT:
            return None
        return " ".join([form for begin, end in span for form in self._forms[begin:end] if form]) or None

    def lines(self) -> Iterator[str]:
        document = self._document
        yield f"# newdoc id = {document.id}"
        yield f"# global.Entity = {FIELDS}"
        sentences = [*pairwise(sorted({0, self._count, *chain(*document.sentences)}))]
        if document.sentences and sentences != [*document.sentences]:
            self._report_loss("that tokens are in no sentence")
        if any(self._crosses(mention.span, sentences) for mention in document.mentions):
            self._report_loss("mentions across the end of a sentence, which is a fault in CorefUD")
        ids = dict(zip(document.sentences, document.sentence_ids, strict=False))
        for sentence in sentences:
            if id_ := ids.get(sentence):
                if re.search(r"\A\s|\n|\s\Z", id_):
                    self._report_loss("ids of sentences")
                else:
                    yield f"# sent_id = {id_}"
            yield from self._sentence(range(*sentence))
            yield ""
        yield ""

    def _crosses(self, span: Region, sentences: list[tuple[int, int]]) -> bool:
        ends = [end for _, end in sentences[:-1]] if self._document.unit == "token" else []
        return bool(span) and bisect_right(ends, span[0][0]) != bisect_left(ends, span[-1][1])

    def _sentence(self, tokens: range) -> Iterator[str]:
        ids: dict[int | None, str] = {None: "0"}
        word = 0
        for token in tokens:
            node = self._nodes.get(token)
            word += node is None
            ids[token] = str(word) if node is None else f"{word}.{node.number}"
        for token in tokens:
            node = self._nodes.get(token)
            dependencies = NOTHING if node is None else "|".join(self._dependencies(node, ids)) or NOTHING
            entities = "".join([*self._ends.get(token, ()), *self._begins.get(token, ())])
            form = self._forms[token] or NOTHING
            yield "\t".join([ids[token], form, *"______", dependencies, f"Entity={entities}" if entities else NOTHING])

    def _dependencies(self, node: EmptyNode, ids: dict[int | None, str]) -> Iterator[str]:
        for parent, relation in node.dependencies:
            if parent in ids and not re.search(r"[\t\n|]", relation):
                yield f"{ids[parent]}:{relation}"
            else:
                self._report_loss("dependencies of empty nodes")
