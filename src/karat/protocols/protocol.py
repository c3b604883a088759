"""Protocols are data: TOML files that name filters, alignments, measures and averages.

A string that is just `{key}` is replaced by the parameter `key`, which `--set key=value` changes. karat's own protocols
are the `.toml` files of this folder; another package offers one through the entry-point group `karat.protocols`, which
loads to the file's path; a user names a file. `karat.plugin.ProtocolFile` lists what a file may hold.
"""

import hashlib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from karat.families import MEASURES
from karat.filters import FILTERS
from karat.filters.kinds import Kinds
from karat.filters.types import NO_FILE
from karat.inputs import read_bytes
from karat.match.matchings import MATCHINGS
from karat.match.similarities import SIMILARITIES
from karat.plugin import (
    AlignmentChoice,
    Averages,
    Collapse,
    Comparison,
    Entry,
    Family,
    Filter,
    GoldOnly,
    Law,
    Parameter,
    Setting,
    SystemOnly,
    UnitOfEvaluation,
)
from karat.problems import UsageError, closest, nearest
from karat.protocols.files import FILE, PROTOCOLS, digest, source, written
from karat.registry import Registry

if TYPE_CHECKING:
    from karat.corpus.files import FileCorpus


from karat import __version__

__all__ = [
    "PROTOCOLS",
    "FamilyChoice",
    "Protocol",
    "opened_for",
    "parse_setting",
    "resolve",
    "resolve_all",
    "unknown_key",
]

S = TypeVar("S", bound=Struct)
P = TypeVar("P")
T = TypeVar("T")


class FamilyChoice(Struct, Generic[P], frozen=True):
    """A family of measures with what the protocol says about it."""

    name: str
    family: Family[P]
    parameters: P
    averages: Averages

    def entries(self, setting: Setting) -> list[Entry]:
        return list(self.family.measures(self.parameters, setting))


class Protocol(Struct, frozen=True):
    """A protocol with a value for every parameter."""

    name: str
    title: str
    about: str
    sources: tuple[str, ...]
    laws: tuple[Law, ...]
    unit: UnitOfEvaluation
    system_only_documents: SystemOnly
    gold_only_documents: GoldOnly
    parameters: dict[str, Parameter]
    values: dict[str, Any]
    faults: tuple[str, ...]
    """Codes of findings that are notes elsewhere and faults under this protocol."""
    refusals: tuple[str, ...]
    """Codes of findings that are fatal under this protocol."""
    comparison: Comparison
    filters: tuple[Filter, ...]
    collapse: Collapse | None
    """The rule that makes one mention of several, after the filters."""
    alignments: dict[str, AlignmentChoice]
    families: tuple[FamilyChoice[Any], ...]
    digest: str | None
    """Hash of the file, for a protocol that is not karat's own."""
    link_order: bool = False
    """True: scores depend on the order of links in the files."""
    headline: tuple[str, ...] = ()
    """Ids, or patterns of ids, of the measures that rank systems, the most important first."""
    file: str | None = None
    """Where it is written."""

    def alignment(self, name: str) -> AlignmentChoice:
        if name not in self.alignments:
            message = f"there is no alignment {name!r}. {nearest(name, self.alignments)}"
            raise FILE.error(message, file=self.file)
        return self.alignments[name]

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """Kinds of mentions that are scored; None: all."""
        kept = [kind for filter_ in self.filters if isinstance(filter_, Kinds) for kind in filter_.keep]
        return tuple(kept) if kept and "all" not in kept else None

    @property
    def is_within_documents(self) -> bool:
        """True if each document is scored alone; then a CoNLL meta-document is one document."""
        return self.unit == "document" and self.collapse is None

    @property
    def superseded(self) -> frozenset[str]:
        """Codes of general checks whose problems the filters report themselves."""
        return frozenset(code for filter_ in self.filters for code in filter_.supersedes)

    def settings(self) -> dict[str, str]:
        """Parameters that are not at their default, as the signature prints them."""
        return {
            key: self._printed(key, value)
            for key, value in sorted(self.values.items())
            if value != self.parameters[key].default
        }

    def _printed(self, key: str, value: Any) -> str:
        if self.parameters[key].is_file(value):
            return f"{Path(value).name}@sha256:{hashlib.sha256(read_bytes(Path(value))).hexdigest()[:16]}"
        if isinstance(value, bool):
            return str(value).lower()  # as it is set
        return ",".join(value) if isinstance(value, list) else str(value)


_resolved: dict[tuple[str, str], Protocol] = {}
"""karat's own protocols, by name and settings: their files do not change, and a training loop asks again and again."""
_KEPT = 64


def resolve(name: str, settings: Mapping[str, Any] | None = None) -> Protocol:
    """Return the protocol of that name or file, with its parameters set."""
    settings = settings or {}
    key = name, repr(settings) if settings else ""
    if (known := _resolved.get(key)) is not None:
        return known
    protocol = _read(name, settings)
    depends_on_files = any(protocol.parameters[key].is_file(value) for key, value in protocol.values.items())
    are_plain = all(isinstance(value, str | int | float | list | tuple) for value in settings.values())
    if name in PROTOCOLS.own and are_plain and not depends_on_files and len(_resolved) < _KEPT:
        _resolved[key] = protocol
    return protocol


