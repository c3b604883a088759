"""brat standoff: a file of annotations (`.ann`) beside each text (`.txt`), one annotation per line.

    T1  Life_Die 20 26;31 44    killed the president    text bound: label, segments, text (pieces joined by a blank)
    E1  Life_Die:T1 Victim:T4 Place:T5                  event: type and trigger, then roles and arguments
    A1  Realis E1 Actual                                attribute (also M1); without a value it is true
    R1  Coreference Arg1:E1 Arg2:E2                     relation, from Arg1 to Arg2
    *   Equiv T2 T3                                     equivalence of any number of annotations
    N1  Reference T1 Wikipedia:Q1   text                normalisation: not read, with a note
    #1  AnnotatorNotes T1   text                        comment: not read

An event is a mention of kind `event` at its trigger. Text bounds that trigger no event are mentions of kind `entity`,
except in a corpus without any event (LitBank), where the text bounds themselves are the events. A reference to a
trigger means its event. Mentions are in the order of their lines.

`Coreference` and `Equiv` make clusters, closed transitively. So do other relations whose name starts with `coref` in
any case (`Coref_Of`, `Coreference-Link`), with a note, and those that `--coreference NAME` names. Names
that may mean the same (`SameAs`, `Identity`) are only noted. Arguments become links whose kind is the role (`Victim2`
is another `Victim`). Other relations become links whose kind is their name in lower case.

The id of a document is the name of its file without `.ann`. In the BioNLP shared tasks, a document has several files:
`.a1` (given entities, which are never events), `.a2` (events; in 2009 also `.a2.t1` to `.a2.t123`) and `.rel`
(relations). They are read as one document, named after the files. A system's file without `.a1` or `.txt` beside it
takes them from gold.

Offsets count code points of the text. A line end counts as one, even if it is two characters in the file (CRLF). In an
annotation's own text, line ends and tabs are written as blanks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from karat.formats._brat_lines import Place, Records, Relation, TextBound
from karat.formats._brat_writer import plan, write
from karat.formats._events import default_realis
from karat.formats._text import DANGLING, SINGLETON, decode, named_after_file, stem
from karat.inputs import read_bytes
from karat.model import Declared, Document, Line, Link, Mention, Places, Value, compact_lines, qualified
from karat.plugin.formats import Completion, Context, Facts, Format, Piece
from karat.problems import KaratError, Rule
from karat.regions import union

UNDECIDED = "text-bound"
"""The kind of text bounds in a document without events: the corpus decides what they are."""

GIVEN, EVENTS, RELATIONS = ".a1", (".a2", ".a2.t1", ".a2.t12", ".a2.t13", ".a2.t123"), ".rel"
"""Files of the BioNLP shared tasks: given entities, and what is to be found (in 2009 for a choice of three tasks)."""
FOUND = (*EVENTS, RELATIONS)
SUFFIXES = (".ann", *FOUND, GIVEN)

UNIT = Rule("brat-unit", "fatal", "Omit --unit token; brat counts characters.")
NO_TEXT = Rule("text-missing", "note", "Put the text beside the annotations so that they can be checked against it.")
ATTRIBUTE_TWICE = Rule("attribute-twice", "fault", "Give each attribute of an annotation once; the first one counts.")
SHARED_TRIGGER = Rule("brat-trigger-shared", "note", "Name the event itself, not its trigger; the first one is used.")
COREFERENCE = Rule("brat-coreference", "note", "No action needed if these relations are coreference; else rename them.")
IDENTITY = Rule("brat-identity", "note", "If these relations are coreference, add --coreference with their name.")

_LETTERS = re.compile(r"[^a-z]+", re.IGNORECASE)
"""Characters left out of a name before it is compared."""
_IDENTITY = re.compile(
    r"(is)?same(as|event|entity|referent|mention|object)?|(is)?ident(ity|ical)(to|with)?|(is)?equiv(alent|alence)?(to|with)?"
    r"|cospecifi(es|cation)|anaphor(a|ic)?",
    re.IGNORECASE,
).fullmatch
"""Names of relations that may be meant as coreference."""
_BEGINNING = re.compile(
    rb"\s*(T\w+\t\S+ \d+ \d+[;\t ]|E\w+\t\S+:T\w+\s|[RAM]\w+\t\S+ \S|N\w+\tReference |#\w+\t\S+ [TERAMN]\w|\*\t\S+ T)"
)


def sniff(head: bytes) -> bool:
    """The first line is an annotation."""
    return _BEGINNING.match(head) is not None


def complete(facts: Facts) -> Completion:
    """Text bounds are entities in a corpus with any event; else they are the events."""
    kinds = {UNDECIDED: "entity" if "event" in facts.kinds else "event"} if UNDECIDED in facts.kinds else {}
    return Completion(kinds, default_realis(facts.renamed(kinds)).attributes)


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """The document of a file; after an error, what is before it, so that it can be checked."""
    try:
        if context.options.unit == "token":
            raise UNIT.error("offsets of a brat file do not count tokens", file=piece.name)
        document = _document(piece, context)
    except KaratError as error:
        context.report(error.finding)
        document = _part(piece, context, error.finding.line if error.finding.file == piece.name else None)
    yield document


def _part(piece: Piece, context: Context, line: int | None) -> Document:
    """The document before a line that cannot be read; empty if that cannot be read either."""
    if line is not None and line > 1:
        data = b"\n".join(piece.data.split(b"\n")[: line - 1])
        with suppress(KaratError):
            return _document(piece._replace(data=data), Context(context.options))
    return Document(stem(piece.name, SUFFIXES)).at(Places(1))


def _document(piece: Piece, context: Context) -> Document:
    """The mentions, clusters and links of one document."""
    file, name = piece.name, piece.name.lower().removesuffix(".gz")
    records = Records(context)
    is_bionlp = name.endswith((GIVEN, *FOUND))
    text, parts, lacking = _text_beside(file), [file], ""
    if is_bionlp:
        others = [
            [file] if name.endswith(suffixes) else _beside(file, *suffixes)
            for suffixes in ((GIVEN,), EVENTS, (RELATIONS,))
        ]
        parts = [path for found in others for path in found]
        gold = context.options.gold
        if gold is not None and not others[0] and (document := gold.read(stem(file, SUFFIXES))) is not None:
            text = document.text if text is None else text
            for bound in _given(document, file):
                records.give(bound)
        elif not others[0]:
            lacking = f", and there is no {stem(file, SUFFIXES)}{GIVEN} beside the file"
    for part, path in enumerate(parts, 1):
        data = piece.data if path == file else read_bytes(Path(path))
        records.read(decode(data, file=path, line=1), Place(part, 1, path))
    if text is None:
        message = f"there is no {stem(file, SUFFIXES)}.txt beside it, so annotations are not checked against the text"
        context.report(NO_TEXT.at(message, file=file))
    coreference = frozenset(name.lower() for name in context.options.coreference)
    bare = "entity" if is_bionlp or records.events else UNDECIDED
    return _Reader(records, coreference, bare, lacking).document(file, text)


def _given(gold: Document, file: str) -> Iterator[TextBound]:
    """The entities of gold's `.a1`, for a system's file: those in another file than its events, if it has any."""
    places = () if gold.places is None else gold.places.mentions
    has_events = any(mention.kind == "event" for mention in gold.mentions)
    for mention, place in zip(gold.mentions, places, strict=False):
        if not isinstance(place, int) or not has_events:
            where = Place(0, place, file) if isinstance(place, int) else Place(0, place[1], place[0])
            yield TextBound(mention.id, where, str(mention.attributes["type"]), mention.span, mention.text or "")


def _beside(file: str, *suffixes: str) -> list[str]:
    """The file of the same name with one of these suffixes, if there is any."""
    written = [each for suffix in suffixes for each in (suffix, suffix.upper())]
    paths = [Path(file).with_name(stem(file, SUFFIXES) + suffix) for suffix in written]
    return [str(path) for path in paths if path.is_file()][:1]


def _text_beside(file: str) -> str | None:
    for path in _beside(file, ".txt"):
        return decode(read_bytes(Path(path)), file=path, line=1).replace("\r\n", "\n")
    return None


class _Reader:
    """Combines the records of a document."""

    def __init__(self, records: Records, coreference: frozenset[str], bare: str, lacking: str) -> None:
        self._records = records
        self._lacking = lacking
        """Said of ids that are not known, if the file that may have them is missing."""
        self._bare = bare
        """The kind of text bounds that trigger no event."""
        self._coreference = coreference
        """Names of further relations that are coreference, in lower case."""
        self._triggered: dict[str, list[str]] = {}
        self._mentions: dict[str, Mention] = {}

    def document(self, file: str, text: str | None) -> Document:
        id_ = stem(file, SUFFIXES)
        for event in self._records.events.values():
            if event.trigger in self._records.bounds:
                self._triggered.setdefault(event.trigger, []).append(event.id)
            else:
                message = f"event {event.id} has the trigger {event.trigger!r}, which is not a text bound"
                self._records.report(DANGLING, event.place, f"{message}; the event is ignored")
        placed = sorted(self._placed_mentions(), key=lambda pair: pair[0])
        self._mentions = {mention.id: mention for _, mention in placed}
        attributes = self._attributes()
        links = [*self._links()]
        clusters = self._clusters(id_)
        self._report_names()
        document = Document(
            id_,
            text=text,
            mentions=tuple(
                Mention(m.id, m.span, None, None, None, m.kind, clusters.get(m.id), attributes[m.id], m.text)
                for m in self._mentions.values()
            ),
            links=tuple([link for _, link in links]),
        )
        mention_lines = _lines([place for place, _ in placed], file)
        places = Places(1, mention_lines, links=_lines([place for place, _ in links], file))
        names = {relation.name for relation in self._records.relations if relation.id != "*"}
        return document.at(places, Declared(relations=names))

    def _placed_mentions(self) -> Iterator[tuple[Place, Mention]]:
        """Events at their triggers, and the other text bounds, each with its place."""
        records = self._records
        for bound in records.bounds.values():
            if bound.id not in self._triggered:
                yield bound.place, _mention(bound.id, bound, self._bare, bound.label)
        for trigger, events in self._triggered.items():
            for event in map(records.events.__getitem__, events):
                yield event.place, _mention(event.id, records.bounds[trigger], "event", event.type)

    def _attributes(self) -> dict[str, dict[str, Value]]:
        attributes = {mention.id: dict(mention.attributes) for mention in self._mentions.values()}
        for id_, place, name, owner, value in self._records.attributes:
            for target in self._triggered.get(owner, [owner]):
                if target not in attributes:
                    self._dangling(place, id_, target)
                elif attributes[target].setdefault(name, value) != value:
                    message = f"{target} already has the {name} {attributes[target][name]!r}"
                    self._records.report(ATTRIBUTE_TWICE, place, f"{message}; {value!r} is ignored")
        return attributes

    def _links(self) -> Iterator[tuple[Place, Link]]:
        for event in self._records.events.values():
            for role, argument in event.arguments:
                target = self._resolved(argument, event.place, f"{role} of {event.id}")
                if target is not None and event.id in self._mentions:
                    yield event.place, Link(role, event.id, target)
        for relation in self._records.relations:
            if not self._is_coreference(relation):
                source, target = (self._resolved(end, relation.place, relation.id) for end in relation.ends)
                if source is not None and target is not None:
                    yield relation.place, Link(relation.name.lower(), source, target)

    def _is_coreference(self, relation: Relation) -> bool:
        name = relation.name.lower()
        return relation.id == "*" or name.startswith("coref") or name in self._coreference

    def _clusters(self, document: str) -> dict[str, str]:
        """The cluster of each mention that is not alone in one, named after its first mention."""
        classes = _Classes()
        for relation in filter(self._is_coreference, self._records.relations):
            if len(relation.ends) < 2:
                message = f"{relation.name} with {len(relation.ends)} member(s)"
                self._records.report(SINGLETON, relation.place, message)
            what = f"{relation.name} ({relation.id})"
            ends = [self._resolved(end, relation.place, what) for end in relation.ends]
            classes.join(end for end in ends if end is not None)
        members: dict[str, list[str]] = {}
        for id_ in self._mentions:
            members.setdefault(classes.find(id_), []).append(id_)
        return {id_: qualified(document, ids[0]) for ids in members.values() if len(ids) > 1 for id_ in ids}

    def _report_names(self) -> None:
        """Report relations that are taken for coreference by the beginning of their name, or that may be meant so."""
        relations = [relation for relation in self._records.relations if relation.id != "*"]
        names = Counter((relation.name, self._is_coreference(relation)) for relation in relations)
        for (name, is_coreference), count in names.items():
            first = next(relation.place for relation in self._records.relations if relation.name == name)
            if not is_coreference and _IDENTITY(_LETTERS.sub("", name)):
                message = f"relations called {name} are not read as coreference ({count:,} here)"
                self._records.report(IDENTITY, first, message)
            elif is_coreference and name.lower() not in ("coreference", *self._coreference):
                message = f"relations called {name} are read as coreference ({count:,} here)"
                self._records.report(COREFERENCE, first, message)

    def _resolved(self, id_: str, place: Place, what: str) -> str | None:
        """The mention that an id names: itself, or the event that it triggers."""
        if id_ in self._mentions:
            return id_
        if id_ not in self._triggered:
            self._dangling(place, what, id_)
            return None
        events = self._triggered[id_]
        if len(events) > 1:
            message = f"{what} names {id_!r}, the trigger of {' and '.join(events)}"
            self._records.report(SHARED_TRIGGER, place, message)
        return events[0]

    def _dangling(self, place: Place, what: str, id_: str) -> None:
        message = f"{what} names {id_!r}, which is not a mention of this document{self._lacking}"
        self._records.report(DANGLING, place, message)


class _Classes:
    """Sets that are joined where they share a member."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def find(self, id_: str) -> str:
        """The member that represents an id's set."""
        parents = self._parents
        while (parent := parents.get(id_, id_)) != id_:
            parents[id_] = parents.get(parent, parent)
            id_ = parent
        return id_

    def join(self, ids: Iterable[str]) -> None:
        """Join the sets of all these ids."""
        for first, second in pairwise(ids):
            self._parents[self.find(second)] = self.find(first)


def _mention(id_: str, bound: TextBound, kind: str, type_: str) -> Mention:
    span = union(bound.segments)
    # The text of a bound follows its segments as written; merged or sorted segments would read differently.
    text = bound.text if span == bound.segments else ""
    return Mention(id_, span, kind=kind, attributes={"type": type_}, text=text or None)


def _lines(places: Sequence[Place], file: str) -> Sequence[Line]:
    """Lines of a file, and, of another file beside it, its name with the line."""
    if all(place.file == file for place in places):
        return compact_lines([place.line for place in places])
    return [place.line if place.file == file else (place.file, place.line) for place in places]


FORMAT = Format(
    title="brat standoff, .ann beside .txt; BioNLP .a1, .a2, .rel",
    about=__doc__,
    suffixes=SUFFIXES,
    unit="char",
    protocols=("tac-2017",),
    sniff=sniff,
    read=read,
    identify=named_after_file(SUFFIXES),
    write=write,
    plan=plan,
    folder="always",
    companions=(".txt", GIVEN, RELATIONS),
    complete=complete,
    refers_to_gold=True,
    global_ids="none",
)
