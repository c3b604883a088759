"""Shared parts of writers: reported losses, clusters, and spans in tokens."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from karat.model import Document, Mention, Region
from karat.plugin.formats import ReportLoss
from karat.problems import Rule, quoted


def report_fields(
    document: Document, fields: Iterable[str], report_loss: ReportLoss, *, holds: Collection[str] = ()
) -> None:
    """Report which of these fields a document has, and what few formats (but perhaps this one) say of its tokens."""
    rare = ("forms", "sentences", "sentence_ids", "empty_nodes")
    for field in (*fields, *(name for name in rare if name not in holds)):
        if any(getattr(document, field) or ()):
            report_loss(f"the document's {field.replace('_', ' ')}")


def report_document(
    document: Document, fields: Iterable[str], report_loss: ReportLoss, *, holds: Collection[str] = ()
) -> None:
    """Report which of these fields a document has, and what few formats can say of it, its clusters and its links."""
    report_fields(document, fields, report_loss, holds=holds)
    for name in document.about:
        if name not in holds:
            report_loss(f"the document's {name}")
    for cluster in document.clusters:
        if cluster.names:
            report_loss("names of clusters")
        if cluster.external:
            report_loss("external links of clusters")
    for link in document.links:
        if link.extent is not None:
            report_loss("extents of links")


def report_regions(mention: Mention, report_loss: ReportLoss, *, holds: Collection[str] = ()) -> None:
    """Report the regions of a mention other than its span and what the format holds."""
    for field in ("head", "extent", "anchor", "scope"):
        if field not in holds and getattr(mention, field) is not None:
            report_loss(f"the {field} of mentions")


def refuse_unit(document: Document, units: tuple[str, ...], rule: Rule) -> None:
    """Refuse recordings and images in formats that hold only text."""
    if document.unit not in units:
        raise rule.error(f"the unit of document {quoted(document.id)} is {document.unit}, not {' or '.join(units)}")


def members(mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """The ids of the mentions of each cluster, in their order."""
    ids: dict[str, list[str]] = {}
    for mention in mentions:
        if mention.cluster is not None:
            ids.setdefault(mention.cluster, []).append(mention.id)
    return ids


def projected(mention: Mention, document: Document, rule: Rule) -> Region:
    """The span of a mention in tokens, if it consists of whole tokens; else it is refused by this rule."""
    tokens = document.tokens
    if tokens is None:
        raise rule.error(f"document {quoted(document.id)} counts in characters and has no tokens")
    segments: list[tuple[int, int]] = []
    for begin, end in mention.span:
        first = bisect_left(tokens, (begin, begin))
        last = bisect_left(tokens, end, key=lambda token: token[1])
        if not (first <= last < len(tokens) and (tokens[first][0], tokens[last][1]) == (begin, end)):
            message = f"the span {mention.span} of mention {quoted(mention.id)} of document {quoted(document.id)}"
            raise rule.error(f"{message} does not consist of whole tokens")
        segments.append((first, last + 1))
    return tuple(segments)


ENTITY_ATTRIBUTES = ("type", "subtype", "mention_type")


class Writable:
    """A document as such a format sees it. What is left out is reported."""

    def __init__(
        self,
        document: Document,
        rule: Rule,
        report_loss: ReportLoss,
        *,
        lost: Sequence[str],
        holds: Sequence[str],
        about: str,
        entity_attributes: Sequence[str],
    ) -> None:
        """`rule` refuses what cannot be written at all; `lost` and `holds` are fields of a document."""
        refuse_unit(document, ("char", "token"), rule)
        fields = ("topic", "subtopic", "source", "producer", "tokens", *lost)
        report_document(document, fields, report_loss, holds=(*holds, about))
        self.id = document.id
        self.forms = _forms(document, rule)
        self._report_loss = report_loss
        if document.unit == "char":
            report_loss("character offsets (written as tokens)")
        if any(cluster.kind != "event" or cluster.attributes for cluster in document.clusters):
            report_loss("kinds and attributes of clusters")
        self.mentions = [
            self._plain(mention, document, rule, entity_attributes) for mention in document.mentions if mention.span
        ]
        """Those with a span, in tokens."""
        if len(self.mentions) < len(document.mentions):
            report_loss("mentions without a span")
        self.events = [mention for mention in self.mentions if mention.kind == "event"]
        self.others = [mention for mention in self.mentions if mention.kind != "event"]
        self.cluster_sizes = Counter(mention.cluster for mention in self.mentions)
        self.cluster_sizes.pop(None, None)
        """How many mentions each cluster has."""
        self.arguments: dict[str, list[tuple[str, Mention]]] = {event.id: [] for event in self.events}
        """Role and mention of the arguments of each event, by its id."""
        self._add_arguments(document)

    def _plain(self, mention: Mention, document: Document, rule: Rule, entity_attributes: Sequence[str]) -> Mention:
        report_regions(mention, self._report_loss)
        kept = ("type",) if mention.kind == "event" else entity_attributes
        for name, value in mention.attributes.items():
            if name not in kept or not isinstance(value, str) or not value:
                self._report_loss(f"the attribute {name}")
        if mention.confidence:
            self._report_loss("confidences")
        span = mention.span if document.unit == "token" else projected(mention, document, rule)
        if len(span) > 1:
            self._report_loss("segments of spans (written from the first token to the last)")
            span = ((span[0][0], span[-1][1]),)
        if span[0][1] > len(self.forms):
            message = f"mention {quoted(mention.id)} of document {quoted(document.id)} ends at {span[0][1]:,}"
            raise rule.error(f"{message}, but there are {len(self.forms):,} tokens")
        return replace(mention, span=span)

    def _add_arguments(self, document: Document) -> None:
        targets = {mention.id: mention for mention in self.others}
        firsts: dict[str, Mention] = {}
        for mention in self.others:
            if mention.cluster is not None:
                firsts.setdefault(mention.cluster, mention)
        for link in document.links:
            target = targets.get(link.target) or firsts.get(link.target)
            if link.source not in self.arguments or target is None:
                self._report_loss(f"links of kind {link.kind}")
                continue
            if link.target not in targets:
                self._report_loss("that arguments are entities as a whole (written as their first mention)")
            self.arguments[link.source].append((link.kind, target))

    def words(self, mention: Mention) -> str:
        ((begin, end),) = mention.span
        return " ".join(self.forms[begin:end])

    def report_order(self, order: Sequence[Mention]) -> None:
        """Report that mentions are written in another order than that of the document."""
        if [mention.id for mention in order] != [mention.id for mention in self.mentions]:
            self._report_loss("the order of mentions")


def _forms(document: Document, rule: Rule) -> list[str]:
    if document.forms is not None:
        return [*document.forms]
    if document.tokens is None or document.text is None:
        raise rule.error(f"document {quoted(document.id)} has no tokens with their words")
    return [document.text[begin:end] for begin, end in document.tokens]


def text_value(mention: Mention, name: str) -> str:
    """An attribute as text; empty where there is none that can be written."""
    value = mention.attributes.get(name)
    return value if isinstance(value, str) else ""