def _read(name: str, settings: Mapping[str, Any]) -> Protocol:
    path = source(name)
    file = written(path)
    values = {key: parameter.default for key, parameter in file.parameters.items()}
    for key, value in settings.items():
        if key not in values:
            raise unknown_key(key, values)
        values[key] = _fitting(key, value, file.parameters[key])
    read = _Reader(path, {key: file.parameters[key].means.get(str(value), value) for key, value in values.items()})
    return Protocol(
        name=name if PROTOCOLS.has(name) else path.stem,
        title=file.title,
        about=file.about.strip(),
        sources=file.sources,
        laws=file.laws,
        unit=read.unit(file.unit),
        system_only_documents=file.system_only_documents,
        gold_only_documents=file.gold_only_documents,
        parameters=file.parameters,
        values=values,
        faults=file.faults,
        refusals=file.refusals,
        comparison=file.comparison,
        filters=tuple(read.filter(entry) for entry in file.filters),
        collapse=None if file.collapse is None else read.convert(file.collapse, Collapse),
        alignments=read.alignments(file.alignments),
        families=tuple(read.family(entry, file.alignments) for entry in file.measures),
        digest=digest(path),
        link_order=file.link_order,
        headline=file.headline,
        file=str(path),
    )


def resolve_all(names: Iterable[str], settings: Mapping[str, Any]) -> list[Protocol]:
    """Several protocols; each setting applies to those that know its key, and at least one must."""
    listed = list(dict.fromkeys(names))
    stems = [Path(name).stem if name.endswith(".toml") else name for name in listed]
    for stem in stems:
        if stems.count(stem) > 1:
            raise UsageError("protocol-twice", f"two protocols are called {stem!r}", "Rename one of the files.")
    if not settings:
        return [resolve(name) for name in listed]
    known = {name: written(source(name)).parameters for name in listed}
    for key in settings:
        if not any(key in keys for keys in known.values()):
            raise unknown_key(key, sorted({other for keys in known.values() for other in keys}))
    return [
        resolve(name, {key: value for key, value in settings.items() if key in keys}) for name, keys in known.items()
    ]


def opened_for(gold: "FileCorpus", protocols: Iterable[Protocol]) -> "FileCorpus":
    """Return gold as these protocols read it: CoNLL meta-documents are divided if one of them scores across documents.

    Systems are read as gold is (`FileCorpus.beside`).
    """
    return gold.undivided() if all(protocol.is_within_documents for protocol in protocols) else gold


def unknown_key(key: str, known: Iterable[str]) -> UsageError:
    """The error for a key that no protocol of this run has."""
    return UsageError("unknown-key", f"--set: there is no parameter {key!r}", nearest(key, known))


def parse_setting(text: str) -> tuple[str, Any]:
    """`key=value`; the value is read as TOML, else as a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError("bad-setting", f"--set {text!r} has no value", "Write --set key=value.")
    try:
        read = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):
        return key.strip(), value
    return key.strip(), read["value"] if len(read) == 1 else value


def _fitting(key: str, value: Any, parameter: Parameter) -> Any:
    """A value of the default's type, or an error that says what is expected."""
    default = parameter.default
    fitted: Any = None
    if isinstance(default, list):
        items = value if isinstance(value, list | tuple) else str(value).split(",")
        fitted = [str(item).strip() for item in items if str(item).strip()]
        if not fitted and default:
            raise UsageError("bad-value", f"--set {key}: expected at least one", parameter.help)
    elif isinstance(default, bool):
        fitted = value if isinstance(value, bool) else None
    elif isinstance(default, int | float):
        fitted = _number(value, type(default))
    elif not isinstance(value, list | dict):
        fitted = str(value)
    if fitted is None:
        expected = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "text")
        raise UsageError("bad-value", f"--set {key}={value}: expected {expected}", parameter.help)
    if isinstance(fitted, int | float) and not _is_within(fitted, parameter):
        low, high = parameter.minimum, parameter.maximum
        limits = " and ".join([f"at least {low:g}"] * (low is not None) + [f"at most {high:g}"] * (high is not None))
        raise UsageError("bad-value", f"--set {key}={value}: expected {limits}", parameter.help)
    if parameter.choices is not None and fitted not in parameter.choices and not parameter.file:
        near = closest(str(fitted), parameter.choices)
        hint = f"{f'Did you mean {near}? ' if near else ''}It takes: {', '.join(parameter.choices)}."
        raise UsageError("bad-value", f"--set {key}={value}: not a value it takes", hint)
    if parameter.is_file(fitted) and not _is_file(fitted):
        also = f"; {key} also takes: {', '.join(parameter.choices)}" if parameter.choices else ""
        raise NO_FILE.error(f"there is no such file (--set {key}=...){also}", file=fitted)
    return fitted


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # it is too long for a name
        return False


