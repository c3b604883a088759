"""`karat explain`: everything that has a name."""

from collections.abc import Iterator
from contextlib import suppress
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import click

from karat.cli._parameters import completes
from karat.problems import UsageError

if TYPE_CHECKING:
    from karat.registry import Registry

EPILOG = """\b
Examples:
  karat explain nugget
  karat explain nugget.type+realis
  karat explain b3
  karat explain tac-2017
  karat explain tbf-columns
  karat explain micro
  karat explain twinless

NAME is a measure (a family, an id, or the last part of an id), a protocol, a format, the code of a problem, a term of
the glossary, a parameter of protocols, or a similarity, matching or filter of protocol files. Case does not matter.
"""


@click.command(epilog=EPILOG)
@click.argument("name", shell_complete=completes("names"))
def explain(name: str) -> None:
    """Explain NAME: a measure, protocol, format, code or term.

    Of a measure, prints what it counts, its formula and what the symbols mean, its citation, known traps, and where
    paper and program differ.
    """
    from karat.cli import _measures as measures

    meanings = [*_meanings(name)]
    short = measures.find(name)
    if len(short) == 1:
        meanings.insert(0, measures.page(short[0]))
    if not meanings:
        raise _unknown(name, [measure.id for measure in short])
    if others := [id_ for id_ in measures.also(name) if [id_] != [measure.id for measure in short]]:
        meanings.append(f"See also the measures {', '.join(others)}.")
    click.echo("\n\n\n".join(meanings))


def _meanings(name: str) -> Iterator[str]:
    """Explanations of a name that is not a measure."""
    from karat.cli import _measures as measures
    from karat.cli import _terms as terms
    from karat.cli.formats import description as format_description
    from karat.cli.protocols import description as protocol_description
    from karat.formats import FORMATS
    from karat.protocols import resolve

    lower = name.casefold()
    protocol = name if name.endswith(".toml") else lower
    with suppress(UsageError):
        families = [f"`karat explain {choice.name}`" for choice in resolve(protocol).families]
        yield (
            f"{protocol_description(protocol)}\n\nIts measures: {', '.join(families)}. "
            f"`karat protocols {protocol}` also prints its file."
        )
    if lower in FORMATS.names():
        yield format_description(lower)
    if lower in terms.codes():
        yield terms.code(lower)
    yield from map(terms.term, terms.terms(name))
    for registry in _of_protocol_files():
        if lower in registry.names():
            yield _documented(lower, registry)
    if meanings := _parameters().get(lower):
        lines = [f"  {', '.join(names)}\n{measures.paragraph(meaning)}" for meaning, names in meanings.items()]
        yield "\n\n".join([f"{lower}: a parameter of protocols, changed with --set {lower}=...", *lines])


def _parameters() -> dict[str, dict[str, list[str]]]:
    """Return the meanings of each parameter of protocols, with the protocols in which it has each."""
    from karat.cli.protocols import written
    from karat.protocols import PROTOCOLS, resolve

    parameters: dict[str, dict[str, list[str]]] = {}
    for name, _ in PROTOCOLS:
        protocol = resolve(name)
        for key, parameter in protocol.parameters.items():
            choices = f" Choices: {', '.join(parameter.choices)}." if parameter.choices else ""
            value = written(protocol.values[key])
            default = f" Default: {value}." if value else ""
            meaning = f"{parameter.help[:1].upper()}{parameter.help[1:]}.{choices}{default}"
            parameters.setdefault(key, {}).setdefault(meaning, []).append(name)
    return parameters


def _of_protocol_files() -> "list[Registry[Any]]":
    """Return the registries of things that protocol files name."""
    from karat.filters import FILTERS
    from karat.match.matchings import MATCHINGS
    from karat.match.similarities import SIMILARITIES

    return [SIMILARITIES, MATCHINGS, FILTERS]


def _documented(name: str, registry: "Registry[Any]") -> str:
    """The documentation of what a protocol file names, and the protocols that do."""
    from karat.plugin import DocumentSimilarity
    from karat.protocols import PROTOCOLS

    thing = registry.get(name)
    text = getdoc(thing.compare if isinstance(thing, DocumentSimilarity) else thing) or ""
    users = [protocol for protocol, path in PROTOCOLS if f'"{name}"' in path.read_text(encoding="utf-8")]
    named = f"\n\nProtocol files that name it: {', '.join(users)}." if users else ""
    return f"{name}: a {registry.noun} of protocol files\n\n{text}{named}"


def _unknown(name: str, short: list[str]) -> UsageError:
    from karat.cli import _measures as measures
    from karat.cli import _terms as terms
    from karat.formats import FORMATS
    from karat.protocols import PROTOCOLS

    if short:
        hint = f"Choose one: {', '.join(short)}."
        return UsageError("measure-ambiguous", f"{name!r} is short for several measures", hint)
    known = [*PROTOCOLS.names(), *FORMATS.names(), *terms.codes(), *terms.names_of_terms()]
    known += [other for registry in _of_protocol_files() for other in registry.names()]
    near = measures.nearest(name, [*known, *_parameters()])
    hint = "`karat measures`, `karat protocols` and `karat formats` list names."
    return UsageError("unknown-name", f"nothing is called {name!r}", f"Did you mean {near}? {hint}" if near else hint)
