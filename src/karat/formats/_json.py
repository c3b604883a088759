"""JSON that several formats read: objects of a file, decoded, each with its line."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec

from karat.decoding import explained
from karat.formats._keys import holds_all, repeated_key
from karat.formats._text import decode
from karat.model import Document, Id, Places, compact_lines
from karat.plugin.formats import Context, Marker, Piece, ReadOptions
from karat.problems import KaratError, Rule, quoted
from karat.regions import NO_OFFSET

BROKEN = Rule("json-broken", "fatal", "Write one JSON object per line, or one list of objects.")
OFFSET = Rule("json-offset", "fatal", "Write offsets as whole numbers, 0 or more.")
KEY_TWICE = Rule("json-key-twice", "fatal", "Write each key of an object once; only one of the values could be read.")

T = TypeVar("T")

ADVICE = "give JSON alone, with double quotes and without trailing commas"

Unreadable = msgspec.DecodeError, UnicodeDecodeError, RecursionError
_any = msgspec.json.Decoder()
_raw = msgspec.json.Decoder(msgspec.Raw)
_list = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BEFORE_ELEMENT = re.compile(rb"[\s,\[]*")
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BEFORE_ENTRY = re.compile(rb'[\s,{]*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*', re.DOTALL)


def is_value(data: bytes) -> bool:
    """Return whether data are one JSON value."""
    try:
        _raw.decode(data)
    except Unreadable:
        return False
    return True


def is_truncated(data: bytes) -> bool:
    """Return whether data are the beginning of a JSON value."""
    try:
        _raw.decode(data)
    except Unreadable as error:
        return "truncated" in str(error)
    return False


def elements(piece: Piece) -> Iterator[Piece]:
    """Split the list that a piece is."""
    decoded_elements = decoded(_list.decode, piece.data, BROKEN, file=piece.name, line=piece.line)
    return _located(piece, (("", element) for element in decoded_elements), _BEFORE_ELEMENT)


def entries(piece: Piece) -> Iterator[Piece]:
    """Split the object that a piece is; the key of an entry is the id of its piece."""
    by_key = decoded(_object.decode, piece.data, BROKEN, file=piece.name, line=piece.line)
    refuse_repeated_keys(piece.data, file=piece.name, line=piece.line)
    return _located(piece, by_key.items(), _BEFORE_ENTRY)


def _located(piece: Piece, values: Iterable[tuple[str, msgspec.Raw]], before: re.Pattern[bytes]) -> Iterator[Piece]:
    """Values of a piece in its order, each with its line; `before` matches the bytes in front of a value."""
    end, line = 0, piece.line
    for key, value in values:
        match = before.match(piece.data, end)
        assert match is not None, "the data were decoded before"
        line += piece.data.count(b"\n", end, match.end())
        data = bytes(value)
        yield Piece(piece.name, data, line, key)
        end = match.end() + len(data)
        line += data.count(b"\n")


def refuse_repeated_keys(data: bytes, *, file: str, line: int) -> None:
    """Refuse an object that gives a key twice."""
    # Fields that a format does not read were skipped before, and may hold anything.
    value = decoded(_any.decode, data, BROKEN, file=file, line=line)
    repeated = repeated_key(data, value)
    if repeated is not None:
        message = f"the key {quoted(repeated)} is given twice in one object"
        line += data.count(b"\n", 0, max(data.rfind(msgspec.json.encode(repeated)), 0))
        raise KEY_TWICE.error(message, file=file, line=line, found=repeated)


def decoded(decode: Callable[[bytes], T], data: bytes, rule: Rule, *, file: str, line: int) -> T:
    """Decode data; the error for data that cannot be decoded says where."""
    try:
        return decode(data)
    except Unreadable as error:
        raise _refusal(error, data, rule, file=file, line=line) from None


def _refusal(error: Exception, data: bytes, rule: Rule, *, file: str, line: int) -> KaratError:
    """The error for data that cannot be decoded."""
    message = explained(error)
    if isinstance(error, RecursionError):
        return rule.error(message, file=file, line=line)
    text = decode(data, file=file, line=line)
    if "truncated" in str(error):
        return rule.error(message, file=file, line=line + data.rstrip().count(b"\n"), found="")
    if byte := re.search(r"\(byte (\d+)\)", str(error)):
        at = int(byte[1]) - ("trailing characters" in str(error))
        found = data[at:].decode("utf-8", "replace").rstrip()
        message = f"{message}: found {quoted(found[:20])}; {ADVICE}" if found else message
        return rule.error(message, file=file, line=line + data.count(b"\n", 0, at), found=found[:1])
    field = re.search(r"field `(\w+)`", str(error))
    place = text.find(f'"{field[1]}"') if field else -1
    if field is None or place < 0:
        return rule.error(message, file=file, line=line)
    return rule.error(message, file=file, line=line + text.count("\n", 0, place), found=f'"{field[1]}"')


_OFFSET_EXPECTED = re.compile(r"Expected `int(?: \| str)?`, got `\w+` - at `\$((?:\.\w+|\[\d+\])+)`")
_STEP = re.compile(r"\w+")


def with_offsets(decode: Callable[[bytes], T], value: Piece, context: Context) -> Callable[[bytes], T]:
    """Return a decoder that also takes 5.0 for 5, and reports other offsets of a system that are no whole numbers."""

    def decode_any(data: bytes) -> T:
        try:
            return decode(data)
        except msgspec.ValidationError as error:
            problem = error
        values = _any.decode(data)
        while place := _OFFSET_EXPECTED.fullmatch(str(problem)):
            holder, *steps = values, *[int(step) if step.isdigit() else step for step in _STEP.findall(place[1])]
            for step in steps[:-1]:
                holder = holder[step]
            written = holder[steps[-1]]
            if isinstance(written, float) and written.is_integer():
                holder[steps[-1]] = int(written)
            elif context.options.is_system:
                context.misplaced(OFFSET.at(explained(problem), file=value.name, line=value.line), written)
                holder[steps[-1]] = NO_OFFSET
            else:
                break
            try:
                return decode(msgspec.json.encode(values))
            except msgspec.ValidationError as error:
                problem = error
        raise problem

    return decode_any


def lines_with(key: str, id_of: Callable[[str], str] = str) -> Marker:
    """Find a document in each line; this key has its id, or a name from which `id_of` makes it."""
    decoder = msgspec.json.Decoder(msgspec.defstruct("Head", [(key, Id)]))

    def find_id(line: bytes) -> str:
        try:
            return id_of(getattr(decoder.decode(line), key))
        except Unreadable:
            return ""

    return Marker(pattern=re.compile(rb"\S[^\n]*"), find_id=find_id, applies=_has_values_in_lines)


def _has_values_in_lines(lines: Iterable[bytes], options: ReadOptions) -> bool:
    del options
    return _is_first_of_lines(next(iter(lines), b""))


def _is_first_of_lines(line: bytes) -> bool:
    """Return whether a file with this first line has one value per line: no list, no value over several lines."""
    return not line.lstrip().startswith(b"[") and not is_truncated(line)


def each_value(read: Callable[[Piece, Context], Document]) -> Callable[[Piece, Context], Iterator[Document]]:
    """Read each value of a piece as a document; of a file that is read whole, report those that cannot be read."""

    def read_values(piece: Piece, context: Context) -> Iterator[Document]:
        if piece.line > 1 or _is_first_of_lines(piece.data.lstrip().partition(b"\n")[0]):
            yield _placed(read(piece, context), piece)
            return
        for value in values(piece):
            try:
                document = read(value, context)
            except KaratError as error:
                context.report(error.finding)
            else:
                yield _placed(document, value)

    return read_values


def values(piece: Piece) -> Iterator[Piece]:
    """Split a file that is read whole: a list, a single value, or lines of which the first is broken.

    Where the second line does not begin an object, a broken value is pretty-printed.
    """
    data = piece.data.lstrip()
    if data.startswith(b"["):
        yield from elements(piece)
    elif data and (is_value(data) or not data.partition(b"\n")[2].lstrip().startswith(b"{")):
        yield Piece(piece.name, data, piece.line + piece.data.count(b"\n", 0, len(piece.data) - len(data)))
    else:
        for line, data in enumerate(piece.data.split(b"\n"), piece.line):
            if data and not data.isspace():
                yield Piece(piece.name, data, line)


def record_of(
    value: Piece, decoder: msgspec.json.Decoder[T], rule: Rule, context: Context, *, is_whole: bool = False
) -> T:
    """Decode a value; a value of another shape is refused by the rule.

    `is_whole`: encoded, a record has only fields of the value, and usually all, so that it shows if a key is repeated.
    """
    decode = with_offsets(decoder.decode, value, context)
    record = decoded(decode, value.data, rule, file=value.name, line=value.line)
    if not (is_whole and holds_all(record, value.data)):
        refuse_repeated_keys(value.data, file=value.name, line=value.line)
    return record


def _placed(document: Document, value: Piece) -> Document:
    """Add the line of each mention, that of the first string that is its id, and of each link.

    A link is at its key `from`, or, if not all links are read or have one, where its source is.
    """
    data, line = value.data.rstrip(), value.line
    if b"\n" not in data:
        return document.at(Places(line))
    lines: dict[bytes, int] = {}
    link_lines: list[int] = []
    number, end = line, 0
    for match in STRING.finditer(data):
        number, end = number + data.count(b"\n", end, match.start()), match.start()
        lines.setdefault(match[0], number)
        if match[0] == b'"from"':
            link_lines.append(number)

    def line_of(id_: str) -> int:
        return lines.get(msgspec.json.encode(id_), line)

    mentions = compact_lines([line_of(mention.id) for mention in document.mentions])
    if len(link_lines) != len(document.links):
        link_lines = [line_of(link.source) for link in document.links]
    return document.at(Places(line, mentions, links=compact_lines(link_lines)))


TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]:,]', re.DOTALL)


class Field:
    """The value of a key: how it begins, and the keys of the objects in it."""

    def __init__(self) -> None:
        self.opens = b""
        """Its first byte, if it is an object, a list or a string."""
        self.keys: set[str] = set()
        """Keys of the object that it is, or of those in the list that it is."""
        self.is_empty = False
        """True for an empty object or list."""


Fields = Mapping[str, Field]


class _Keys(msgspec.Struct, frozen=True):
    """The keys by which a form is recognised."""

    all_of: tuple[str, ...]
    one_of: tuple[str, ...]
    none_of: tuple[str, ...]

    def __call__(self, fields: Fields) -> bool:
        """Return whether a file with these fields has the form."""
        return (
            fields.keys() >= set(self.all_of)
            and (not self.one_of or not fields.keys().isdisjoint(self.one_of))
            and fields.keys().isdisjoint(self.none_of)
        )

    def missing(self, fields: Fields) -> list[str]:
        """The keys that these fields lack; alternatives are one."""
        missing = [quoted(key) for key in self.all_of if key not in fields]
        lacks_alternative = self.one_of and fields.keys().isdisjoint(self.one_of)
        return [*missing, " or ".join(map(quoted, self.one_of[:2]))] if lacks_alternative else missing

    def share(self, fields: Fields) -> float:
        return 1 - len(self.missing(fields)) / (len(self.all_of) + bool(self.one_of))


def _has(*keys: str, one_of: tuple[str, ...] = (), none_of: tuple[str, ...] = ()) -> _Keys:
    return _Keys(keys, one_of, none_of)


def _is_muc4_system(fields: Fields) -> bool:
    """Documents by number, as GRIT and GTT write them, or one document with its templates, as IterX does."""
    first = next(iter(fields.values()))
    if first.opens == b"{":
        return not first.keys.isdisjoint({"pred_templates", "pred_extracts"})
    return len(fields) == 1 and first.opens == b"[" and ("incident_type" in first.keys or first.is_empty)


def _is_unified(fields: Fields) -> bool:
    """The form of MAVEN-Arg's own scorer and of OmniEvent."""
    return fields.keys() >= {"text", "events"} and "triggers" in fields["events"].keys


