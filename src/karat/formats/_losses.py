"""What few formats hold, and the others must tell that they lose it."""

from collections.abc import Callable

from karat.errors import Rule, quoted
from karat.model import Document


def tell_rare(document: Document, lost: Callable[[str], None]) -> None:
    """Tell what APF says beside mentions, clusters and links, if a document has it."""
    for name in document.about:
        lost(f"the document's {name}")
    for cluster in document.clusters:
        if cluster.names:
            lost("names of clusters")
        if cluster.external:
            lost("external links of clusters")
    for link in document.links:
        if link.extent is not None:
            lost("extents of links")


def refuse_unit(document: Document, units: tuple[str, ...], rule: Rule) -> None:
    """Refuse recordings and images where a format holds only texts."""
    if document.unit not in units:
        raise rule.error(f"the unit of document {quoted(document.id)} is {document.unit}, not {' or '.join(units)}")
