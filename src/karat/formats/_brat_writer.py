"""Writing brat standoff, as `karat.formats.brat` reads it.

Ids in brat's form (`E4` for an event, `T2` for another mention) are kept, and other mentions are renumbered. brat
cannot hold the producer of a document. If all mentions of a corpus are events with ids of text bounds, it came from a
corpus without event lines (LitBank) and is written without them.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from karat.formats._writing import members, report_document, report_regions
from karat.model import Document, Link, Mention, Region
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule

UNWRITABLE = Rule("brat-unwritable", "fatal", "Convert to a format that can hold it, such as jsonl.")

DIGITS = "0123456789"
_TEXT_BOUND = re.compile(r"T[0-9]+")
_WORD = re.compile(r"[^ \t\n\r]+")
_BLANKS = str.maketrans("\t\n\r", "   ")
_NO_FILE_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> dict[str, bytes]:
    """The `.ann` of a document and, if its text is known, the `.txt`."""
    name = _file_name(document)
    if document.unit != "char":
        raise UNWRITABLE.error(f"document {document.id!r} counts in {document.unit}s, and brat in characters")
    if document.text is not None and "\r\n" in document.text:
        raise UNWRITABLE.error(f"the text of document {document.id!r} has CRLF line ends, which brat counts as one")
    _report_losses(document, report_loss)
    files = {f"{name}.ann": "".join(f"{line}\n" for line in _lines(document, options, report_loss)).encode("utf-8")}
    if document.text is not None:
        files[f"{name}.txt"] = document.text.encode("utf-8")
    return files


def plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    """Text bounds alone can be the events only if no document of the corpus has event lines."""
    plain, kinds = True, set[str]()
    for document in documents:
        mentions = [mention for mention in document.mentions if mention.span]
        kinds |= {mention.kind for mention in mentions}
        arguments, _ = _sorted_links(document, mentions, _silent)
        plain &= not arguments and all(m.kind == "event" and _TEXT_BOUND.fullmatch(m.id) is not None for m in mentions)
    if kinds and "event" not in kinds:
        report_loss("that no mention is an event (brat reads text bounds without any event as events, not as entity)")
    return replace(options, plain=plain)


def _silent(what: str) -> None:
    """Losses are reported when a document is written."""


def shown(text: str) -> str:
    """Text as it is written in a line: each line end or tab is a blank."""
    return text.translate(_BLANKS)


def pieces(text: str, segments: Region) -> str:
    """The text at some segments, joined by blanks."""
    return shown(" ".join(text[begin:end] for begin, end in segments))


def _file_name(document: Document) -> str:
    id_ = document.id
    if not id_ or id_.startswith(".") or _NO_FILE_NAME.search(id_) or len(id_.encode("utf-8")) > 250:
        raise UNWRITABLE.error(f"the document id {id_!r} cannot be the name of a file; rename the document")
    return id_


def _report_losses(document: Document, report_loss: ReportLoss) -> None:
    report_document(document, ("topic", "subtopic", "source", "language", "tokens"), report_loss)
    for cluster in document.clusters:
        if cluster.kind != "event" or cluster.attributes:
            report_loss("kinds and attributes of clusters")
    for mention in document.mentions:
        if not mention.span:
            report_loss("mentions without a span")
            continue
        report_regions(mention, report_loss)
        if mention.confidence:
            report_loss("confidences")
        if mention.kind not in ("event", "entity"):
            report_loss(f"that mentions are of kind {mention.kind} (written as entity)")


def _lines(document: Document, options: WriteOptions, report_loss: ReportLoss) -> Iterator[str]:
    mentions = [mention for mention in document.mentions if mention.span]
    arguments, relations = _sorted_links(document, mentions, report_loss)
    letters = {m.id: "E" if m.kind == "event" and not options.plain else "T" for m in mentions}
    names, triggers = _names(letters)
    for mention in mentions:
        name, label = names[mention.id], _label(mention, report_loss)
        bound = name if letters[mention.id] == "T" else next(triggers)
        segments = ";".join(f"{begin} {end}" for begin, end in mention.span)
        yield f"{bound}\t{label} {segments}\t{_words(mention, document, report_loss)}"
        if bound != name:
            roles = _numbered(arguments.get(mention.id, []))
            yield " ".join([f"{name}\t{label}:{bound}", *(f"{role}:{names[target]}" for role, target in roles)])
    attributes = ((names[mention.id], text) for mention in mentions for text in _attributes(mention, report_loss))
    for number, (name, (attribute, value)) in enumerate(attributes, 1):
        yield f"A{number}\t{attribute} {name}{value}"
    chains = (("Coreference", *pair) for ids in members(mentions).values() for pair in itertools.pairwise(ids))
    for number, (kind, source, target) in enumerate([*chains, *relations], 1):
        yield f"R{number}\t{kind} Arg1:{names[source]} Arg2:{names[target]}"


def _names(letters: dict[str, str]) -> tuple[dict[str, str], Iterator[str]]:
    """brat's id for each mention, and ids for triggers."""
    kept = {id_ for id_, letter in letters.items() if re.fullmatch(f"{letter}[0-9]+", id_)}
    free = {letter: _free(letter, kept) for letter in "TE"}
    return {id_: id_ if id_ in kept else next(free[letter]) for id_, letter in letters.items()}, free["T"]


