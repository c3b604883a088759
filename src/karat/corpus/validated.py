"""Documents with only the validated sentences of ECB+ (`--validated`)."""

from itertools import compress

from msgspec.structs import replace

from karat.model import Document
from karat.problems import Rule, quoted

UNKNOWN = Rule(
    "validated-unknown",
    "fatal",
    "Give the files of ECB+ with ECBplus_coreference_sentences.csv next to them, or omit --validated.",
)


def only_validated(document: Document, file: str) -> Document:
    """Return a document of this file with only the mentions in validated sentences, and what belongs to them."""
    mentions, clusters, links = document.mentions, document.clusters, document.links
    if mentions and not any("validated" in mention.attributes for mention in mentions):
        message = f"no mention of document {quoted(document.id)} says whether its sentence was validated"
        raise UNKNOWN.error(f"--validated: {message}", file=file)
    kept = [mention.attributes.get("validated") is True for mention in mentions]
    clusters_left = {mention.cluster for mention in compress(mentions, kept)}
    ends = {mention.id for mention in compress(mentions, kept)} | clusters_left
    kept_clusters = [cluster.id in clusters_left for cluster in clusters]
    kept_links = [link.source in ends and link.target in ends for link in links]
    changed = replace(
        document,
        mentions=tuple(compress(mentions, kept)),
        clusters=tuple(compress(clusters, kept_clusters)),
        links=tuple(compress(links, kept_links)),
    )
    if (places := document.places) is None:
        return changed
    return changed.at(
        replace(
            places,
            mentions=[*compress(places.mentions, kept)],
            clusters=[*compress(places.clusters, kept_clusters)],
            links=[*compress(places.links, kept_links)],
        )
    )