def _is_fewfc(fields: Fields) -> bool:
    """Events in the characters of a text: FewFC, or the form of DuEE. MAVEN's `content` is a list of sentences."""
    text = fields.get("content", fields.get("text"))
    if text is None or text.opens != b'"':
        return False
    events = fields.get("events", Field())
    return "event_list" in fields or "mentions" in events.keys or (events.is_empty and "content" in fields)


def _is_answer(fields: Fields) -> bool:
    """Events without offsets, whose trigger is a string."""
    if not fields.keys() >= {"id", "events"}:
        return False
    events = fields["events"]
    return ("trigger" in events.keys and events.keys.isdisjoint(_OFFSETS)) or (
        events.is_empty and fields.keys() <= {"id", "events", "text"}
    )


_OFFSETS = {"start", "end", "offset", "offsets", "span", "begin"}

JSONL = "jsonl"
COREFERENCE = "wikievents-coreference"
FILLED_TEMPLATES = "gen-arg"
NO_FORMATS = COREFERENCE, FILLED_TEMPLATES

_DYGIE = ("events", "ner", "relations", "predicted_events", "predicted_ner", "predicted_relations")

_MAVEN_ERE = ("TIMEX", "temporal_relations", "causal_relations", "subevent_relations", "coreference")

FORMS: tuple[tuple[str, Callable[[Fields], bool]], ...] = (
    ("textee", _has("wnd_id", "event_mentions")),
    ("oneie", _has("sent_id", one_of=("event_mentions", "graph"))),
    ("oneie", _has("sent_id", "gold", "pred")),
    ("wikievents", _has("doc_id", "event_mentions")),
    (FILLED_TEMPLATES, _has("doc_key", "predicted", "gold", none_of=("gold_evt_links",))),
    ("rams", _has("doc_key", one_of=("gold_evt_links", "predictions"))),
    ("e2e", _has("doc_key", "sentences", "constituents", "clusters")),
    ("dygie", _has("doc_key", "sentences", one_of=_DYGIE)),
    ("e2e", _has("doc_key", "sentences", one_of=("clusters", "predicted_clusters"))),
    ("preco", _has("id", "sentences", "mention_clusters")),
    ("wec", _has("doc_id", "mention_context", "tokens_number")),
    (COREFERENCE, _has("doc_key", "clusters", none_of=("sentences", "tokens", "predicted_clusters"))),
    ("muc4", _has("docid", one_of=("templates", "extracts"))),
    ("muc4", _is_muc4_system),
    ("casie", _has("content", "cyberevent")),
    ("fewfc", _is_fewfc),
    ("answers", _is_answer),
    ("maven-ere", _has("id", one_of=_MAVEN_ERE)),
    ("maven", _has("id", "events", one_of=("document", "content"))),
    ("maven", _has("id", "content", "candidates")),
    ("maven", _has("id", "preds")),
    ("maven", _is_unified),
)
"""Forms of JSON files, in the order in which they are tried."""


