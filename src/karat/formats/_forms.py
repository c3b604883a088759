"""Forms of JSON files: a format is recognised by the keys of the first object."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import msgspec

from karat.model import Document
from karat.problems import quoted

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]:,]', re.DOTALL)


class Field(msgspec.Struct):
    """The value of a key: how it begins, and the keys of the objects in it."""

    opens: bytes = b""
    """Its first byte, if it is an object, a list or a string."""
    keys: set[str] = msgspec.field(default_factory=set)
    """Keys of the object that it is, or of those in the list that it is."""
    is_empty: bool = False
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
        """Return the keys that these fields lack; alternatives count as one."""
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
    """Return the form of a file that begins with these bytes; None if it is not known."""
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
    """Return a function that recognises files of a form by their first bytes."""
    return lambda head: form(head) == name


def first_fields(head: bytes) -> dict[str, Field]:
    """Return the fields of the first object of a file, which may be in a list; it ends where JSON Lines is certain."""
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
