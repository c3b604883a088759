"""Losses that the writers of several formats report."""

from collections.abc import Collection, Iterable

from karat.errors import Rule, quoted
from karat.model import Document, Mention
from karat.plugin.formats import ReportLoss


def report_fields(
    document: Document, fields: Iterable[str], report_loss: ReportLoss, *, holds: Collection[str] = ()
) -> None:
    """Report which of these fields a document has, and what few formats (but perhaps this one) say of its tokens."""
    for field in (*fields, *(one for one in ("forms", "sentences", "empty_nodes") if one not in holds)):
        if getattr(document, field) not in (None, ()):
            report_loss(f"the document's {field.replace('_', ' ')}")


def report_regions(mention: Mention, report_loss: ReportLoss) -> None:
    """Report the regions of a mention other than its span."""
    for field in ("head", "extent", "anchor", "scope"):
        if getattr(mention, field) is not None:
            report_loss(f"the {field} of mentions")


def report_rare(document: Document, report_loss: ReportLoss, *, holds: Collection[str] = ()) -> None:
    """Report what few formats can say about documents (except what the format holds), clusters and links."""
    for name in document.about:
        if name not in holds:
            report_loss(f"the document's {name}")
    for cluster in document.clusters:
        if cluster.names:
            report_loss("names of clusters")
        if cluster.external:
            report_loss("external links of clusters")
    for link in document.links:
        if link.extent is not None:
            report_loss("extents of links")


def refuse_unit(document: Document, units: tuple[str, ...], rule: Rule) -> None:
    """Refuse recordings and images in formats that hold only text."""
    if document.unit not in units:
        raise rule.error(f"the unit of document {quoted(document.id)} is {document.unit}, not {' or '.join(units)}")
