"""How findings name a mention: by its span and cluster, since some readers have to make up the ids of mentions."""

from karat.errors import quoted
from karat.model import Document, Mention, qualified


def span_of(mention: Mention) -> str:
    """The span of a mention, with its text."""
    span = ", ".join(f"{begin}-{end}" for begin, end in mention.span)
    return f"the span {span}" if mention.text is None else f"the span {span} ({quoted(mention.text)})"


def cluster_of(mention: Mention, document: Document) -> str:
    """The cluster of a mention, as its file calls it."""
    if mention.cluster is None:
        return "a mention without a cluster"
    return f"cluster {quoted(mention.cluster.removeprefix(qualified(document.id, '')))}"
