"""Lists of mentions with clusters across documents, as WEC-Eng and pipelines for ECB+ and GVC have them. Only read.

    [{"mention_id": "108", "doc_id": "Family Values Tour", "topic_id": 3, "coref_chain": 7, "mention_type": 8,
      "mention_context": ["The", "tour", "began", "in", "May"], "tokens_number": [1], "tokens_str": "tour"}]

A file is a list of mentions, or has one mention per line. `tokens_number` lists tokens of `mention_context`. The
contexts of a document are laid one after the other, in the order of the file, equal ones once; each is a sentence of
the document. A system's contexts have the places that they have in gold, so that a missing mention does not move the
others; contexts that gold lacks come last.

`coref_chain` is the cluster in the whole corpus. A file that is given as the system is read by `predicted_coref_chain`
if any of its mentions has one other than `UNK`. `mention_type` is the attribute `type`. The topic of a document is the
`topic_id` of its first mention, unless that is -1. All mentions are of kind `event`. Other fields are not read.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from karat.formats._events import refuse_unit, typed
from karat.formats._forms import recognises
from karat.formats._json import record_of, values
from karat.formats._text import TWICE, of_many_documents
from karat.model import Document, Id, Mention, Places, compact_lines
from karat.plugin.formats import Context, Format, Piece
from karat.problems import KaratError, Rule, quoted
from karat.regions import runs

SHAPE = Rule(
    "wec-shape",
    "fatal",
    'A mention is {"doc_id": ..., "mention_context": [token, ...], "tokens_number": [0, ...], "coref_chain": ...}.',
)
UNKNOWN = (None, "", "UNK")
"""Values of a cluster that mean none."""

_Name = str | int | None


class _Mention(Struct, frozen=True):
    doc_id: Id
    mention_context: tuple[str, ...]
    tokens_number: tuple[int, ...]
    mention_id: _Name = None
    coref_chain: _Name = None
    predicted_coref_chain: _Name = None
    mention_type: _Name = None
    topic_id: _Name = None


_decoder = msgspec.json.Decoder(_Mention)


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read the mentions of a file, and return its documents."""
    refuse_unit(context.options.unit, "token", piece)
    gold = context.options.gold
    mentions: list[tuple[_Mention, Piece]] = []
    for value in values(piece):
        try:
            mentions.append((record_of(value, _decoder.decode, SHAPE, context), value))
        except KaratError as error:
            context.report(error.finding)
    is_predicted = any(mention.predicted_coref_chain not in UNKNOWN for mention, _ in mentions) and (
        gold is not None or all(mention.coref_chain in UNKNOWN for mention, _ in mentions)
    )
    documents: dict[str, _Reader] = {}
    for mention, value in mentions:
        if mention.doc_id not in documents:
            known = None if gold is None else gold.read(mention.doc_id)
            documents[mention.doc_id] = _Reader(mention, known)
        chain = mention.predicted_coref_chain if is_predicted else mention.coref_chain
        try:
            documents[mention.doc_id].add(mention, None if chain in UNKNOWN else str(chain), value, context)
        except KaratError as error:
            context.report(error.finding)
    for reader in documents.values():
        yield reader.document()


class _Reader:
    """Reads the mentions of a document."""

    def __init__(self, first: _Mention, gold: Document | None) -> None:
        self._id = first.doc_id
        self._topic = None if first.topic_id in (None, "", -1, "-1") else str(first.topic_id)
        self._forms: list[str] = []
        self._begins: dict[tuple[str, ...], int] = {}
        """The first token of each context."""
        self._sentences: list[tuple[int, int]] = []
        self._mentions: dict[str, tuple[Mention, int]] = {}
        """By id, each with its line."""
        if gold is not None and gold.forms is not None:
            for begin, end in gold.sentences:
                self._lay(gold.forms[begin:end])

    def _lay(self, context: tuple[str, ...]) -> None:
        """Add a context after the others."""
        self._begins.setdefault(context, len(self._forms))
        self._sentences.append((len(self._forms), len(self._forms) + len(context)))
        self._forms += context

    def add(self, mention: _Mention, cluster: str | None, value: Piece, context: Context) -> None:
        words = mention.mention_context
        id_ = f"m{len(self._mentions) + 1}" if mention.mention_id in (None, "") else str(mention.mention_id)
        if id_ in self._mentions:
            message = f"mention id {quoted(id_)} is used twice in document {quoted(self._id)}"
            raise TWICE.error(message, file=value.name, line=value.line, found=id_)
        tokens = mention.tokens_number
        text: str | None = None
        if tokens and all(0 <= token < len(words) for token in tokens):
            if words not in self._begins:
                self._lay(words)
            span = runs(self._begins[words] + token for token in tokens)
            text = " ".join(words[token] for token in sorted({*tokens}))
        else:
            found = quoted(str([*tokens]))
            message = f"mention {quoted(id_)} has the tokens {found}, but its context has {len(words):,}, from 0"
            finding = SHAPE.at(message, file=value.name, line=value.line)
            span = (context.misplaced(finding, (words, tokens)),)
        type_ = None if mention.mention_type is None else str(mention.mention_type)
        self._mentions[id_] = Mention(id_, span, cluster=cluster, attributes=typed(type_), text=text), value.line

    def document(self) -> Document:
        lines = [line for _, line in self._mentions.values()]
        return Document(
            self._id,
            topic=self._topic,
            unit="token",
            forms=tuple(self._forms),
            sentences=tuple(self._sentences),
            mentions=tuple([mention for mention, _ in self._mentions.values()]),
        ).at(Places(lines[0] if lines else 1, compact_lines(lines)))


FORMAT = Format(
    title="mention lists of WEC-Eng and other pipelines, JSON",
    about=__doc__,
    suffixes=(".wec.json", ".wec.jsonl"),
    unit="token",
    protocols=("simple-cdec", "pure-cdec"),
    sniff=recognises("wec"),
    read=read,
    identify=of_many_documents,
    refers_to_gold=True,
)
