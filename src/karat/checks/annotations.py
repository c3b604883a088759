"""Rules on annotations, and how they are applied to a document.

Findings name a mention by its span and cluster, since some readers have to make up the ids of mentions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from operator import attrgetter
from typing import Literal

from msgspec import msgpack

from karat.model import Document, Mention, Region, Value, qualified
from karat.problems import Finding, Item, KaratError, Report, Rule, Target, quoted
from karat.regions import is_nowhere


def span_of(mention: Mention, document: Document) -> str:
    """The span of a mention, or the ids of its tokens, with its text."""
    from karat.words import token_ids

    ids = token_ids(document, mention.span)
    span = ", ".join(f"{begin}-{end}" for begin, end in mention.span) if ids is None else ",".join(ids)
    return f"the span {span}" if mention.text is None else f"the span {span} ({quoted(mention.text)})"


def cluster_of(mention: Mention, document: Document) -> str:
    """The cluster of a mention, as its file calls it; a file that describes its clusters says what they are."""
    if mention.cluster is None:
        return "a mention without a cluster"
    kind = mention.kind if document.clusters else "cluster"
    return f"{kind} {quoted(mention.cluster.removeprefix(qualified(document.id, '')))}"


_REGIONS = ("head", "extent", "anchor", "scope")


def placed(document: Document) -> Iterator[tuple[Item, Region, str | None]]:
    """Spans of mentions and their other regions, names of clusters, and extents of links, each with its text."""
    for mention in document.mentions:
        if mention.span:
            yield mention.id, mention.span, mention.text
        if mention.head or mention.extent or mention.anchor or mention.scope:
            for name in _REGIONS:
                if region := getattr(mention, name):
                    yield (mention.id, name), region, mention.texts.get(name)
    for cluster in document.clusters:
        for number, place in enumerate([name.place for name in cluster.names]):
            if place.span:
                yield (cluster.id, f"name {number}"), place.span, place.text
    for link in document.links:
        if link.extent is not None and link.extent.span:
            yield (link.kind, link.source, link.target), link.extent.span, link.extent.text


def owner(item: Item) -> str:
    """The owner of a region, as a message names it."""
    if isinstance(item, str):
        return f"mention {item!r}"
    if len(item) == 3:
        kind, source, target = item
        return f"the extent of {target!r} as {kind} of {source!r}"
    id_, part = item
    return f"the {part} of mention {id_!r}" if part in _REGIONS else f"a name of {id_!r}"


ORDER = Rule(
    "tokens-order",
    "fatal",
    "Number tokens from 0; list sentences in order, and empty nodes by token, each with a number from 1.",
)


def check_tokens(document: Document) -> Iterable[Finding]:
    """Sentences and empty nodes are tokens of the document, each after the one before."""
    forms = document.forms
    if not document.empty_nodes and not document.sentence_ids:
        end = 0
        for begin, after in document.sentences:
            if not end <= begin < after:
                break
            end = after
        else:
            if forms is None or end <= len(forms):
                return ()
    return _misplaced_tokens(document)


def _misplaced_tokens(document: Document) -> Iterator[Finding]:
    sentences, ids = document.sentences, document.sentence_ids
    empty = [node.token for node in document.empty_nodes]
    are_empty = any(begin >= end for begin, end in sentences)
    if are_empty or any(end > begin for (_, end), (begin, _) in pairwise(sentences)):
        yield ORDER.at(f"the sentences of document {document.id!r} are not in order")
    if any(token >= after for token, after in pairwise(empty)):
        yield ORDER.at(f"the empty nodes of document {document.id!r} are not in order")
    if ids and len(ids) != len(sentences):
        yield ORDER.at(f"document {document.id!r} has {len(sentences):,} sentences, but {len(ids):,} ids of sentences")
    parents = [parent for node in document.empty_nodes for parent, _ in node.dependencies if parent is not None]
    every = [*(begin for begin, _ in sentences), *(end - 1 for _, end in sentences), *empty, *parents]
    end = max(every, default=-1) + 1 if document.forms is None else len(document.forms)
    for token in every:
        if not 0 <= token < end:
            yield ORDER.at(f"document {document.id!r} has {end:,} tokens, but token {token:,} is named")
    for node in document.empty_nodes:
        if node.number < 1:
            yield ORDER.at(f"the empty node at token {node.token:,} of document {document.id!r} has no number from 1")


BEYOND = Rule(
    "span-beyond-text",
    "fault",
    "Check that offsets count code points, or tokens, of exactly this text; they are scored as given.",
)


def source_of(document: Document) -> Sequence[object] | None:
    """Return what offsets count, the text or the tokens, if the document has it.

    Where tokens have ids, those that are not in the table have numbers after it, so that the table is no limit.
    """
    if document.unit == "char":
        return document.text
    if document.token_ids is not None:
        return None
    return document.forms if document.tokens is None else document.tokens


def check_spans(document: Document) -> Iterable[Finding]:
    """A span must end inside the text, or inside the tokens, where the document has one."""
    source = source_of(document)
    if source is None:
        return ()
    size = len(source)
    for mention in document.mentions:
        span = mention.span
        if (span and span[-1][1] > size) or mention.head or mention.extent or mention.anchor or mention.scope:
            return _spans_beyond(document, size)
    has_extents = document.links and any(link.extent for link in document.links)
    return _spans_beyond(document, size) if document.clusters or has_extents else ()


def _spans_beyond(document: Document, size: int) -> Iterator[Finding]:
    noun = "characters" if document.unit == "char" else "tokens"
    for item, region, _ in placed(document):
        if (end := region[-1][1]) > size and not is_nowhere(region):
            message = f"{owner(item)} of document {document.id!r} ends at {end:,}"
            yield BEYOND.at(f"{message}, but the text has {size:,} {noun}", item=item, found=str(end))


DIFFERS = Rule(
    "text-differs", "fault", "Check that offsets count code points of exactly this text; they are scored as given."
)
SHOWN = 60


def check_texts(document: Document) -> Iterable[Finding]:
    """The text of a mention is that at its span, its segments joined by a blank, and any white space a blank.

    A document may hold references to characters (`&amp;`), which count as written; the text of a mention may have
    resolved them.
    """
    text = document.text
    return () if text is None or document.unit != "char" else _differing_texts(document, text)


def _differing_texts(document: Document, text: str) -> Iterator[Finding]:
    for item, region, own_text in placed(document):
        if own_text is None or region[-1][1] > len(text) or region[0][0] < 0:
            continue
        covered = " ".join([text[begin:end] for begin, end in region])
        if covered != own_text and not are_same_words(own_text, covered):
            message = f"{owner(item)} of document {document.id!r} has the text {own_text[:SHOWN]!r}"
            yield DIFFERS.at(f"{message}, but its span covers {covered[:SHOWN]!r}", item=item, found=own_text)


def are_same_words(text: str, covered: str) -> bool:
    """Return whether two texts are equal but for white space; the first may resolve references to characters."""
    if text.split() == covered.split():
        return True
    from html import unescape

    return text.split() == unescape(covered).split()


IN_CLUSTER = Rule(
    "span-twice-in-cluster", "fault", "Remove one of the two mentions, or correct its span; both are scored."
)
ALIKE = Rule("span-twice", "note", "Remove one of the two mentions if it is there by mistake; both are scored.")

_span, _kind = attrgetter("span"), attrgetter("kind")


def check_duplicates(document: Document) -> Iterable[Finding]:
    """Report each mention that repeats the span of an earlier one in its cluster, or with the same type and realis.

    A mention with other arguments is not a repetition: the words between two arguments may well express several
    relations, or one relation of several mentions. Fillers of templates are strings rather than places.
    """
    mentions = document.mentions
    return () if len(set(map(_span, mentions))) == len(mentions) else _repeated_spans(document)


def _repeated_spans(document: Document) -> Iterator[Finding]:
    mentions = document.mentions
    times = Counter(map(_span, mentions))
    has_templates = "template" in map(_kind, mentions)
    events = {mention.id for mention in mentions if mention.kind == "event"}
    arguments: dict[str, set[tuple[str, str]]] = {}
    for link in document.links:
        if link.target not in events:
            arguments.setdefault(link.source, set()).add((link.kind, link.target))
    members: dict[object, Mention] = {}
    alike: dict[object, Mention] = {}
    for mention in mentions:
        if not mention.span or times[mention.span] == 1:
            continue
        # A mention without a cluster is a cluster of its own, which no earlier mention is in.
        held = frozenset(arguments.get(mention.id, ()))
        fellow = members.setdefault((mention.span, mention.cluster or (mention.id,), held), mention)
        if fellow is not mention:
            cluster, place = cluster_of(mention, document), span_of(mention, document)
            also = ", with the same arguments" if held else ""
            message = f"{cluster} of document {quoted(document.id)} has {place} twice{also}"
            yield IN_CLUSTER.at(message, item=mention.id)
        if has_templates:
            continue
        known = {name: mention.attributes[name] for name in ("type", "realis") if name in mention.attributes}
        twin = alike.setdefault((mention.span, mention.kind, *known.items()), mention)
        if twin is not mention and fellow is mention and mention.kind != "relation":
            same = " and ".join(known) if document.clusters else "type and realis"
            also = f", with the same {same}" if same else ""
            yield ALIKE.at(f"{_both(twin, mention, document)}{also}", item=mention.id)


def _both(first: Mention, second: Mention, document: Document) -> str:
    if first.cluster is None or second.cluster in (None, first.cluster):
        names = f"mention {first.id!r} and mention {second.id!r}"
    else:
        names = f"{cluster_of(first, document)} and {cluster_of(second, document)}"
    return f"{names} of document {quoted(document.id)} share {span_of(second, document)}"


KNOWN = ("Actual", "Generic", "Other", "NOT_ANNOTATED")
UNKNOWN = Rule("realis-unknown", "note", f"Known values: {', '.join(KNOWN)}; the value is compared as given.")

_FOLDED = frozenset(value.casefold() for value in KNOWN)
_ORDINARY = frozenset({*KNOWN, None})


def check_realis(document: Document) -> Iterable[Finding]:
    """Report each unknown value of event mentions once, at the first that has it."""
    if {mention.attributes.get("realis") for mention in document.mentions if mention.attributes} <= _ORDINARY:
        return ()
    return _unknown_realis(document)


def _unknown_realis(document: Document) -> Iterator[Finding]:
    having: dict[Value, list[str]] = {}
    for mention in document.mentions:
        value = mention.attributes.get("realis")
        if mention.kind == "event" and value is not None and str(value).casefold() not in _FOLDED:
            having.setdefault(value, []).append(mention.id)
    for value, ids in having.items():
        others = f" (and {len(ids) - 1:,} more with it)" if len(ids) > 1 else ""
        message = f"mention {ids[0]!r} of document {document.id!r}{others} has the unknown realis {value!r}"
        yield UNKNOWN.at(message, item=ids[0], found=str(value))


UNKNOWN_TYPE = Rule("type-unknown", "fault", "Use a type of the vocabulary, or add this one to its file.")


def checking(
    vocabulary: Set[Value | None], key: Callable[[Value | None], Value | None]
) -> Callable[[Document], Iterator[Finding]]:
    """Return the check for a vocabulary of keys; `key` is what is compared in place of a type.

    A missing type is not in the vocabulary.
    """

    def check(document: Document) -> Iterator[Finding]:
        """Report each event mention whose type is not in the vocabulary."""
        for mention in document.mentions:
            type_ = mention.attributes.get("type")
            if mention.kind == "event" and key(type_) not in vocabulary:
                value = "no type" if type_ is None else f"the type {type_!r}, which is not in the vocabulary"
                yield UNKNOWN_TYPE.at(
                    f"mention {mention.id!r} of document {document.id!r} has {value}",
                    item=mention.id,
                    found=None if type_ is None else str(type_),
                )

    return check


MENTION = Rule("mention-in-documents", "fatal", "Give each mention of the corpus its own id.")
KINDS = Rule("id-of-two-kinds", "fatal", "Give each element and each mention of the corpus its own id.")

NamedIds = bytes
"""Ids, each with the kind of thing that it names; encoded, as a run keeps those of all documents."""


def ids_of(document: Document) -> NamedIds:
    """Return the ids of a document's mentions and elements."""
    mentions = [(mention.kind + " mention", mention.id) for mention in document.mentions]
    return msgpack.encode([*mentions, *[(cluster.kind, cluster.id) for cluster in document.clusters]])