def _free(letter: str, taken: set[str]) -> Iterator[str]:
    ids = (f"{letter}{number}" for number in itertools.count(1))
    return (id_ for id_ in ids if id_ not in taken)


def _sorted_links(
    document: Document, mentions: list[Mention], report_loss: ReportLoss
) -> tuple[dict[str, list[tuple[str, str]]], list[tuple[str, str, str]]]:
    """Arguments of each event, and relations: a link from an event to an entity is an argument, others are relations.

    A link that cannot be one of the two becomes the other: relations are read in lower case, and roles without a number
    at the end.
    """
    kinds = {mention.id: mention.kind for mention in mentions}
    ends = {cluster: ids[0] for cluster, ids in members(mentions).items()} | {id_: id_ for id_ in kinds}
    arguments: dict[str, list[tuple[str, str]]] = {}
    relations: list[tuple[str, str, str]] = []
    for link in document.links:
        relation, role = _relation(link), _role(link)
        if link.source not in ends or link.target not in ends:
            report_loss(f"links of kind {link.kind}")
            continue
        source, target = ends[link.source], ends[link.target]
        if role and kinds[source] == "event" and (kinds[target] != "event" or not relation):
            arguments.setdefault(source, []).append((role, target))
        elif relation:
            relations.append((relation, source, target))
        else:
            report_loss(f"links of kind {link.kind}")
            continue
        if (source, target) != (link.source, link.target):
            report_loss("that links join clusters (written between their first mentions)")
    return arguments, relations


def _relation(link: Link) -> str | None:
    """The name of a relation that is read as this kind of link, if there is one."""
    name = _capitalised(link.kind)
    return name if name and not link.kind.startswith("coref") else None


def _role(link: Link) -> str | None:
    """The role that is read as this kind of link, if there is one."""
    return link.kind if _WORD.fullmatch(link.kind) and link.kind[-1] not in DIGITS else None


def _capitalised(word: str) -> str | None:
    """A capitalised word that is read back as this one in lower case, if there is one."""
    capital = word.capitalize()
    known = capital if capital.lower() == word else word
    return known if known.lower() == word and _WORD.fullmatch(word) else None


def _numbered(arguments: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Roles as brat writes them: the second `Victim` of an event is `Victim2`."""
    seen: dict[str, int] = {}
    for role, target in arguments:
        seen[role] = seen.get(role, 0) + 1
        yield role if seen[role] == 1 else f"{role}{seen[role]}", target


def _label(mention: Mention, report_loss: ReportLoss) -> str:
    value = mention.attributes.get("type", "")
    if not isinstance(value, str):
        report_loss("that type is not text")
    if value == "":
        general = "Event" if mention.kind == "event" else "Entity"
        report_loss(f"that mentions have no type (written {general})")
        return general
    label = shown(str(value)).replace(" ", "_")
    if label != str(value):
        report_loss("blanks in types (written _)")
    return label


def _attributes(mention: Mention, report_loss: ReportLoss) -> Iterator[tuple[str, str]]:
    """Names and values, as they are written in a line, of all attributes except the type."""
    for name, value in mention.attributes.items():
        if name == "type":
            continue
        capital, text = _capitalised(name), str(value)
        if capital is None or not text or text != shown(text).strip(" "):
            report_loss(f"the attribute {name}")
        elif value is True:
            yield capital, ""
        else:
            if not isinstance(value, str):
                report_loss(f"that {name} is not text")
            yield capital, f" {text}"


def _words(mention: Mention, document: Document, report_loss: ReportLoss) -> str:
    """A mention's own text, or that of the document at its span."""
    if mention.text is None:
        return "" if document.text is None else pieces(document.text, mention.span)
    if document.text is None and shown(mention.text) != mention.text:
        report_loss("tabs and line ends of mentions' text")
    return shown(mention.text)
