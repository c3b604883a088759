"""The pages that nobody writes: one for each measure family, protocol and format, the commands, the errors by code.

All of it comes from what the code declares, so a new measure, protocol, format, command or rule has its page or its row
without a word written here. The functions return Markdown and know nothing of the program that makes a site of it.
"""

import html
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import sources
from msgspec import structs

from karat import plugin
from karat.align import MATCHINGS, SIMILARITIES
from karat.cli import cli
from karat.errors import Rule
from karat.filters import FILTERS
from karat.formats import FORMATS
from karat.measures import MEASURES
from karat.plugin import AlignmentChoice, Averages, DocumentSimilarity
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.protocols.files import lineage, source
from karat.registry import Registry

ROOT = Path(__file__).parents[2]
HELP_WIDTH = 88
MARKER = re.compile(r"^<!-- table: (\w+) -->$", re.MULTILINE)


def pages() -> dict[str, str]:
    """Every generated page: its place and its Markdown."""
    return {
        "measures/index.md": measure_index(),
        **{f"measures/{name}.md": measure_page(name) for name in MEASURES.names()},
        "protocols/index.md": protocol_index(),
        **{f"protocols/{name}.md": protocol_page(name) for name in PROTOCOLS.names()},
        "formats/index.md": format_index(),
        **{f"formats/{name}.md": format_page(name) for name in FORMATS.names()},
        "commands.md": commands_page(),
        "errors.md": errors_page(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "]("),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }


def listed(section: str) -> list[str | dict[str, str]]:
    """A generated section as navigation has it: its index, then its pages by name."""
    names = {"measures": MEASURES.names, "protocols": PROTOCOLS.names, "formats": FORMATS.names}[section]()
    return [f"{section}/index.md", *({name: f"{section}/{name}.md"} for name in names)]


# Measures


def measure_index() -> str:
    """All measures, by id."""
    rows = [
        [_ids(ids), prose(what), f"[{name}]({name}.md)"]
        for name, family in MEASURES
        for ids, what in family.card.rows.items()
    ]
    about = (
        "A measure turns a table into counts and counts into scores. Its id is the same on the command line, in the\n"
        "JSON and in Python. `karat explain ID` tells in a terminal what stands on these pages."
    )
    return f"# Measures\n\n{about}\n\n{table(['measure', 'what it counts', 'family'], rows)}\n"


def measure_page(name: str) -> str:
    """One family: its card, what a protocol may say to it, and who does."""
    family = MEASURES.get(name)
    card = family.card
    users = [one for one in PROTOCOLS.names() if name in {used.name for used in resolve(one).families}]
    parts = [
        f"# {name}: {card.title}",
        table(["measure", "what it counts"], [[_ids(ids), prose(what)] for ids, what in card.rows.items()]),
        f"## Formula\n\n{fence(card.formula)}",
        f"{prose(card.citation)}",
        _points("Known traps", card.traps),
        _points("Where paper and program differ", card.departures),
        "## Protocols that use it\n\n" + (links(users, "../protocols/") or "None of those installed."),
        f'## What a protocol says to it\n\nIn a `[[measures]]` entry with `family = "{name}"`, beside `averages`:\n\n'
        + fields_table(family.parameters),
        f"## Laws\n\nWhat is promised of its arithmetic, and tested:\n\n{laws_table(card.laws)}",
    ]
    return joined(parts)


# Protocols


def protocol_index() -> str:
    """All protocols."""
    chosen = choosing_formats()
    rows = [
        [f"[{name}]({name}.md)", prose(protocol.title), protocol.unit, links(chosen.get(name, ()), "../formats/")]
        for name, protocol in ((name, resolve(name)) for name in PROTOCOLS.names())
    ]
    about = (
        "A protocol is data: a file that says how to score. [Protocols as data](../concepts/protocols.md) tells how\n"
        "to read one, change a parameter, or write your own."
    )
    header = ["protocol", "what", "unit", "chosen for"]
    return f"# Protocols\n\n{about}\n\n{table(header, rows)}\n"


