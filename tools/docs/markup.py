"""Markdown: what the generated pages are written with."""

import html
import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

from karat.problems import Severity


def joined(parts: Iterable[str]) -> str:
    """The parts of a page, without empty ones."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are already Markdown. Every column has a name."""
    assert all(header), f"a column of {header} has no name"
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fence(text: str, language: str = "text") -> str:
    """A code block."""
    return f"```{language}\n{text.rstrip()}\n```"


def code(text: str) -> str:
    """Inline code that may be used in a table cell."""
    return f"<code>{_escaped(text)}</code>" if text else ""


def prose(text: str) -> str:
    """Plain text of a declaration; only backticks are markup."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:
        return _escaped(text)
    return "".join(code(piece) if number % 2 else _escaped(piece) for number, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    marked = html.escape(text, quote=False)
    return re.sub(r"[*_\[\]|`\\{}]", lambda found: f"&#{ord(found[0])};", marked)


def documentation(text: str) -> str:
    """A docstring: indented blocks become code blocks, the rest is prose."""
    blocks: list[tuple[bool, str]] = []
    for part in re.split(r"\n\s*\n", text):
        indented = part.startswith("    ")
        if indented and blocks and blocks[-1][0]:
            blocks[-1] = True, f"{blocks[-1][1]}\n\n{part}"
        else:
            blocks.append((indented, part))
    return "\n\n".join(fence(inspect.cleandoc(part)) if indented else prose(part) for indented, part in blocks)


def items(texts: Iterable[str]) -> str:
    """One text, or a list of several, in a table cell."""
    one, *more = list(texts) or [""]
    return f"<ul>{''.join(f'<li>{text}</li>' for text in [one, *more])}</ul>" if more else one


def links(names: Iterable[str], folder: str) -> str:
    """Links to pages of a folder."""
    return ", ".join(f"[{name}]({folder}{name}.md)" for name in names)


def shown(value: Any) -> str:
    """A value as in TOML, or `none`."""
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


def badge(severity: Severity) -> str:
    """A severity, coloured."""
    return f'<span class="severity {severity}">{severity}</span>'


def points(title: str, texts: Sequence[str]) -> str:
    """A section with a list; nothing if the list is empty."""
    return f"## {title}\n\n" + "\n".join(f"- {prose(text)}" for text in texts) if texts else ""
