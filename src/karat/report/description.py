"""A description of a corpus as small tables, or as JSON."""

from collections.abc import Iterator, Mapping

import msgspec

from karat.describe import Description, EcbTable, Values
from karat.report.text import table


def text(description: Description) -> str:
    """Everything, top to bottom: documents, mentions, attributes, clusters, links, the fingerprint."""
    return "\n\n".join([*_blocks(description), f"fingerprint  {description.fingerprint}"]) + "\n"


def json(description: Description) -> str:
    """The same numbers; `karat.describe` says what the keys are."""
    return msgspec.json.format(msgspec.json.encode(description), indent=2).decode() + "\n"


def _blocks(told: Description) -> Iterator[str]:
    yield _whole(told)
    yield _counted("unit of offsets", "documents", told.units)
    for noun, values in (("source", told.sources), ("language", told.languages)):
        if values.distinct:
            yield _values(noun, "documents", values)
    if told.mentions:
        header = ["mentions", "all", "one segment", "several segments", "no span"]
        rows = [[kind, *_numbers(msgspec.structs.astuple(row))] for kind, row in told.mentions.items()]
        yield table(header, rows)
    for kind, attributes in told.attributes.items():
        for name, values in attributes.items():
            yield _values(f"{name} of {kind} mentions", "mentions", values)
    if told.clusters:
        header = ["clusters", "all", "singleton", "within a document", "across documents", "empty", "largest"]
        rows = [[kind, *_numbers(msgspec.structs.astuple(row))] for kind, row in told.clusters.items()]
        yield table(header, rows)
    for kind, attributes in told.cluster_attributes.items():
        for name, values in attributes.items():
            yield _values(f"{name} of {kind} clusters", "records", values)
    if told.links:
        yield _counted("links", "all", told.links)
    if told.ecbplus is not msgspec.UNSET:
        yield _ecb_table(told.ecbplus)


def _whole(told: Description) -> str:
    mentions = sum(row.mentions for row in told.mentions.values())
    clusters = sum(row.clusters for row in told.clusters.values())
    rows = [["documents", f"{told.documents:,}"]]
    for noun, named in (("topic", told.topics), ("subtopic", told.subtopics)):
        if named.present:
            rows.append([f"{noun}s", f"{named.distinct:,}"])
            if named.absent:
                rows.append([f"documents without a {noun}", f"{named.absent:,}"])
    rows += [["mentions", f"{mentions:,}"], ["clusters", f"{clusters:,}"], ["links", f"{sum(told.links.values()):,}"]]
    return table([], rows)


def _counted(noun: str, counted: str, counts: Mapping[str, int]) -> str:
    return table([noun, counted], [[name, f"{count:,}"] for name, count in counts.items()])


def _values(noun: str, counted: str, values: Values) -> str:
    rows = [[_shown(one.value), f"{one.count:,}"] for one in values.values]
    if values.more.values:
        plural = "s" * (values.more.values > 1)
        rows.append([f"{values.more.values:,} more value{plural}", f"{values.more.count:,}"])
    if values.absent:
        rows.append(["(none)", f"{values.absent:,}"])
    return table([noun, counted], rows)


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


def _ecb_table(told: EcbTable) -> str:
    """As the paper prints it, the notes under it."""
    rows = [
        [shown, *_numbers(tuple(getattr(column, name) for column in told.columns.values()))]
        for name, shown in ECB_ROWS.items()
    ]
    unsplit = [f"Documents of topics in no split, counted in the total: {told.unsplit:,}."] * bool(told.unsplit)
    whole = table([f"ECB+ ({told.source})", *told.columns], rows)
    return "\n".join([whole, *told.notes, *unsplit])


def _shown(value: object) -> str:
    """Text as it is, on one line; other values as in JSON, so that true is not taken for a word."""
    if isinstance(value, str):
        return value if value.isprintable() and value.strip() else msgspec.json.encode(value).decode()
    return msgspec.json.encode(value).decode()


def _numbers(row: tuple[int, ...]) -> list[str]:
    return [f"{number:,}" for number in row]
