"""PreCo: sentences and coreference clusters, one document per line. Only read.

    {"id": "d1", "sentences": [["Anna", "left", "."], ["She", "sang"]],
     "mention_clusters": [[[0, 0, 1], [1, 0, 1]], [[1, 1, 2]]]}

A mention is its sentence and its tokens: offsets count the tokens of the sentence, and ends are exclusive. Singletons
are clusters of one.

As in CoNLL files, mentions are of kind `event`, in the order of their first tokens, longer ones first.
"""

from msgspec import Struct

from karat.formats._events import EventDocument, add_clusters, event_format
from karat.model import Document, Id
from karat.problems import Rule

SHAPE = Rule(
    "preco-shape",
    "fatal",
    'A line is one document: {"id": ..., "sentences": [[token, ...]], "mention_clusters": [[[sentence, begin, end]]]}',
)

_Mention = tuple[int, int, int]
"""Its sentence, its first token, and the end."""


class _Record(Struct, frozen=True):
    id: Id
    sentences: tuple[tuple[str, ...], ...]
    mention_clusters: tuple[tuple[_Mention, ...], ...]


def _read(record: _Record, content: EventDocument) -> Document:
    content.add_sentences(record.sentences)
    clusters = [
        [content.in_sentence(str([*mention]), *mention) for mention in cluster] for cluster in record.mention_clusters
    ]
    add_clusters(clusters, content)
    return content.document()


FORMAT = event_format(
    "preco",
    _Record,
    SHAPE,
    _read,
    key="id",
    unit="token",
    title="PreCo clusters, JSON lines",
    about=__doc__,
    protocols=("conll-2012",),
)
