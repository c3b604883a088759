"""Terms of the glossary, which is also a page of the documentation, and codes of problems."""

import importlib
import re
import textwrap
from functools import cache
from importlib.resources import files
from inspect import getdoc
from pathlib import Path

import karat
from karat.cli._measures import paragraph, plain
from karat.problems import Rule

MEANINGS = {
    "fatal": "the input cannot be used: `karat score` and `karat validate` refuse it.",
    "fault": "one item is wrong: `karat validate` exits with 1. `karat score` counts it, but refuses it with --strict, "
    "and in ACE files (APF) without --accept-faults.",
    "note": "odd, but usable: it is listed and changes nothing.",
}


@cache
def glossary() -> dict[str, str]:
    """Return the entries of the glossary by their titles."""
    page = files("karat.cli").joinpath("glossary.md").read_text(encoding="utf-8")
    entries = re.findall(r"^(\*\*.*)\n:   (.*(?:\n    .*)*)", page, re.MULTILINE)
    return {title: textwrap.dedent(f"    {text}").strip() for title, text in entries}


def terms(name: str) -> list[str]:
    """The entries of the glossary that define a name, in their titles or in their texts, where it is in italics."""
    wanted = _singular(name)
    found = [title for title in glossary() if wanted in map(_singular, _defined(title))]
    return found or [title for title, text in glossary().items() if wanted in map(_singular, _italics(text))]


def names_of_terms() -> list[str]:
    """Return every name that the glossary defines."""
    return [name for title, text in glossary().items() for name in (*_defined(title), *_italics(text))]


def _defined(title: str) -> list[str]:
    """`**Micro average** and **macro average**`: each, and its first word."""
    names = re.findall(r"\*\*(.+?)\*\*", title)
    return [form for name in names for form in (name, name.split()[0], name.partition(" (")[0])]


def _italics(text: str) -> list[str]:
    return re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text)


def _singular(name: str) -> str:
    return plain(name).removesuffix("s")


def term(title: str) -> str:
    """An entry of the glossary as text."""
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", glossary()[title])
    return f"{title.replace('*', '')}\n\n{paragraph(re.sub(r'[*]', '', ' '.join(text.split())))}"


DECLARED = re.compile(r'\b(?:Rule|UsageError)\(\s*"([a-z0-9-]+)"|\bRegistry\(\s*["\w.]+,\s*"(\w+)"')
"""A problem with its code, or a registry with its noun, of which there is a problem `unknown-NOUN`."""


@cache
def codes() -> dict[str, Path]:
    """Return every code of a problem in karat's source, with the file that declares it."""
    package = Path(karat.__path__[0])
    return {
        declared or f"unknown-{noun}": path
        for path in sorted(package.rglob("*.py"))
        for declared, noun in DECLARED.findall(path.read_text(encoding="utf-8"))
    }


def code(name: str) -> str:
    """Explain the severity of a problem, where it is found, and what to do about it."""
    path = codes()[name]
    relative = path.relative_to(Path(karat.__path__[0]).parent).with_suffix("")
    module = importlib.import_module(".".join(relative.parts).removesuffix(".__init__"))
    rules = [rule for rule in vars(module).values() if isinstance(rule, Rule) and rule.code == name]
    where = paragraph(f"Found by {module.__name__}: {(getdoc(module) or '').partition(chr(10) * 2)[0]}")
    if not rules:
        return f"{name}: a mistake on the command line or in an argument; the exit code is 2\n\n{where}"
    rule = rules[0]
    return f"{name}: {rule.severity}\n\n{paragraph(rule.hint)}\n\n{where}\n\n" + paragraph(
        f"{rule.severity}: {MEANINGS[rule.severity]}"
    )
