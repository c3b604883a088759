"""The errors by code: those of a single format on its page, all others on a page of their own."""

from collections.abc import Iterable
from functools import cache

import sources
from markup import badge, code, items, joined, links, prose, table

from karat.cli.program import cli
from karat.families import MEASURES
from karat.formats import FORMATS


def errors_page() -> str:
    """Every rule that several formats or none have, and every usage error, by code."""
    named: set[str] = set()
    about = (
        "Every problem has a code, printed in brackets at the end of its message. `…` stands for what karat finds in\n"
        "your file. [Severities](concepts/severities.md) explains what is refused and what is only counted.\n"
        "`karat explain CODE` explains one in a terminal."
    )
    usage = (
        "Mistakes on the command line; the exit code is 2. Misspelt options and missing arguments are reported by the\n"
        "command line parser and have no code."
    )
    by_title: dict[str, list[sources.Entry]] = {}
    for entry in sources.rules():
        by_title.setdefault(_section(entry), []).append(entry)
    titles = [title for title in SECTIONS if title in by_title]
    formats = sorted(by_title.keys() - {*titles})
    parts = [
        "# Errors by code",
        about,
        f"Errors of a single format are on its page: {links(formats, 'formats/')}.",
        *(f"## {title}\n\n{_table(by_title[title], named)}" for title in titles),
        f"## Usage errors\n\n{usage}\n\n{_table(sources.usage_errors(), named)}",
    ]
    return joined(parts)


def of_format(name: str) -> str:
    """The errors that only one format has, and links to those that it shares with others."""
    own = [entry for entry in sources.rules() if _section(entry) == name]
    codes = dict.fromkeys(rule.code for rule in sources.of_format(FORMATS.get(name)))
    shared = [code_ for code_ in codes if code_ not in {entry.code for entry in own}]
    others = ", ".join(f"[{code(code_)}](../errors.md#{code_})" for code_ in shared)
    rows = _rows(own, set())
    return joined(
        [
            table(HEADER, rows) if rows else "",
            f"It shares {others} with other formats." if others else "",
            "[Errors by code](../errors.md) has what may be wrong with any file.",
        ]
    )


HEADER = ["code", "message", "what to do"]


SECTIONS = {
    "Any file": ("corpus", "inputs", "limits"),
    "Several formats": (),
    "Annotations": ("checks",),
    "Protocols and measures": ("families", "filters", "match", "plugin", "protocols", "registry"),
    "Scores and reports": ("comparison", "report", "run", "stats"),
    "Campaigns": ("campaign",),
    "Python": ("api",),
    "Other commands": (),
}
"""Sections of the errors that no single format has, and the packages of karat that report them."""


def _section(entry: sources.Entry) -> str:
    """The section of an error: the only format that reports it, or what reports it."""
    _, room, *rest = entry.modules[0].split(".")
    if room == "formats":
        formats = _formats_by_code().get(entry.code, ())
        return "Any file" if rest == ["_text"] else formats[0] if len(formats) == 1 else "Several formats"
    return next((title for title, rooms in SECTIONS.items() if room in rooms), "Other commands")


def _table(entries: Iterable[sources.Entry], named: set[str]) -> str:
    """The table of errors, with where a reader meets each."""
    listed = [*entries]
    homes = [dict.fromkeys(home for module in entry.modules for home in _homes(module, entry.code)) for entry in listed]
    rows = zip(_rows(listed, named), homes, strict=True)
    return table([*HEADER, "reported by"], [[*row, "<br>".join(found)] for row, found in rows])


def _rows(entries: Iterable[sources.Entry], named: set[str]) -> list[list[str]]:
    """A row for each error; the first of a code, by `named`, has an anchor."""
    rows = []
    for entry in entries:
        anchor = "" if entry.code in named else f'<a id="{entry.code}"></a>'
        named.add(entry.code)
        severity = "" if entry.severity is None else f"<br>{badge(entry.severity)}"
        rows.append(
            [
                f"{anchor}{code(entry.code)}{severity}",
                items(map(prose, entry.messages)) or "depends on what was found",
                items(map(prose, entry.hints)) or "as the message suggests",
            ]
        )
    return rows


# Packages whose rules a reader meets through something that has a page; others are shown by their names.
ROOMS = {
    "api": "[Python](python.md)",
    "audit": "[karat audit](commands/audit.md)",
    "baselines": "[karat baseline](commands/baseline.md)",
    "campaign": "[karat campaign](commands/campaign.md)",
    "comparison": "[karat compare](commands/compare.md)",
    "convert": "[karat convert](commands/convert.md)",
    "corpus": "any corpus",
    "checks": "any annotation",
    "demo": "[karat demo](commands/demo.md)",
    "filters": "[protocols](concepts/protocols.md)",
    "protocols": "[protocols](concepts/protocols.md)",
    "families": "[measures](measures/index.md)",
    "registry": "names",
    "run": "[karat score](commands/score.md)",
    "simulate": "[karat simulate](commands/simulate.md)",
    "studies": "[karat lab](commands/lab.md), [karat reproduce](commands/reproduce.md)",
}


def _homes(module: str, code_: str) -> list[str]:
    """Where a reader meets a rule that a module declares."""
    _, _, short = module.partition(".")
    room, _, name = short.partition(".")
    if short in ("formats._text", "corpus.paths"):
        return ["any file"]
    if short == "run.validation":
        return ["[karat validate](commands/validate.md)"]
    if room == "formats":
        return [f"[{name}](formats/{name}.md)" for name in _formats_by_code().get(code_, ())] or [code(short)]
    if room == "families" and (family := name.partition(".")[0]) in MEASURES.names():
        return [f"[{family}](measures/{family}.md)"]
    if room == "cli" and name in cli.commands:
        return [f"[karat {name}](commands/{name}.md)"]
    return ["any command"] if room == "cli" else [ROOMS.get(room, code(short or module))]


@cache
def _formats_by_code() -> dict[str, list[str]]:
    """Return the formats that apply each rule."""
    found: dict[str, list[str]] = {}
    for name, format_ in FORMATS:
        for rule_code in dict.fromkeys(rule.code for rule in sources.of_format(format_)):
            found.setdefault(rule_code, []).append(name)
    return found
