"""Which format a JSON file has, by the keys of its first value: names of files in JSON formats say little.

The beginning of a file may end in the middle of its first value, so keys are looked for without decoding it.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[{}\[\]:,]', re.DOTALL)


class Field:
    """The value of a key: how it begins, and the keys of the objects in it."""

    def __init__(self) -> None:
        self.opens = b""
        """Its first byte, if it is an object, a list or a string."""
        self.keys: set[str] = set()
        """Keys of the object that it is, or of those in the list that it is."""
        self.is_empty = False
        """Whether it is an empty object or list."""


Fields = Mapping[str, Field]


def _has(*keys: str, one_of: tuple[str, ...] = (), none_of: tuple[str, ...] = ()) -> Callable[[Fields], bool]:
    return lambda fields: (
        fields.keys() >= set(keys)
        and (not one_of or not fields.keys().isdisjoint(one_of))
        and fields.keys().isdisjoint(none_of)
    )


def _is_muc4_system(fields: Fields) -> bool:
    """Documents by number, as GRIT and GTT write them, or one document with its templates, as IterX does."""
    first = next(iter(fields.values()))
    if first.opens == b"{":
        return not first.keys.isdisjoint({"pred_templates", "pred_extracts"})
    return len(fields) == 1 and first.opens == b"[" and ("incident_type" in first.keys or first.is_empty)


def _is_unified(fields: Fields) -> bool:
    """The form of MAVEN-Arg's own scorer and of OmniEvent."""
    return fields.keys() >= {"text", "events"} and "triggers" in fields["events"].keys


JSONL = "jsonl"
COREFERENCE = "wikievents-coreference"
FILLED_TEMPLATES = "gen-arg"

FORMS: tuple[tuple[str, Callable[[Fields], bool]], ...] = (
    ("textee", _has("wnd_id", "event_mentions")),
    ("oneie", _has("sent_id", one_of=("event_mentions", "graph"))),
    ("oneie", _has("sent_id", "gold", "pred")),
    ("wikievents", _has("doc_id", "event_mentions")),
    (FILLED_TEMPLATES, _has("doc_key", "predicted", "gold")),
    ("rams", _has("doc_key", one_of=("gold_evt_links", "predictions"))),
    ("dygie", _has("doc_key", "sentences", one_of=("events", "predicted_events", "ner", "relations"))),
    (COREFERENCE, _has("doc_key", "clusters", none_of=("sentences",))),
    ("muc4", _has("docid", one_of=("templates", "extracts"))),
    ("muc4", _is_muc4_system),
    ("maven", _has("id", "events", one_of=("document", "content"))),
    ("maven", _has("id", "content", "candidates")),
    ("maven", _has("id", "preds")),
    ("maven", _is_unified),
)
"""Forms of JSON files, in the order in which they are tried."""


@lru_cache(maxsize=4)
def form(head: bytes) -> str | None:
    """The name of the form of a file that begins with these bytes; None if it is not known."""
    fields = first_fields(head)
    if not fields or fields.keys() >= {"id", "mentions"}:
        return JSONL if fields else None
    return next((name for name, recognises in FORMS if recognises(fields)), None)


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
            field = fields.setdefault(_text(string), Field())
            if fields.keys() >= {"id", "mentions"}:
                break
        elif mark == b":" and field is not None and stack in ([b"{", b"{"], [b"{", b"[", b"{"]):
            field.keys.add(_text(string))
        before = token.end()
    return fields


def _text(string: bytes) -> str:
    return string[1:-1].decode("utf-8", "replace")
