"""What writers of event-extraction formats have in common: tokens, mentions with one segment each, and arguments."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from karat.errors import Rule, quoted
from karat.formats._writing import projected, refuse_unit, report_fields, report_rare, report_regions
from karat.model import Document, Mention
from karat.plugin.formats import ReportLoss

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
        report_fields(document, ("topic", "subtopic", "source", "producer", "tokens", *lost), report_loss, holds=holds)
        report_rare(document, report_loss, holds=(about,))
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
        """The words of a mention."""
        ((begin, end),) = mention.span
        return " ".join(self.forms[begin:end])

    def report_order(self, order: Sequence[Mention]) -> None:
        """Report that mentions are written in another order than that of the document."""
        if [mention.id for mention in order] != [mention.id for mention in self.mentions]:
            self._report_loss("the order of mentions")


def _forms(document: Document, rule: Rule) -> Sequence[str]:
    if document.forms is not None:
        return document.forms
    if document.tokens is None or document.text is None:
        raise rule.error(f"document {quoted(document.id)} has no tokens with their words")
    return [document.text[begin:end] for begin, end in document.tokens]


def text_value(mention: Mention, name: str) -> str:
    """An attribute as text; empty where there is none that can be written."""
    value = mention.attributes.get(name)
    return value if isinstance(value, str) else ""
