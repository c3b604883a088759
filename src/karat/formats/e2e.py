"""Coreference as e2e-coref and many later systems write it: sentences and clusters, one document per line. Only read.

    {"doc_key": "d1", "sentences": [["Anna", "left", "."], ["She", "sang"]], "clusters": [[[0, 0], [3, 3]]],
     "speakers": [["", "", ""], ["", ""]]}

Offsets count the tokens of the document, and ends are inclusive. With `events`, `ner` or `relations`, the file is read
as DyGIE++. A system's file may have `predicted_clusters` and, beside them, gold's `clusters`: a file that is given as
the system is read by its predictions if it has any, any other file by `clusters`. `speakers` are not read.

As in CoNLL files, mentions are of kind `event`, in the order of their first tokens, longer ones first.
"""

from itertools import chain

import msgspec
from msgspec import Struct

from karat.formats._events import EventDocument, add_clusters, refuse_unit, sentences_of
from karat.formats._json import each_value, lines_with, recognises, record_of
from karat.model import Document, Id
from karat.plugin.formats import Context, Format, Piece
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


_decoder = msgspec.json.Decoder(_Record)


def read(value: Piece, context: Context) -> Document:
    """Read one document."""
    refuse_unit(context.options.unit, "token", value)
    record = record_of(value, _decoder, SHAPE)
    forms = tuple(chain.from_iterable(record.sentences))
    content = EventDocument(record.doc_key, context, value, forms)
    clusters, predicted = record.clusters, record.predicted_clusters
    if clusters is None or (predicted is not None and context.options.is_system):
        clusters = predicted
    if clusters is None:
        raise content.refusal(SHAPE, "the document has neither clusters nor predicted_clusters")
    add_clusters([[(first, last + 1) for first, last in cluster] for cluster in clusters], content)
    return content.document(
        unit="token", forms=forms, sentences=sentences_of([len(sentence) for sentence in record.sentences])
    )


FORMAT = Format(
    title="e2e-coref clusters, JSON lines",
    about=__doc__,
    suffixes=(".e2e.json", ".e2e.jsonl", ".e2e.jsonlines"),
    unit="token",
    protocols=("conll-2012",),
    sniff=recognises("e2e"),
    read=each_value(read),
    marker=lines_with("doc_key"),
    global_ids="none",
)
