"""Coreference of ECB+ for files without, as those of EventStoryLine."""

from pathlib import Path

from msgspec.structs import replace

from karat.filters import unchanged
from karat.filters.types import NO_FILE
from karat.formats import FORMATS
from karat.inputs import read_bytes
from karat.model import Document, Link, Mention, Pair, Region
from karat.plugin import Comparison, Context, Filter, PairTransform, Piece
from karat.problems import Report, Rule, quoted

ABSENT = Rule("ecb-clusters-absent", "note", "Put the ECB+ file of each document of gold into the folder.")


class EcbClusters(Filter, frozen=True):
    """Puts events of gold into the clusters that ECB+ has them in, if gold's document has none.

    Its links then hold between clusters.
    """

    folder: str = ""
    """The folder; empty: nothing changes."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Look up the file of each document."""
        del comparison
        if not self.folder:
            return unchanged
        files = {path.name.partition(".")[0]: path for path in sorted(Path(self.folder).rglob("*.xml"))}
        if not files:
            raise NO_FILE.error("there is no ECB+ file in this folder (--set clusters=...)", file=self.folder)

        def clustered(pair: Pair) -> Pair:
            if any(mention.cluster is not None for mention in pair.gold.mentions):
                return pair
            if pair.gold.id not in files:
                message = f"the folder has no file of document {quoted(pair.gold.id)}"
                report(ABSENT.at(message, origin="gold", file=self.folder))
                return pair
            return Pair(_clustered(pair.gold, _clusters(files[pair.gold.id])), pair.system)

        return clustered


def _clusters(path: Path) -> dict[Region, str]:
    """The cluster of each event of an ECB+ file, by its span."""
    piece = Piece(str(path), read_bytes(path))
    (document,) = FORMATS.get("ecbplus").read(piece, Context())
    return {m.span: m.cluster for m in document.mentions if m.cluster is not None and m.kind == "event"}


def _clustered(document: Document, clusters: dict[Region, str]) -> Document:
    mentions: list[Mention] = []
    ends: dict[str, str] = {}
    for mention in document.mentions:
        if (cluster := clusters.get(mention.span)) is not None:
            mention = replace(mention, cluster=cluster)
            ends[mention.id] = cluster
        mentions.append(mention)
    links = [Link(k.kind, ends.get(k.source, k.source), ends.get(k.target, k.target)) for k in document.links]
    return replace(document, mentions=tuple(mentions), links=tuple(links))


FILTER = EcbClusters
