"""The output of a baseline: the event mentions of a corpus, with the clusters that the baseline makes."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from karat.baselines.lemma import Clusters
from karat.baselines.texts import Text
from karat.model import Document

GIVEN_AWAY = frozenset({"relation"})
"""Attributes that tell whether gold links a mention (ECB+)."""


def system(texts: Sequence[Text], clusters: Clusters, about: Mapping[str, str]) -> Iterator[Document]:
    """The documents of the system; of gold they keep texts and event mentions, and nothing about coreference."""
    for text, own in zip(texts, clusters, strict=True):
        mentions = tuple(
            replace(event.mention, cluster=cluster, attributes=_kept(event.mention.attributes))
            for event, cluster in zip(text.mentions, own, strict=True)
        )
        yield replace(text.document, mentions=mentions, clusters=(), links=(), about=dict(about))


def _kept(attributes: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in attributes.items() if name not in GIVEN_AWAY}
