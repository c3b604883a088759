"""One page per measure family, protocol and format, and an index of each."""

import inspect
from collections.abc import Mapping
from typing import Any

import errors
from declared import fields_table, laws_table, summary
from formulas import formula
from jsonl_fields import fields_section
from markup import code, documentation, fence, joined, links, points, prose, shown, table
from msgspec import Struct, structs

from karat.families import MEASURES
from karat.filters import FILTERS
from karat.formats import FORMATS
from karat.formats.jsonl import FORMAT as JSONL
from karat.plugin import AlignmentChoice, Averages, Completion, Facts, Parameter
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.protocols.files import lineage, source, written

# Measures


def measure_index() -> str:
    """All measures."""
    rows = [
        [_ids(ids), prose(what), f"[{name}]({name}.md)"]
        for name, family in MEASURES
        for ids, what in family.card.rows.items()
    ]
    about = (
        "A measure turns a table into counts and counts into scores. Its id is the same on the command line, in JSON\n"
        "and in Python. `karat explain ID` prints these pages in a terminal."
    )
    return f"# Measures\n\n{about}\n\n{table(['measure', 'what it counts', 'family'], rows)}\n"


def measure_page(name: str) -> str:
    """One family: its card, its parameters, and the protocols that use it."""
    family = MEASURES.get(name)
    card = family.card
    users = [one for one in PROTOCOLS.names() if name in {used.name for used in resolve(one).families}]
    parts = [
        f"# {name}: {card.title}",
        table(["measure", "what it counts"], [[_ids(ids), prose(what)] for ids, what in card.rows.items()]),
        f"## Formula\n\n{formula(card.formula, card.symbols)}",
        table(["symbol", "meaning"], [[code(symbol), prose(what)] for symbol, what in card.symbols.items()])
        if card.symbols
        else "",
        f"{prose(card.citation)}",
        points("Known traps", card.traps),
        points("Where paper and program differ", card.departures),
        points("What `--details` lists", [f"`{name}`: {meaning}" for name, meaning in card.outcomes.items()]),
        "## Protocols that use it\n\n" + (links(users, "../protocols/") or "No installed protocol uses it."),
        f'## Parameters\n\nA protocol sets them in a `[[measures]]` entry with `family = "{name}"`:\n\n'
        + fields_table(family.parameters),
        f"## Laws\n\nThe tests check that its arithmetic obeys these laws:\n\n{laws_table(card.laws)}",
    ]
    return joined(parts)


# Protocols


def protocol_index() -> str:
    """All protocols."""
    chosen = choosing_formats()
    rows = [
        [
            f"[{name}]({name}.md)",
            prose(protocol.title),
            protocol.unit,
            links(chosen.get(name, ()), "../formats/") or "-",
        ]
        for name, protocol in ((name, resolve(name)) for name in PROTOCOLS.names())
    ]
    about = (
        "A protocol is data: a file that says how to score. [Protocols as data](../concepts/protocols.md) explains\n"
        "how to read one, change a parameter, or write your own."
    )
    header = ["protocol", "description", "unit", "default for"]
    return f"# Protocols\n\n{about}\n\n{table(header, rows)}\n"


def protocol_page(name: str) -> str:
    """One protocol: a description, tables of what it does, and its file."""
    protocol = resolve(name)
    chosen = choosing_formats().get(name, ())
    default = f"\nThe default protocol for {links(chosen, '../formats/')}.\n" if chosen else ""
    aliases = written(source(name)).aliases
    names = f"\nAlso called {', '.join(map(code, aliases))}.\n" if aliases else ""
    parts = [
        f"# {name}",
        f"**{prose(protocol.title)}**\n\n{prose(protocol.about)}\n{default}{names}",
        points("Sources", protocol.sources),
        f"## Parameters of `--set`\n\n{parameters_table(protocol)}",
        f"## What it does\n\n{steps_table(protocol)}",
        f"### Alignments\n\n{alignments_table(protocol)}" if protocol.alignments else "",
        f"### Measures and averages\n\n{families_table(protocol)}",
        f"## Laws\n\nThe tests check that its scores obey these laws:\n\n{laws_table(protocol.laws)}",
        f"## The file\n\nTo write your own, copy this file, change it, and score with `-p FILE`.\n\n{_files(name)}",
    ]
    return joined(parts)


def _files(name: str) -> str:
    """The protocol's file, and those it extends."""
    first, *others = lineage(source(name))
    extended = [f"It extends [{path.stem}]({path.stem}.md)." for path in others[:1]]
    return "\n\n".join([fence(first.read_text(encoding="utf-8"), "toml"), *extended])


def choosing_formats() -> dict[str, list[str]]:
    """For each protocol, the formats of gold whose default it is."""
    found: dict[str, list[str]] = {}
    for name, format_ in FORMATS:
        for protocol in format_.protocols:
            found.setdefault(protocol, []).append(name)
    return found


def parameters_table(protocol: Protocol) -> str:
    """The parameters that `--set` changes."""
    rows = [
        [code(key), code(shown(parameter.default)), _values(parameter), prose(parameter.help)]
        for key, parameter in protocol.parameters.items()
    ]
    return table(["key", "default", "values", "meaning"], rows) if rows else "None."


def _values(parameter: Parameter) -> str:
    """The values that a parameter may have."""
    if parameter.choices:
        return " ".join(map(code, parameter.choices))
    match parameter.default:
        case bool():
            return f"{code('true')} {code('false')}"
        case list():
            return "names, joined by commas"
        case int() | float() if parameter.minimum is not None and parameter.maximum is not None:
            return f"{parameter.minimum:g} to {parameter.maximum:g}"
        case int() | float():
            return "number"
    return "file" if parameter.file else "text"


