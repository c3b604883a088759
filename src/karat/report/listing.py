"""Outcomes of measures as text: what was matched, missed and spurious, document by document; elements of ACE."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from msgspec import UNSET

from karat.counts import Counts, Ratio
from karat.model import HOLDERS, Value
from karat.problems import visible
from karat.records import ClusterRecord, ElementRecord, LinkRecord, MentionRecord, OutcomeRecord, Record, TreeRecord
from karat.report.layout import GAP, Style, counted, paragraph, shortened, table
from karat.report.tables import UNDEFINED, percentage

WIDTH = 100
"""Of a listing that is not for a terminal."""
NARROWEST = 76
"""The columns of mentions are not narrower than this."""
TONES = {"match": "green", "miss": "red", "spurious": "magenta"}
OTHER_TONE = "yellow"
ORDER = ("match", "partial", "miss", "spurious")
LONGEST_TEXT = 32
MOST_CONFUSED = 8
NOTHING = Ratio(0, 0)
SCORES = {"precision": "P", "recall": "R", "accuracy": "accuracy", "score": "score"}
"""The scores whose parts are shown with an outcome."""

Paragraphs = dict[tuple[str, int, bool], str]
"""By side, identity of a record, and whether lines are shown: a cluster is the same in all outcomes that have it."""


def listings(outcomes: Mapping[str, Sequence[OutcomeRecord]], style: Style) -> Iterator[str]:
    style = style._replace(width=style.width or WIDTH)
    paragraphs: Paragraphs = {}
    for measure, records in outcomes.items():
        yield from _listing(measure, records, style, paragraphs)


def _listing(measure: str, records: Sequence[OutcomeRecord], style: Style, paragraphs: Paragraphs) -> Iterator[str]:
    """A summary, then a block for each document, or each unit of several documents."""
    numbers = Counter(record.outcome for record in records)
    classes = sorted(numbers, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    summary = ", ".join(f"{numbers[name]:,} {style.paint(name, _tone(name))}" for name in classes)
    yield f"{style.paint(f'{measure} by item', 'bold')}: {summary or 'nothing to list'}"
    for place, group in groupby(records, key=lambda record: record.document or record.unit):
        outcomes = list(group)
        items = {id(item): item for record in outcomes for item in (record.gold, record.system)}
        lines = {mention.line for item in items.values() for mention in _mentions_of(item) if mention.line is not None}
        # In a format with one document per line, the line is said once.
        title = f"{place}, line {next(iter(lines))}" if len(lines) == 1 and outcomes[0].document else place
        listed = _outcomes(outcomes, style, paragraphs, show_lines=title == place)
        yield "\n".join([style.paint(visible(title), "bold"), *listed])


def _mentions_of(item: Record | None) -> Sequence[MentionRecord]:
    if isinstance(item, MentionRecord):
        return (item,)
    if isinstance(item, ClusterRecord):
        return item.mentions
    if isinstance(item, LinkRecord):
        return (*item.source_mentions, *item.target_mentions)
    if isinstance(item, TreeRecord):
        return [mention for event in item.events for mention in event.mentions]
    return ()


def _outcomes(
    records: Sequence[OutcomeRecord], style: Style, paragraphs: Paragraphs, *, show_lines: bool
) -> Iterator[str]:
    """The outcomes of one document or unit."""
    if all(isinstance(record.gold or record.system, MentionRecord) for record in records):
        yield from _mention_outcomes(records, style, show_lines=show_lines)
        return
    for record in records:
        label = style.paint(record.outcome, _tone(record.outcome))
        yield f"  {label}  {earned(record.counts)}".rstrip()
        gold, system = record.gold, record.system
        if isinstance(gold, ClusterRecord) and isinstance(system, ClusterRecord) and _same(gold, system):
            names = dict.fromkeys([_cluster_name(gold), _cluster_name(system)])
            text = f"{' = '.join(names)} {_mentions(gold.mentions, show_lines)}"
            yield paragraph(text, style, first="    both    ", indent=" " * 14)
            continue
        for side, item in (("gold", gold), ("system", system)):
            if item is not None:
                key = side, id(item), show_lines
                if key not in paragraphs:
                    text = described(item, show_lines=show_lines)
                    paragraphs[key] = paragraph(text, style, first=f"    {side:<6}  ", indent=" " * 14)
                yield paragraphs[key]


def _mention_outcomes(records: Sequence[OutcomeRecord], style: Style, *, show_lines: bool) -> list[str]:
    """Aligned columns, a row for each side, or one for both if they say the same."""
    rows: list[list[str]] = []
    labels: list[str] = []
    for record in records:
        sides = [
            (name, item)
            for name, item in (("gold", record.gold), ("system", record.system))
            if isinstance(item, MentionRecord)
        ]
        label = " ".join(filter(None, [record.outcome, earned(record.counts, full=False) if len(sides) == 2 else ""]))
        if len(sides) == 2 and _content(sides[0][1]) == _content(sides[1][1]):
            lines = dict.fromkeys(str(mention.line) for _, mention in sides if mention.line is not None)
            rows.append([label, "both", _line(" and ".join(lines)), *_columns(sides[0][1])])
            labels.append(record.outcome)
            continue
        for name, mention in sides:
            rows.append([label, name, _line("" if mention.line is None else str(mention.line)), *_columns(mention)])
            labels.append(record.outcome)
            label = ""
    if not (show_lines and any(row[2] for row in rows)):
        rows = [[*row[:2], *row[3:]] for row in rows]
    fitted = Style(max((style.width or WIDTH) - 2, NARROWEST))
    shown = table([], rows, left=len(rows[0]), style=fitted).split("\n")
    return [f"  {_tinted(line, label, style)}" for line, label in zip(shown, labels, strict=True)]


def _line(lines: str) -> str:
    return f"line {lines}" if lines else ""


def _columns(mention: MentionRecord) -> list[str]:
    return [mention.place, _excerpt(mention.text) or mention.id, attributes_in_words(mention.attributes)]


def _excerpt(text: str | None) -> str:
    """The beginning of a text, in one line."""
    return "" if text is None else shortened(" ".join(text.split()), LONGEST_TEXT)


def _tinted(line: str, label: str, style: Style) -> str:
    return style.paint(label, _tone(label)) + line[len(label) :] if line.startswith(label) else line


def _content(mention: MentionRecord) -> tuple[object, ...]:
    return mention.span, mention.text, mention.kind, mention.attributes


def described(item: Record, *, show_lines: bool) -> str:
    """An item in words: its id, and its mentions with their places."""
    if isinstance(item, MentionRecord):
        return " ".join(filter(None, [_mention(item, show_lines), attributes_in_words(item.attributes)]))
    if isinstance(item, ClusterRecord):
        return f"{_cluster_name(item)} {_mentions(item.mentions, show_lines)}"
    if isinstance(item, LinkRecord):
        ends = (item.source, item.source_mentions), (item.target, item.target_mentions)
        source, target = (f"{visible(name)} {_mentions(mentions, show_lines)}" for name, mentions in ends)
        return f"{visible(item.kind)}: {' '.join(filter(None, [source, _event(item)]))} -> {target}"
    if isinstance(item, TreeRecord):
        events = ", ".join(f"{visible(event.id)} {_mentions(event.mentions, show_lines)}" for event in item.events)
        return ": ".join(filter(None, [f"tree {visible(item.id)}, {counted(len(item.events), 'event')}", events]))
    assert isinstance(item, ElementRecord), "all other records have mentions"
    return f"{visible(item.kind)} {attributes_in_words(item.attributes)}"


def _same(gold: ClusterRecord, system: ClusterRecord) -> bool:
    """Check that two clusters have the same mentions in the same lines."""
    if len(gold.mentions) != len(system.mentions):
        return False
    sides = ([(m.document, m.span, m.text, m.line) for m in cluster.mentions] for cluster in (gold, system))
    return next(sides) == next(sides)


def _cluster_name(cluster: ClusterRecord) -> str:
    """Return the id of a cluster, and how many of its mentions count if not all do."""
    if cluster.size == len(cluster.mentions):
        return visible(cluster.id)
    return f"{visible(cluster.id)} ({cluster.size:,} of {len(cluster.mentions):,} mentions count)"


def _mentions(mentions: Sequence[MentionRecord], show_lines: bool) -> str:
    return "{" + ", ".join(_mention(mention, show_lines) for mention in mentions) + "}"


def _event(link: LinkRecord) -> str:
    """The attributes of an event or template that has an argument; without them, a wrong type could not be seen."""
    if any(mention.kind in HOLDERS for mention in link.target_mentions):
        return ""
    events = [mention for mention in link.source_mentions if mention.kind in HOLDERS]
    return ", ".join(attributes_in_words(event.attributes) for event in events)


def _mention(mention: MentionRecord, show_line: bool) -> str:
    """Return a mention's text or id, with document and line, or the span where there is no line to show."""
    name = mention.id if mention.text is None else _excerpt(mention.text)
    place = f"line {mention.line}" if show_line and mention.line is not None else mention.place
    document = mention.document if isinstance(mention.document, str) else ""
    where = ", ".join(filter(None, [document, place]))
    matched = "" if mention.matched is UNSET else " (unmatched)"
    return visible(f"{name} [{where}]{matched}" if where else f"{name}{matched}")


