"""Writing TBF: reports what the format cannot hold, and refuses what would be read back as something else."""

from collections.abc import Callable

from karat.formats._writing import members, refuse_unit, report_document, report_regions
from karat.formats.tbf import link_kind
from karat.limits import check_pairs
from karat.model import Document, Mention, Region, qualified
from karat.plugin.formats import ReportLoss, TokenTables, WriteOptions
from karat.problems import Rule, ignore, quoted
from karat.regions import size
from karat.words import spelled

UNWRITABLE = Rule(
    "tbf-unwritable", "fatal", "Rename it: TBF separates columns by tabs, ids by commas, lines by line ends."
)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """One block; what TBF cannot hold is reported."""
    refuse_unit(document, ("char", "token"), UNWRITABLE)
    _report_losses(document, report_loss)
    mentions = [mention for mention in document.mentions if mention.kind == "event" and mention.span]
    span = _char_text if document.unit == "char" else _token_writer(document, options.tokens, report_loss)
    if document.unit == "token":
        tokens = sum(size(mention.span) for mention in mentions)
        check_pairs(tokens, "tokens in its spans", where=f"document {quoted(document.id)}", verb="writes")
    lines = [f"#BeginOfDocument {_cell(document.id, document)}"]
    producer = _cell(document.producer or "karat", document)
    if producer[0] in "#@":
        report_loss("system ids that begin with # or @ (written karat)")
        producer = "karat"
    for mention in mentions:
        columns = [
            producer,
            document.id,
            _cell(mention.id, document, also=","),
            span(mention.span),
            _words(mention, document, report_loss),
            _cell(str(mention.attributes.get("type", "")), document),
            _cell(_realis(mention, report_loss), document),
            *(_cell(confidence, document) for confidence in mention.confidence),
        ]
        lines.append("\t".join(columns))
    clusters = members(mentions)
    for cluster, ids in clusters.items():
        if len(ids) > 1:
            name = _cell(cluster.removeprefix(qualified(document.id, "")), document)
            lines.append(f"@Coreference\t{name}\t{','.join(ids)}")
    ends = {cluster: ids[0] for cluster, ids in clusters.items()} | {mention.id: mention.id for mention in mentions}
    for count, link in enumerate(document.links, 1):
        name = link.kind.capitalize()
        if link_kind(name) == link.kind and link.source in ends and link.target in ends:
            lines.append(f"@{_cell(name, document)}\tR{count}\t{ends[link.source]},{ends[link.target]}")
            if {link.source, link.target} != {ends[link.source], ends[link.target]}:
                report_loss("that links join clusters (written between their first mentions)")
        else:
            report_loss(f"links of kind {link.kind}")
    return "\n".join([*lines, "#EndOfDocument", ""]).encode("utf-8")


def _report_losses(document: Document, report_loss: ReportLoss) -> None:
    in_table = () if document.token_ids is None else ("forms",)
    report_document(
        document, ("topic", "subtopic", "source", "language", "text", "tokens"), report_loss, holds=in_table
    )
    if document.clusters:
        report_loss("kinds and attributes of clusters")
    for mention in document.mentions:
        report_regions(mention, report_loss)
        if mention.kind != "event":
            report_loss(f"mentions of kind {mention.kind}")
        elif not mention.span:
            report_loss("mentions without a span")
        for name, value in mention.attributes.items():
            if name not in ("type", "realis"):
                report_loss(f"the attribute {name}")
            elif not isinstance(value, str):
                report_loss(f"that {name} is not text")


def _cell(text: str, document: Document, *, also: str = "") -> str:
    """Text that can be written in a column; anything that would be read back as something else is refused."""
    if any(mark in text for mark in "\t\n" + also) or text != text.strip():
        raise UNWRITABLE.error(f"{quoted(text)} in document {document.id!r} cannot be written in a TBF column")
    return text


def _words(mention: Mention, document: Document, report_loss: ReportLoss) -> str:
    text = mention.text
    if text is None and document.text is not None and document.unit == "char":
        text = " ".join(document.text[begin:end] for begin, end in mention.span)
    words = " ".join((text or "").split())
    if text is not None and words != text:
        report_loss("tabs, line ends and outer blanks of mentions' text")
    return words


def _realis(mention: Mention, report_loss: ReportLoss) -> str:
    realis = mention.attributes.get("realis")
    if realis in (None, ""):
        report_loss("that mentions have no realis (written NOT_ANNOTATED)")
        return "NOT_ANNOTATED"
    return str(realis)


def _char_text(span: Region) -> str:
    return ";".join(f"{begin},{end}" for begin, end in span)


def _token_writer(document: Document, tables: TokenTables | None, report_loss: ReportLoss) -> Callable[[Region], str]:
    """How token spans are written: by the ids of the document's table, or by the id that a number spells."""
    # A table that is missing is reported as a loss.
    ids = document.token_ids or () if tables is None else tuple(tables.table(document.id, ignore).rows)
    if tables is None and ids:
        report_loss("the token table (spans are written as its ids; --tokens names a folder that has it)")

    def token(row: int) -> str:
        id_ = ids[row] if row < len(ids) else spelled(row, len(ids))
        if id_ is None:
            report_loss("token ids (no token table: rows are written by number)")
        return id_ or str(row)

    return lambda span: ",".join(token(row) for begin, end in span for row in range(begin, end))
