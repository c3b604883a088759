"""The Python API: `karat.read`, `karat.score`."""

from collections.abc import Mapping, Sequence
from typing import Any

from karat import engine, formats
from karat.errors import Findings, Rule
from karat.formats._corpus import Corpus, FileCorpus, open_corpus
from karat.model import Unit
from karat.protocols import resolve_all
from karat.report.text import text
from karat.results import Result as _Result

CHOICE = Rule("protocol-chosen", "note", "Name one with -p/--protocol.")


class Result(_Result):
    """A result that prints as the table of `karat score`."""

    def __str__(self) -> str:
        return text(self)


def read(path: str, *, format: str | None = None, unit: Unit | None = None, tokens: str | None = None) -> FileCorpus:
    """A lazy corpus that can be read again: a file, a folder, or `@LIST`.

    >>> corpus = karat.read("gold.tbf")                                  # doctest: +SKIP
    >>> sum(len(document.mentions) for document in corpus)               # doctest: +SKIP
    22
    """
    return open_corpus(str(path), format=format, options=formats.Options(unit, tokens))


def score(
    gold: "str | Corpus",
    system: "str | Corpus",
    *,
    protocol: str | None = None,
    settings: Mapping[str, Any] | None = None,
    measures: Sequence[str] = (),
    by: Sequence[str] = (),
    per_unit: bool = False,
    strict: bool = False,
) -> Result:
    """Score a system against gold under one protocol (none named: the one that gold's format chooses)."""
    golden = gold if isinstance(gold, Corpus) else read(gold)
    found = system if isinstance(system, Corpus) else read(system)
    names = [protocol] if protocol is not None else golden.protocols[:1]
    protocols = resolve_all(names, settings or {})
    options = engine.Options(tuple(measures), tuple(by), per_unit, strict)
    (result,) = engine.score(golden, found, protocols, options, findings=Findings())
    return Result(**vars(result))