def protocol_page(name: str) -> str:
    """One protocol: what it does in words and tables, then its file."""
    protocol = resolve(name)
    chosen = choosing_formats().get(name, ())
    default = f"\nChosen for {links(chosen, '../formats/')} when no protocol is named.\n" if chosen else ""
    parts = [
        f"# {name}",
        f"**{prose(protocol.title)}**\n\n{prose(protocol.about)}\n{default}",
        _points("Sources", protocol.sources),
        f"## What `--set` changes\n\n{parameters_table(protocol)}",
        f"## What it does\n\n{steps_table(protocol)}",
        f"### Alignments\n\n{alignments_table(protocol)}" if protocol.alignments else "",
        f"### Measures and averages\n\n{families_table(protocol)}",
        f"## Laws\n\nWhat is promised of its scores, and tested:\n\n{laws_table(protocol.laws)}",
        f"## The file\n\nCopy it, change it, and name yours with `-p`.\n\n{_files(name)}",
    ]
    return joined(parts)


def _files(name: str) -> str:
    """The protocol's file, and those it extends."""
    first, *others = lineage(source(name))
    extended = [f"It extends [{path.stem}]({path.stem}.md)." for path in others[:1]]
    return "\n\n".join([fence(first.read_text(encoding="utf-8"), "toml"), *extended])


def choosing_formats() -> dict[str, list[str]]:
    """For each protocol, the formats of gold that choose it."""
    found: dict[str, list[str]] = {}
    for name, format_ in FORMATS:
        for protocol in (*format_.protocols, *format_.cross_document_protocols):
            found.setdefault(protocol, []).append(name)
    return found


def parameters_table(protocol: Protocol) -> str:
    """What `--set` takes."""
    rows = [
        [code(key), code(shown(parameter.default)), " ".join(map(code, parameter.choices or ())), prose(parameter.help)]
        for key, parameter in protocol.parameters.items()
    ]
    return table(["key", "default", "choices", ""], rows) if rows else "Nothing."


def steps_table(protocol: Protocol) -> str:
    """Unit, documents, filters and comparison."""
    only = {"ignore": "ignored, with a note", "score": "scored: all spurious", "refuse": "refused"}
    gold_only = {"score": "scored: all missed", "refuse": "refused"}
    comparison = protocol.comparison
    rows = [
        ["unit of evaluation", protocol.unit],
        ["documents that only the system has", only[protocol.system_only_documents]],
        ["documents that only gold has", gold_only[protocol.gold_only_documents]],
        *([f"filter {code(_filter_name(filter_))}", _first_line(filter_)] for filter_ in protocol.filters),
        ["attribute values are compared", code(comparison.form)],
        *([["a gold value that agrees with anything", code(comparison.wildcard)]] if comparison.wildcard else []),
    ]
    return table(["", ""], rows)


def alignments_table(protocol: Protocol) -> str:
    """The alignments by name."""
    names = [name for name in AlignmentChoice.__struct_fields__ if name != "ties"]
    rows = [
        [code(key), *(code(shown(getattr(choice, name))) for name in names)]
        for key, choice in protocol.alignments.items()
    ]
    return f"{table(['alignment', *names], rows)}\n\n[What these words mean](../concepts/alignments.md)."


def families_table(protocol: Protocol) -> str:
    """The measures, what the protocol says to them, and how their units are averaged."""
    rows = []
    for family in protocol.families:
        said = {name: getattr(family.parameters, name) for name in family.parameters.__struct_fields__}
        rows.append(
            [
                links([family.name], "../measures/"),
                "<br>".join(f"{code(name)}: {code(shown(value))}" for name, value in said.items()),
                "<br>".join(
                    f"{code(name)}: {code(shown(getattr(family.averages, name)))}"
                    for name in Averages.__struct_fields__
                ),
            ]
        )
    end = "[What the averages mean](../concepts/averages.md)."
    return f"{table(['family', 'it is told', 'averages'], rows)}\n\n{end}"


