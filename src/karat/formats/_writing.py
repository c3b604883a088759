"""What writers of formats share: losses that they report, clusters, and spans in tokens."""

from bisect import bisect_left
from collections.abc import Collection, Iterable

from karat.errors import Rule, quoted
from karat.model import Document, Mention, Region
from karat.plugin.formats import ReportLoss


def report_fields(
    document: Document, fields: Iterable[str], report_loss: ReportLoss, *, holds: Collection[str] = ()
) -> None:
    """Report which of these fields a document has, and what few formats (but perhaps this one) say of its tokens."""
    for field in (*fields, *(name for name in ("forms", "sentences", "empty_nodes") if name not in holds)):
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


def members(mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """The ids of the mentions of each cluster, in their order."""
    ids: dict[str, list[str]] = {}
    for mention in mentions:
        if mention.cluster is not None:
            ids.setdefault(mention.cluster, []).append(mention.id)
    return ids


def projected(mention: Mention, document: Document, rule: Rule) -> Region:
    """The span of a mention in tokens, if it consists of whole tokens; else it is refused by this rule."""
    tokens = document.tokens
    if tokens is None:
        raise rule.error(f"document {quoted(document.id)} counts in characters and has no tokens")
    segments: list[tuple[int, int]] = []
    for begin, end in mention.span:
        first = bisect_left(tokens, (begin, begin))
        last = bisect_left(tokens, end, key=lambda token: token[1])
        if not (first <= last < len(tokens) and (tokens[first][0], tokens[last][1]) == (begin, end)):
            message = f"the span {mention.span} of mention {quoted(mention.id)} of document {quoted(document.id)}"
            raise rule.error(f"{message} does not consist of whole tokens")
        segments.append((first, last + 1))
    return tuple(segments)
