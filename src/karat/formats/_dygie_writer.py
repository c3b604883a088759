"""Writing DyGIE++: entities with a type in `ner`, coreference and other entities in `clusters`, events by sentence."""

from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from typing import Any

import msgspec

from karat.errors import Rule
from karat.formats._event_writing import Writable, text_value
from karat.model import Document, Mention
from karat.plugin.formats import ReportLoss, WriteOptions

UNWRITABLE = Rule(
    "dygie-unwritable", "fatal", "DyGIE++ holds documents of tokens with their words; jsonl holds everything."
)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The line of one document; what DyGIE++ cannot hold is reported."""
    del options
    content = Writable(
        document,
        UNWRITABLE,
        report_loss,
        lost=("language", "text"),
        holds=("forms", "sentences"),
        about="dataset",
        entity_attributes=("type",),
    )
    return msgspec.json.encode(_Record(document, content, report_loss).fields()) + b"\n"


class _Record:
    """The fields of a document."""

    def __init__(self, document: Document, content: Writable, report_loss: ReportLoss) -> None:
        self._document, self._content, self._report_loss = document, content, report_loss
        if any(sentence.id is not None for sentence in document.sentences):
            report_loss("ids of sentences")
        self._begins = sorted({0, *(sentence.begin for sentence in document.sentences)})
        self._events = sorted(content.events, key=self._sentence)
        fillers = {one.id for event in self._events for _, one in content.arguments[event.id]}
        self._arguments = [one for one in content.others if one.kind == "argument" and one.id in fillers]
        self._entities = [one for one in content.others if one.kind != "argument" or one.id not in fillers]
        self._report_losses()

    def _sentence(self, mention: Mention) -> int:
        """The number of the sentence in which a mention begins."""
        return bisect_right(self._begins, mention.span[0][0]) - 1

    def _report_losses(self) -> None:
        for event in self._events:
            if event.span[0][1] - event.span[0][0] > 1:
                self._report_loss("triggers of several tokens (written as their first token)")
            if self._content.cluster_sizes[event.cluster] > 1:
                self._report_loss("clusters of events")
        for mention in self._entities:
            if mention.kind != "entity":
                self._report_loss(f"that mentions are of kind {mention.kind} (read as entity)")
        for mention in self._arguments:
            if mention.attributes or self._content.cluster_sizes[mention.cluster] > 1:
                self._report_loss("attributes and clusters of arguments that are no entities")
        if max(Counter(mention.span for mention in self._content.others).values(), default=1) > 1:
            self._report_loss("mentions that share a span with another")
        for mention in self._content.mentions:
            if mention.text is not None and mention.text != self._content.words(mention):
                self._report_loss("the text of mentions")

    def fields(self) -> dict[str, Any]:
        """The fields of the record."""
        forms, ends = self._content.forms, [*self._begins, max(len(self._content.forms), self._begins[-1])]
        sentences = [list(forms[begin:end]) for begin, end in pairwise(ends)]
        ner: list[list[list[Any]]] = [[] for _ in sentences]
        events: list[list[list[list[Any]]]] = [[] for _ in sentences]
        typed = sorted((one for one in self._entities if text_value(one, "type")), key=self._sentence)
        for mention in typed:
            ner[self._sentence(mention)].append([*_span(mention), text_value(mention, "type")])
        clusters = self._clusters()
        untyped = [one for cluster in clusters for one in cluster if not text_value(one, "type")]
        used: dict[str, Mention] = {}
        for event in self._events:
            arguments = self._content.arguments[event.id]
            used |= {one.id: one for _, one in arguments if one.kind == "argument" and one.id not in used}
            parts = [[*_span(one), role] for role, one in arguments]
            events[self._sentence(event)].append([[event.span[0][0], text_value(event, "type")], *parts])
        self._content.report_order([*typed, *untyped, *used.values(), *self._events])
        fields: dict[str, Any] = {"doc_key": self._document.id}
        if "dataset" in self._document.about:
            fields["dataset"] = self._document.about["dataset"]
        spans = [[_span(one) for one in cluster] for cluster in clusters]
        return {**fields, "sentences": sentences, "ner": ner, "clusters": spans, "events": events}

    def _clusters(self) -> list[list[Mention]]:
        """Clusters of several entity mentions, and mentions without a type, which `ner` cannot hold."""
        clusters: dict[str | tuple[str], list[Mention]] = {}
        for mention in self._entities:
            clusters.setdefault((mention.id,) if mention.cluster is None else mention.cluster, []).append(mention)
        return [one for one in clusters.values() if len(one) > 1 or not text_value(one[0], "type")]


def _span(mention: Mention) -> list[int]:
    """The first and the last token of a mention."""
    return [mention.span[0][0], mention.span[0][1] - 1]