# Formats


def format_index() -> str:
    """All formats."""
    rows = [
        [
            f"[{name}]({name}.md)",
            prose(format_.title),
            " ".join(map(code, format_.suffixes)),
            "read, written" if format_.write else "read",
            links((*format_.protocols, *format_.cross_document_protocols), "../protocols/"),
        ]
        for name, format_ in FORMATS
    ]
    about = (
        "The format of a file is found by looking at it; `--gold-format`, `--system-format` and `--input-format` name\n"
        "it. All of them may be compressed (`.gz`). `karat convert` turns one into another."
    )
    return f"# Formats\n\n{about}\n\n{table(['format', 'what', 'suffixes', '', 'scored under'], rows)}\n"


def format_page(name: str) -> str:
    """One format: its documentation, what is known of it, and what it finds wrong."""
    format_ = FORMATS.get(name)
    local = format_.local_clusters
    facts = [
        ["suffixes", " ".join(map(code, format_.suffixes))],
        ["karat can", "read and write it" if format_.write else "read it"],
        ["a corpus is", "a file, or a folder of files" if format_.folder == "never" else "a folder of files"],
        ["cluster ids", "local to a document" if local else "corpus-wide"],
        ["files beside it", " ".join(map(code, format_.companions))],
        ["default values", _defaults(format_.default_attributes)],
        ["scored under", links((*format_.protocols, *format_.cross_document_protocols), "../protocols/")],
    ]
    rules = sources.of_format(format_)
    rows = [[f"[{code(rule.code)}](../errors.md#{rule.code})", badge(rule), prose(rule.hint)] for rule in rules]
    found = "Beside what may be wrong with any file or annotation ([all errors by code](../errors.md)):\n\n" + table(
        ["code", "severity", "what to do"], rows
    )
    parts = [
        f"# {name}",
        f"**{prose(format_.title)}**",
        documentation(inspect.cleandoc(format_.about)),
        table(["", ""], [row for row in facts if row[1]]),
        f"## What it finds\n\n{found}" if rows else "",
    ]
    return joined(parts)


def _defaults(values: dict[str, Any]) -> str:
    told = [f"{code(name)} is {code(shown(value))}" for name, value in values.items()]
    return f"{', '.join(told)} where other events of the corpus have one" if told else ""


# Commands


def commands_page() -> str:
    """What `--help` says of every command."""
    context = click.Context(cli, info_name="karat", **_help_settings())
    parts = ["# Commands", "What `karat COMMAND --help` says of each.", fence(cli.get_help(context))]
    for name in cli.list_commands(context):
        command = cli.commands[name]
        inner = click.Context(command, info_name=name, parent=context, **_help_settings())
        parts.append(f"## karat {name}\n\n{fence(command.get_help(inner))}")
    return joined(parts)


def _help_settings() -> dict[str, Any]:
    return {"terminal_width": HELP_WIDTH, "max_content_width": HELP_WIDTH, "help_option_names": ["-h", "--help"]}


# Errors


def errors_page() -> str:
    """Every rule, and every error of usage, by code."""
    rules = sources.rules()
    named: set[str] = set()
    about = (
        "Every problem has a code, which stands in brackets at the end of its message. `…` below stands for what is\n"
        "found in your file. [Severities](concepts/severities.md) tells what is refused and what is scored around."
    )
    usage = (
        "What the command line alone shows to be wrong; the exit code is 2. Misspelt options and arguments that are\n"
        "missing are told by the command line itself and have no code."
    )
    parts = [
        "---\nhide:\n  - toc\n---",
        "# Errors by code",
        about,
        f"## Findings\n\n{table(['code', 'what karat says', 'what to do', 'from'], _error_rows(rules, named))}",
        f"## Errors of usage\n\n{usage}\n\n"
        + table(["code", "what karat says", "what to do", "from"], _error_rows(sources.usage_errors(), named)),
    ]
    return joined(parts)