@lru_cache(maxsize=4)
def form(head: bytes) -> str | None:
    """The name of the form of a file that begins with these bytes; None if it is not known."""
    if (bare := _BARE.match(head)) is not None:
        head = head[bare.end() :]
    fields = first_fields(head)
    if not fields or fields.keys() >= {"id", "mentions"}:
        return JSONL if fields else None
    known = next((name for name, recognises in FORMS if recognises(fields)), None)
    return JSONL if known is None and "id" in fields and fields.keys() <= _OWN else known


_BARE = re.compile(rb'(?:\s*\{\s*"id"\s*:\s*"[^"\\]*"\s*\}\s*(?=\{))+')
"""Documents of which only the id is given, before one that shows the form."""
_OWN = {field.encode_name for field in msgspec.structs.fields(Document)}
"""The fields of a document in karat's own format."""
LISTED = 12


def unknown_form(head: bytes) -> str | None:
    """Describe a file whose form is not known by its keys and the nearest form; None if it is known, or has no keys."""
    fields = first_fields(head)
    if not fields or form(head) is not None:
        return None
    more = f" and {len(fields) - LISTED:,} more" if len(fields) > LISTED else ""
    message = f"the first object has the keys {', '.join(map(quoted, [*fields][:LISTED]))}{more}"
    forms = [
        (JSONL, _has("id", "mentions")),
        ("answers", _has("id", "events")),
        *((name, keys) for name, keys in FORMS if isinstance(keys, _Keys)),
    ]
    near = [(name, keys) for name, keys in forms if 0 < keys.share(fields) < 1 and name not in NO_FORMATS]
    if not near:
        return message
    name, keys = max(near, key=lambda known: known[1].share(fields))
    return f"{message}; {name}, the nearest, also has {' and '.join(keys.missing(fields))}"