def id_conflicts(documents: Mapping[str, NamedIds]) -> Iterator[Finding]:
    """Yield each mention that an earlier document has too, and each id that names another kind of thing there.

    Whether an element may be in two documents is for a protocol to say.
    """
    first: dict[str, tuple[str, str]] = {}
    for document, ids in documents.items():
        for kind, id_ in msgpack.decode(ids, type=list[tuple[str, str]]):
            known, other = first.setdefault(id_, (kind, document))
            if other == document:
                continue
            which = f"{kind} {quoted(id_)} of document {quoted(document)}"
            if kind != known:
                message = f"{which} has an id that something of another kind, {known}, has in {quoted(other)}"
                yield KINDS.at(message, item=id_, document=document)
            elif kind.endswith(" mention"):
                yield MENTION.at(f"{which} is also in document {quoted(other)}", item=id_, document=document)


Check = Callable[[Document], Iterable[Finding]]
"""Finds what breaks one rule in a document; findings name an item of it, not a file. Most documents break none, which
costs less if it is not a generator that says so."""

Where = Callable[[Target | None], tuple[str | None, int | None]]
"""The file and the line of an item; of the document for None."""

CHECKS: tuple[Check, ...] = (check_tokens, check_spans, check_texts, check_duplicates, check_realis)