def _error_rows(entries: Iterable[sources.Entry], named: set[str]) -> list[list[str]]:
    rows = []
    for entry in entries:
        anchor = "" if entry.code in named else f'<a id="{entry.code}"></a>'
        named.add(entry.code)
        severity = "" if entry.severity is None else f"<br>{_badge(entry.severity)}"
        rows.append(
            [
                f"{anchor}{code(entry.code)}{severity}",
                items(map(prose, entry.messages)),
                items(map(prose, entry.hints)),
                "<br>".join(dict.fromkeys(home for module in entry.modules for home in _homes(module, entry.code))),
            ]
        )
    return rows


# Rooms whose rules a reader meets through something that has a page; others are told by their names.
ROOMS = {
    "api": "[Python](python.md)",
    "convert": "[karat convert](commands.md#karat-convert)",
    "corpus": "any corpus",
    "checks": "any annotation",
    "demo": "[karat demo](commands.md#karat-demo)",
    "engine": "[karat score](commands.md#karat-score)",
    "filters": "[protocols](concepts/protocols.md)",
    "protocols": "[protocols](concepts/protocols.md)",
    "measures": "[measures](measures/index.md)",
    "registry": "names",
    "simulate": "[karat simulate](commands.md#karat-simulate)",
    "studies": "[karat lab](commands.md#karat-lab), [karat reproduce](commands.md#karat-reproduce)",
}


def _homes(module: str, code_: str) -> list[str]:
    """Where a reader meets a rule that a module declares."""
    _, _, short = module.partition(".")
    room, _, name = short.partition(".")
    if short in ("formats._text", "corpus.paths"):
        return ["any file"]
    if short == "engine.validation":
        return ["[karat validate](commands.md#karat-validate)"]
    if room == "formats":
        return [f"[{one}](formats/{one}.md)" for one in _formats_with(code_)] or [code(short)]
    if room == "measures" and name in MEASURES.names():
        return [f"[{name}](measures/{name}.md)"]
    if room == "cli" and name in cli.commands:
        return [f"[karat {name}](commands.md#karat-{name})"]
    return ["any command"] if room == "cli" else [ROOMS.get(room, code(short or module))]


def _formats_with(code_: str) -> list[str]:
    """The formats that apply a rule."""
    return [name for name, format_ in FORMATS if code_ in {rule.code for rule in sources.of_format(format_)}]


# Tables that written pages ask for


def similarities_table() -> str:
    """How alike two mentions are."""
    return _documented(SIMILARITIES)


def methods_table() -> str:
    """How pairs are picked."""
    return _documented(MATCHINGS)


def filters_table() -> str:
    """What may leave a document."""
    return _documented(FILTERS)


def alignment_table() -> str:
    """What an `[alignments.NAME]` table may say."""
    return fields_table(AlignmentChoice)


def averages_table() -> str:
    """What a `[measures.averages]` table may say."""
    return fields_table(Averages)


def all_laws_table() -> str:
    """Every law."""
    return laws_table(tuple(_laws()))


TABLES: dict[str, Callable[[], str]] = {
    "similarities": similarities_table,
    "methods": methods_table,
    "filters": filters_table,
    "alignment": alignment_table,
    "averages": averages_table,
    "laws": all_laws_table,
}


def filled(markdown: str) -> str:
    """A written page with its `<!-- table: NAME -->` lines replaced."""
    return MARKER.sub(lambda found: TABLES[found[1]](), markdown)


def laws_table(laws: Sequence[str]) -> str:
    """Laws with what they say."""
    known = _laws()
    return table(["law", "what it says"], [[code(law), prose(known[law])] for law in laws]) if laws else "None."


def _laws() -> dict[str, str]:
    """The laws, from the remark below their declaration."""
    lines = sources.remarks(plugin.protocols, "Law").partition("\n\n")[2].splitlines()
    return {name: what.strip() for name, _, what in (line.partition(" ") for line in lines)}