def recognises(name: str) -> Callable[[bytes], bool]:
    """How a format is recognised by the form of its files."""
    return lambda head: form(head) == name


def first_fields(head: bytes) -> dict[str, Field]:
    """The fields of the first object of a file, which may be in a list; only as far as is needed for JSON Lines."""
    text = head.lstrip()
    if text.startswith(b"["):
        text = text[1:].lstrip()
    fields: dict[str, Field] = {}
    if not text.startswith(b"{"):
        return fields
    stack: list[bytes] = []
    string, before = b"", 0
    field: Field | None = None
    for token in TOKEN.finditer(text):
        mark = token[0][:1]
        if field is not None and not field.opens:
            field.opens = mark if mark in (b"{", b"[", b'"') else b"-"
        if mark == b'"':
            string = token[0]
        elif mark in (b"{", b"["):
            stack.append(mark)
        elif mark in (b"}", b"]"):
            if field is not None and len(stack) == 2 and not text[before : token.start()].strip():
                field.is_empty = text[before - 1 : before] in (b"{", b"[")
            stack.pop()
            if not stack:
                break
        elif mark == b":" and stack == [b"{"]:
            if not string:  # not JSON, as what Python prints of a dict
                break
            field = fields.setdefault(_text(string), Field())
            if fields.keys() >= {"id", "mentions"}:
                break
        elif mark == b":" and field is not None and stack in ([b"{", b"{"], [b"{", b"[", b"{"]):
            field.keys.add(_text(string))
        before = token.end()
    return fields


def _text(string: bytes) -> str:
    return string[1:-1].decode("utf-8", "replace")