def _number(value: Any, type_: type[int] | type[float]) -> int | float | None:
    """The value as a number of that type; None if it is not one, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return type_(value) if math.isfinite(value) and type_(value) == value else None
    except OverflowError:  # a whole number that no float is as large as
        return None


def _is_within(value: float, parameter: Parameter) -> bool:
    low, high = parameter.minimum, parameter.maximum
    return (low is None or low <= value) and (high is None or value <= high)


class _Reader:
    """Reads the parts of a protocol file with `{key}` replaced by values."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self._path = path
        self._values = values

    def unit(self, name: str) -> UnitOfEvaluation:
        return self.convert({"unit": name}, _Unit).unit

    def filter(self, entry: dict[str, Any]) -> Filter:
        options = dict(entry)
        return self.convert(options, self._plugin(FILTERS, options.pop("name", ""), "filter"))

    def alignments(self, entries: Mapping[str, dict[str, Any]]) -> dict[str, AlignmentChoice]:
        choices = {name: self.convert(entry, AlignmentChoice) for name, entry in entries.items()}
        for name, choice in choices.items():
            self._plugin(SIMILARITIES, choice.similarity, f"similarity (alignment {name})")
            self._plugin(MATCHINGS, choice.method, f"method (alignment {name})")
            steps = [name]
            while before := choices[steps[-1]].after:
                steps.append(self._named(before, choices, f"alignment (alignment {steps[-1]})"))
                if before in steps[:-1]:
                    raise FILE.error(f"alignment {name} comes after itself: {', '.join(steps)}", file=str(self._path))
        return choices

    def family(self, entry: dict[str, Any], alignments: Mapping[str, Any]) -> FamilyChoice[Any]:
        options = dict(entry)
        name = options.pop("family", "")
        family = self._plugin(MEASURES, name, "measure family")
        averages = self.convert(options.pop("averages", {}), Averages)
        parameters = self.convert(options, family.parameters)
        if "alignment" in options:
            self._named(options["alignment"], alignments, f"alignment (measures of {name})")
        return FamilyChoice(name, family, parameters, averages)

    def _plugin(self, registry: Registry[T], name: Any, noun: str) -> T:
        if not (isinstance(name, str) and registry.has(name)):
            self._named(name, registry.names(), noun)
        return registry.get(name)

    def _named(self, name: Any, known: Iterable[str], noun: str) -> str:
        if name not in known:
            raise FILE.error(f"there is no {noun} {name!r}. {nearest(str(name), known)}", file=str(self._path))
        return str(name)

    def convert(self, entry: dict[str, Any], type_: type[S]) -> S:
        try:
            return msgspec.convert({key: self._value(value) for key, value in entry.items()}, type_)
        except msgspec.ValidationError as error:
            from karat.decoding import explained

            raise FILE.error(explained(error, record=type_), file=str(self._path)) from None

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and "by" in value:
            chosen = self._parameter(value["by"], f"by = {value['by']!r}")
            if chosen not in value:
                message = f"there is no entry for {value['by']} = {chosen!r} in {value}"
                raise FILE.error(message, file=str(self._path))
            return value[chosen]
        if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
            return self._parameter(value[1:-1], value)
        return value

    def _parameter(self, key: Any, reference: str) -> Any:
        if key not in self._values:
            raise FILE.error(f"{reference} names no parameter. {nearest(str(key), self._values)}", file=str(self._path))
        return self._values[key]


class _Unit(Struct, frozen=True):
    unit: UnitOfEvaluation


# The signature: what a score was made with, in one line that goes wherever the score goes


def conditions(
    protocol: Protocol, *, units: Iterable[str], topics: str | None, reading: str | None = None, link_order: str | None
) -> str:
    """Return the signature without gold's fingerprint: version, protocol, settings, topics and unit of offsets.

    `reading` is the rule by which the system's items got their places, if its files have none, `link_order` a hash of
    the order of gold's links, on which the scores of some protocols depend.
    """
    name = protocol.name if protocol.digest is None else f"{protocol.name}@sha256:{protocol.digest}"
    settings = [f"{key}={value}" for key, value in protocol.settings().items()]
    parts = [
        f"karat={__version__}",
        f"protocol={name}",
        *settings,
        *([] if topics is None else [f"topics={topics}"]),
        *([] if reading is None else [reading]),
        f"unit={'+'.join(sorted(units))}",
        *([] if link_order is None or not protocol.link_order else [f"links={link_order}"]),
    ]
    return "|".join(parts)


def work_signature(settings: Mapping[str, str], *, topics: str | None, words: str, corpus: str) -> str:
    """Return the signature of work that is not a score: version, kind, settings, topics, lemmatiser, corpus."""
    parts = {"karat": __version__, **settings, **({} if topics is None else {"topics": topics})}
    return "|".join(f"{key}={value}" for key, value in {**parts, "words": words, "corpus": corpus}.items())
