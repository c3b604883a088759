"""A description of a corpus in every output format: small tables, or JSON."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from karat import __version__
from karat.counts import Ratio
from karat.describe.description import Description, Values
from karat.describe.ecb_table import EcbTable
from karat.report.latex import latex
from karat.report.layout import View
from karat.report.markup import csv, markdown
from karat.report.outputs import indented
from karat.report.tables import Page, Table, as_text, percentage


def _text(description: Description, view: View) -> str:
    """Tables of documents, mentions, attributes, clusters and links, then the fingerprint."""
    tables = [as_text(table, view.style) for table in _tables(description, view.digits)]
    return "\n\n".join([*tables, f"fingerprint  {description.fingerprint}"]) + "\n"


def _page(description: Description, view: View) -> Page:
    """Tables for a paper; the fingerprint identifies the corpus."""
    signature = _signature(description)
    return Page([*_tables(description, view.digits)], [f"signature {signature}"], ["The corpus"], [signature])


def _csv(description: Description, view: View) -> str:
    """Return all numbers as one table, a row for each."""
    signed = _signature(description)
    rows = [
        [table.header[0] if table.header else "corpus", str(row[0]).strip(), header, str(cell).replace(",", ""), signed]
        for table in _tables(description, view.digits)
        for row in table.rows
        for header, cell in zip(table.header[1:] or ["all"], row[1:], strict=True)
    ]
    return csv(["of", "name", "counted", "number", "signature"], rows)


def _signature(description: Description) -> str:
    return f"karat={__version__}|corpus={description.fingerprint}"


FORMATS: Mapping[str, Callable[[Description, View], str]] = {
    "text": _text,
    "json": lambda description, _: indented(description),
    "csv": _csv,
    "markdown": lambda description, view: markdown(_page(description, view)),
    "latex": lambda description, view: latex([_page(description, view)], wide=view.wide),
}
"""Outputs of `karat describe -f`."""


def _tables(description: Description, digits: int) -> Iterator[Table]:
    yield _totals(description)
    yield _counts("unit of offsets", "documents", description.units)
    for noun, values in (("source", description.sources), ("language", description.languages)):
        if values.distinct:
            yield _values(noun, "documents", values, digits)
    if description.mentions:
        header = ["mentions", "all", "one segment", "several segments", "no span"]
        rows = [[kind, *_numbers(msgspec.structs.astuple(row))] for kind, row in description.mentions.items()]
        yield Table.of(header, rows)
    for kind, attributes in description.attributes.items():
        for name, values in attributes.items():
            yield _values(f"{name} of {kind} mentions", "mentions", values, digits)
    if description.clusters:
        header = ["clusters", "all", "singleton", "within a document", "across documents", "empty", "largest"]
        rows = [[kind, *_numbers(msgspec.structs.astuple(row))] for kind, row in description.clusters.items()]
        yield Table.of(header, rows)
    for kind, attributes in description.cluster_attributes.items():
        for name, values in attributes.items():
            yield _values(f"{name} of {kind} clusters", "records", values, digits)
    if description.links:
        yield _counts("links", "all", description.links)
    if description.arguments:
        yield _counts("roles", "arguments", description.arguments)
    if description.ecbplus is not msgspec.UNSET:
        yield _ecb_table(description.ecbplus)


def _totals(description: Description) -> Table:
    mentions = sum(row.mentions for row in description.mentions.values())
    clusters = sum(row.clusters for row in description.clusters.values())
    rows = [["documents", f"{description.documents:,}"]]
    for noun, named in (("topic", description.topics), ("subtopic", description.subtopics)):
        if named.present:
            rows.append([f"{noun}s", f"{named.distinct:,}"])
            if named.absent:
                rows.append([f"documents without a {noun}", f"{named.absent:,}"])
    links = sum(description.links.values())
    rows += [["mentions", f"{mentions:,}"], ["clusters", f"{clusters:,}"], ["links", f"{links:,}"]]
    if description.arguments:
        rows.append(["arguments", f"{sum(description.arguments.values()):,}"])
    return Table.of([], rows)


def _counts(noun: str, counted: str, counts: Mapping[str, int]) -> Table:
    return Table.of([noun, counted], [[name, f"{count:,}"] for name, count in counts.items()])


def _values(noun: str, counted: str, values: Values, digits: int) -> Table:
    """Number of records with each value, and their share."""
    counts = [(_printed(count.value), count.count) for count in values.values]
    if values.more.values:
        plural = "s" * (values.more.values > 1)
        counts.append((f"{values.more.values:,} more value{plural}", values.more.count))
    if values.absent:
        counts.append(("(none)", values.absent))
    total = values.present + values.absent
    rows = [[name, f"{count:,}", percentage(Ratio(count, total).value, digits)] for name, count in counts]
    return Table.of([noun, counted, "%"], rows)


ECB_ROWS = {
    "documents": "documents",
    "topics": "topics",
    "subtopics": "subtopics",
    "mentions": "event mentions",
    "singleton": "  singleton",
    "wd": "  WD",
    "cd": "  CD",
    "wd_chains": "WD chains",
    "cd_chains": "CD chains",
}


def _ecb_table(ecb: EcbTable) -> Table:
    """The table as the paper prints it, with notes below."""
    rows = [
        [label, *_numbers(tuple(getattr(column, name) for column in ecb.columns.values()))]
        for name, label in ECB_ROWS.items()
    ]
    unsplit = [f"Documents of topics in no split, counted in the total: {ecb.unsplit:,}."] * bool(ecb.unsplit)
    columns = Table.of([f"ECB+ ({ecb.source})", *ecb.columns], rows)
    return columns._replace(notes=[*ecb.notes, *unsplit])


def _printed(value: object) -> str:
    """Printable text as it is, anything else as JSON, so that true does not look like a word."""
    if isinstance(value, str):
        return value if value.isprintable() and value.strip() else msgspec.json.encode(value).decode()
    return msgspec.json.encode(value).decode()


def _numbers(row: tuple[int, ...]) -> list[str]:
    return [f"{number:,}" for number in row]