Reading = Literal["links", "paths", "relations"]
"""How a protocol reads a kind of links.

links      as a hierarchy or sequence, as given
paths      as a hierarchy or sequence, with links that others imply
relations  each for itself, whatever the others say
"""
Readings = Callable[[str], Reading | None]
"""The reading of each kind of links; None: no protocol reads it."""


def unread(kind: str) -> None:
    """No protocol reads links."""
    del kind


def nowhere(item: Target | None) -> tuple[None, None]:
    """A document that is in no file."""
    del item
    return None, None


def check(
    document: Document, where: Where = nowhere, more: Sequence[Check] = (), readings: Readings = unread
) -> Iterable[Finding]:
    """Apply all rules, and those in `more`, to a document; each finding has file and line.

    `readings` are how protocols read its links.
    """
    rules = CHECKS if document.mentions or document.clusters or document.links else (check_tokens,)
    broken = [findings for rule in rules if (findings := rule(document))]
    if document.links:
        from karat.arguments import other_links

        if links := other_links(document):
            from karat.checks.links import check_links

            broken.append(check_links(links, document, readings))
    broken += [rule(document) for rule in more]
    return _located(chain.from_iterable(broken), where) if broken else ()


def _located(findings: Iterable[Finding], where: Where) -> Iterator[Finding]:
    """Add the file and line of each item."""
    for finding in findings:
        file, line = where(finding.item)
        yield finding._replace(file=file, line=line)


def checked(document: Document, where: Where, report: Report, readings: Readings = unread) -> Document:
    """The document, if it has no fatal finding; other findings are reported."""
    for finding in check(document, where, readings=readings):
        if finding.severity == "fatal":
            raise KaratError(finding)
        report(finding)
    return document