def steps_table(protocol: Protocol) -> str:
    """Unit, documents, filters and comparison."""
    only = {"ignore": "ignored, with a note", "score": "scored: all spurious", "refuse": "refused"}
    gold_only = {"score": "scored: all missed", "refuse": "refused"}
    comparison = protocol.comparison
    wild = " or ".join(comparison.wildcard_attributes or ["value"])
    rows = [
        ["unit of evaluation", protocol.unit],
        ["documents that only the system has", only[protocol.system_only_documents]],
        ["documents that only gold has", gold_only[protocol.gold_only_documents]],
        *([f"filter {code(_filter_name(filter_))}", prose(summary(type(filter_)))] for filter_ in protocol.filters),
        ["attribute values are compared", code(comparison.form)],
        *([[f"a gold {wild} that agrees with anything", code(comparison.wildcard)]] if comparison.wildcard else []),
    ]
    return table(["step", "setting"], rows)


def _filter_name(filter_: Any) -> str:
    return next((name for name, type_ in FILTERS if type_ is type(filter_)), type(filter_).__name__)


def alignments_table(protocol: Protocol) -> str:
    """The alignments, by name."""
    choices = protocol.alignments
    changed = {name for choice in choices.values() for name in _changed(choice)}
    names = [name for name in AlignmentChoice.__struct_fields__ if name in changed | {"similarity", "method", "ties"}]
    rows = [[code(key), *(code(shown(getattr(choice, name))) for name in names)] for key, choice in choices.items()]
    about = "[Alignments](../concepts/alignments.md) explains these keys, and the others, which have their defaults."
    return f"{table(['alignment', *names], rows)}\n\n{about}"


def _changed(record: Struct) -> list[str]:
    """The fields of a record that have no default, or another value."""
    standard = {field.name: field.default for field in structs.fields(record)}
    return [name for name, value in structs.asdict(record).items() if value != standard[name]]


def families_table(protocol: Protocol) -> str:
    """The measures, their parameters, and how their units are averaged."""
    rows = []
    for family in protocol.families:
        parameters = {name: getattr(family.parameters, name) for name in _changed(family.parameters)}
        rows.append(
            [
                links([family.name], "../measures/"),
                "<br>".join(f"{code(name)}: {_brief(value)}" for name, value in parameters.items()) or "as by default",
                "<br>".join(
                    f"{code(name)}: {code(shown(getattr(family.averages, name)))}"
                    for name in Averages.__struct_fields__
                ),
            ]
        )
    end = (
        "The page of a family explains its parameters; those that are not shown have their defaults.\n"
        "[Counts and averages](../concepts/averages.md) explains the averages."
    )
    return f"{table(['family', 'parameters', 'averages'], rows)}\n\n{end}"


def _brief(value: Any) -> str:
    """A value, or where to find it if it is a table."""
    return "in [the file](#the-file)" if isinstance(value, dict | Struct) else code(shown(value))


# Formats


def format_index() -> str:
    """All formats."""
    rows = [
        [
            f"[{name}]({name}.md)",
            prose(format_.title),
            " ".join(map(code, format_.suffixes)),
            "read, written" if format_.write else "read",
            links(format_.protocols, "../protocols/"),
        ]
        for name, format_ in FORMATS
    ]
    about = (
        "karat detects the format of a file from its content; `--gold-format`, `--system-format` and `--input-format`\n"
        "override this. Files may be compressed (`.gz`). `karat convert` converts between formats, and\n"
        "`karat formats NAME` describes one in a terminal."
    )
    return (
        f"# Formats\n\n{about}\n\n{table(['format', 'description', 'suffixes', 'support', 'default protocol'], rows)}\n"
    )


def format_page(name: str) -> str:
    """One format: its documentation, its properties, and its errors."""
    format_ = FORMATS.get(name)
    local = format_.global_ids == "none"
    realis = Facts([("event", "realis")])
    completion = Completion() if format_.complete is None else format_.complete(realis)
    facts = [
        ["suffixes", " ".join(map(code, format_.suffixes))],
        ["support", "read and written" if format_.write else "read"],
        ["a corpus is", "a file, or a folder of files" if format_.folder == "never" else "a folder of files"],
        ["cluster ids", "local to a document" if local else "corpus-wide"],
        ["files beside it", " ".join(map(code, format_.companions))],
        ["default values", _defaults(completion.attributes)],
        ["default protocol", links(format_.protocols, "../protocols/")],
    ]
    parts = [
        f"# {name}",
        f"**{prose(format_.title)}**",
        documentation(inspect.cleandoc(format_.about)),
        table(["property", "value"], [row for row in facts if row[1]]),
        fields_section() if format_ is JSONL else "",
        f"## Errors\n\n{errors.of_format(name)}",
    ]
    return joined(parts)


def _defaults(values: Mapping[str, Any]) -> str:
    defaults = [f"{code(name)} is {code(shown(value))}" for name, value in values.items()]
    return f"{', '.join(defaults)} where other events of the corpus have one" if defaults else ""


def _ids(text: str) -> str:
    """Ids of measures as a card lists them: `nugget.type, nugget.realis, ...`."""
    return ", ".join(id_ if id_ == "..." else code(id_) for id_ in text.split(", "))