def attributes_in_words(attributes: Mapping[str, Value]) -> str:
    """Values: those of type and realis as they are, others with their names."""
    known = [str(attributes[name]) for name in ("type", "realis") if name in attributes]
    others = [f"{name}={value}" for name, value in sorted(attributes.items()) if name not in ("type", "realis")]
    return visible(", ".join([*known, *others]))


@lru_cache(maxsize=4096)
def earned(counts: Counts, *, full: bool = True) -> str:
    """Share that an outcome earned of what it could, such as `P 1/2  R 1/3`; unless `full`, only if that is not all."""
    ratios = counts.ratios()
    parts = {
        short: f"{ratio.num:.4g}/{ratio.den:.4g}"
        for name, short in SCORES.items()
        if (ratio := ratios.get(name, NOTHING)).den and (full or ratio.num != ratio.den)
    }
    if not full and len(set(parts.values())) == 1:
        return next(iter(parts.values())).removesuffix("/1")
    return GAP.join(f"{short} {part}" for short, part in parts.items())


def _tone(label: str) -> str:
    return TONES.get(label, OTHER_TONE)


# Elements, which measures such as those of ACE list in place of outcomes


def elements(id_: str, detail: Mapping[str, Any], *, digits: int, style: Style) -> list[str]:
    """Recognition of attributes, the most frequent confusions, and every item."""
    blocks = [_recognition(id_, detail["recognition"], digits, style)] if detail["recognition"] else []
    blocks += _detection(id_, detail["recognition"], style)
    confused = [
        [f"{part} {name}", gold, system, str(count)]
        for part, attributes in detail["recognition"].items()
        for name, recognised in attributes.items()
        for gold, system, count in _most_confused(recognised["confusion"])
    ]
    if confused:
        blocks.append(table([f"{id_} confused", "reference", "system", "count"], confused, left=3, style=style))
    rows = [
        [
            item["document"] or UNDEFINED,
            *(_named(item, side) for side in ("reference", "system")),
            item["outcome"],
            f"{item['value']:.5f} of {item['worth']:.5f}",
            "; ".join(item["lost"]),
        ]
        for item in detail["items"]
    ]
    if rows:
        blocks.append(table([id_, "reference", "system", "outcome", "value", "lost"], rows, left=6, style=style))
    return blocks


