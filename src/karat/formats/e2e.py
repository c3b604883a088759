"""Coreference as e2e-coref and many later systems write it: sentences and clusters, one document per line. Only read.

    {"doc_key": "d1", "sentences": [["Anna", "left", "."], ["She", "sang"]], "clusters": [[[0, 0], [3, 3]]],
     "speakers": [["", "", ""], ["", ""]]}

Offsets count the tokens of the document, and ends are inclusive. With `events`, `ner` or `relations`, the file is read
as DyGIE++, unless it has `constituents`, which e2e-coref writes beside the `ner` of OntoNotes. A system's file may have
`predicted_clusters` and, beside them, gold's `clusters`: a file that is given as the system is read by its predictions
if it has any, any other file by `clusters`, with a note. Other fields are not read.

As in CoNLL files, mentions are of kind `event`, in the order of their first tokens, longer ones first.
"""

from msgspec import Struct

from karat.formats._events import EventDocument, add_clusters, event_format
from karat.model import Document, Id
from karat.problems import Rule

SHAPE = Rule(
    "e2e-shape",
    "fatal",
    'A line is one document: {"doc_key": ..., "sentences": [[token, ...]], "clusters": [[[first, last], ...], ...]}',
)

_Clusters = tuple[tuple[tuple[int, int], ...], ...]
"""The first and the last token of each mention."""


class _Record(Struct, frozen=True):
    doc_key: Id
    sentences: tuple[tuple[str, ...], ...]
    clusters: _Clusters | None = None
    predicted_clusters: _Clusters | None = None


def _read(record: _Record, content: EventDocument) -> Document:
    content.add_sentences(record.sentences)
    clusters, predicted = record.clusters, record.predicted_clusters
    if clusters is None:
        clusters = predicted
    elif predicted is not None:
        clusters = content.choose_side(clusters, predicted, "clusters and predicted_clusters")
    if clusters is None:
        raise content.refusal(SHAPE, "the document has neither clusters nor predicted_clusters")
    add_clusters([[(first, last + 1) for first, last in cluster] for cluster in clusters], content)
    return content.document()


FORMAT = event_format(
    "e2e",
    _Record,
    SHAPE,
    _read,
    key="doc_key",
    unit="token",
    title="e2e-coref clusters, JSON lines",
    about=__doc__,
    suffixes=(".e2e.json", ".e2e.jsonl", ".e2e.jsonlines"),
    protocols=("conll-2012",),
)