def fields_table(type_: type[Any]) -> str:
    """The fields of a record, with their defaults and remarks."""
    about = sources.field_remarks(type_)
    hints = inspect.get_annotations(type_)
    rows = []
    for field in structs.fields(type_):
        default = "needed" if field.required else code(shown(field.default))
        rows.append([code(field.name), _type(hints[field.name]), default, prose(about.get(field.name, ""))])
    return table(["key", "takes", "default", ""], rows) if rows else "Nothing."


def _type(hint: Any) -> str:
    """A type as a reader of TOML would say it."""
    known = {str: "text", float: "number", int: "whole number", bool: "true or false", type(None): "nothing"}
    if hint in known:
        return known[hint]
    arguments = getattr(hint, "__args__", ())
    if arguments and all(isinstance(value, str) for value in arguments):
        return " ".join(code(value) for value in arguments)
    if getattr(hint, "__origin__", None) in (tuple, list):
        return "list of text"
    return " or ".join(_type(one) for one in arguments) or code(str(hint))


def _documented(named: Registry[Any]) -> str:
    rows = [[code(name), prose(_doc(thing))] for name, thing in named]
    return table(["name", "what it is"], rows)


def _doc(thing: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    if isinstance(thing, DocumentSimilarity):
        thing = thing.compare
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _first_line(filter_: Any) -> str:
    return prose(_doc(type(filter_)))


def _filter_name(filter_: Any) -> str:
    return next((name for name, type_ in FILTERS if type_ is type(filter_)), type(filter_).__name__)


# Markdown


def joined(parts: Iterable[str]) -> str:
    """Parts of a page, those that are empty left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fence(text: str, language: str = "text") -> str:
    """A block of text as it is."""
    return f"```{language}\n{text.rstrip()}\n```"


def code(text: str) -> str:
    """A word as it is written in a file or on the command line; it may stand in a table."""
    return f"<code>{_escaped(text)}</code>" if text else ""


def prose(text: str) -> str:
    """Plain text of a declaration, in which only what stands in backticks is marked."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:
        return _escaped(text)
    return "".join(code(piece) if number % 2 else _escaped(piece) for number, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    marked = html.escape(text, quote=False)
    return re.sub(r"[*_\[\]|`\\{}]", lambda found: f"&#{ord(found[0])};", marked)


def documentation(text: str) -> str:
    """A docstring: indented blocks as they are, the rest as prose."""
    blocks: list[tuple[bool, str]] = []
    for part in re.split(r"\n\s*\n", text):
        indented = part.startswith("    ")
        if indented and blocks and blocks[-1][0]:
            blocks[-1] = True, f"{blocks[-1][1]}\n\n{part}"
        else:
            blocks.append((indented, part))
    return "\n\n".join(fence(inspect.cleandoc(part)) if indented else prose(part) for indented, part in blocks)


def items(texts: Iterable[str]) -> str:
    """One text as it is, several as a list; in the cell of a table."""
    one, *more = list(texts) or [""]
    return f"<ul>{''.join(f'<li>{text}</li>' for text in [one, *more])}</ul>" if more else one


def links(names: Iterable[str], folder: str) -> str:
    """Links to pages of a folder."""
    return ", ".join(f"[{name}]({folder}{name}.md)" for name in names)


def shown(value: Any) -> str:
    """A value as TOML would have it, or nothing where there is none."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return f"[{', '.join(map(repr, value))}]".replace("'", '"')
        case "":
            return '""'
    return str(value)


def badge(rule: Rule) -> str:
    """The severity of a rule."""
    return _badge(rule.severity)


def _badge(severity: str) -> str:
    return f'<span class="severity {severity}">{severity}</span>'


def _ids(text: str) -> str:
    """Ids of measures as a card lists them: `nugget.type, nugget.realis, ...`."""
    return ", ".join(id_ if id_ == "..." else code(id_) for id_ in text.split(", "))


def _points(title: str, points: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {prose(point)}" for point in points) if points else ""