def _named(item: Mapping[str, Any], side: str) -> str:
    """An item of one side, with its words."""
    return " ".join(filter(None, [item.get(side), _excerpt(item.get(f"{side}_text"))])) or UNDEFINED


def _recognition(id_: str, parts: Mapping[str, Any], digits: int, style: Style) -> str:
    names = ("reference", "false_alarm", "miss", "substitution", "error")
    rows = [
        [
            f"{part} {name}",
            *(str(recognised[count]) for count in names),
            *(percentage(recognised[score], digits) for score in ("precision", "recall", "f1")),
        ]
        for part, attributes in parts.items()
        for name, recognised in attributes.items()
    ]
    return table([f"{id_} recognition", *(name.replace("_", " ") for name in names), "P", "R", "F1"], rows, style=style)


def _detection(id_: str, parts: Mapping[str, Any], style: Style) -> list[str]:
    """Parts of items (mentions, names, arguments) by value: how many are in the reference, spurious and missed.

    For those with an extent, also how many of the matched ones have the right one.
    """
    rows = []
    has_extents = any("extents" in found for part in list(parts)[1:] for found in parts[part].values())
    for part in list(parts)[1:]:
        for name, found in parts[part].items():
            values = sorted({*found["confusion"], *found["missed"], *found["spurious"]})
            if name == "extent" or (len(values) < 2 and "extents" not in found):
                continue
            for value in values:
                missed, spurious = found["missed"].get(value, 0), found["spurious"].get(value, 0)
                matched = sum(found["confusion"].get(value, {}).values())
                extents = found.get("extents", {}).get(value, {})
                counts = [matched + missed, spurious, missed]
                counts += [extents.get(extent, 0) for extent in ("wrong", "right") if has_extents]
                rows.append([f"{part} {name}", value, *map(str, counts)])
    header = [f"{id_} detection", "value", "reference", "false alarm", "miss"]
    header += ["extent wrong", "extent right"] if has_extents else []
    return [table(header, rows, left=2, style=style)] if rows else []


def _most_confused(confusion: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, int]]:
    cells = [
        (gold, system, count) for gold, row in confusion.items() for system, count in row.items() if gold != system
    ]
    return sorted(cells, key=lambda cell: (-cell[2], cell[:2]))[:MOST_CONFUSED]
