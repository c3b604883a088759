"""Protocols are data: TOML files that name filters, alignments, measures and averages.

A string that is just `{key}` stands for the value of the parameter `key`, which `--set key=value` changes. Karat's own
protocols are the `.toml` files of this folder; another package offers one by an entry point of the group
`karat.protocols` that loads to the file's path; a user names a file.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from karat.align import METHODS, SIMILARITIES, Comparison
from karat.errors import Rule, UsageError, nearest
from karat.filters import FILTERS, NO_FILE, Collapse, Filter, Kinds
from karat.measures import MEASURES, AlignmentChoice, Law

GROUP = "karat.protocols"
FILE = Rule("protocol-file", "fatal", "`karat protocols tac-2017` prints one to copy and change.")
S = TypeVar("S")


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that `--set` changes."""

    default: str | int | float | bool | list[str]
    help: str
    choices: tuple[str, ...] | None = None
    means: dict[str, str] = {}
    """What stands in the file for some of its values, where that is another word."""
    file: bool = False
    """Its value names a file, whose hash goes into the signature."""


class Averages(Struct, frozen=True, forbid_unknown_fields=True):
    """How units become one number."""

    units: Literal["all", "with-gold"] = "all"
    """Which units are averaged: all, or only those with gold mentions."""
    macro: bool = False
    """Whether there is a macro average beside the micro average."""
    undefined: float | None = None
    """What an undefined ratio becomes; none: it stays undefined."""
    macro_undefined: float | None = None
    """What a unit's undefined ratio is worth in the macro average; none: the unit is left out of that mean."""


class Family(Struct, frozen=True):
    """A family of measures with what the protocol says to it."""

    name: str
    parameters: Any
    averages: Averages


class Protocol(Struct, frozen=True):
    """A protocol with every parameter settled."""

    name: str
    title: str
    about: str
    sources: tuple[str, ...]
    laws: tuple[Law, ...]
    unit: Literal["document", "subtopic", "topic", "corpus"]
    system_only_documents: Literal["ignore", "score", "refuse"]
    parameters: dict[str, Parameter]
    values: dict[str, Any]
    faults: tuple[str, ...]
    """Codes of findings that are notes elsewhere and faults under this protocol."""
    comparison: Comparison
    filters: tuple[Filter, ...]
    collapse: Collapse | None
    """What makes one mention of several, after the filters."""
    alignments: dict[str, AlignmentChoice]
    families: tuple[Family, ...]
    digest: str | None
    """Hash of the file, for a protocol that is not karat's own."""

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """Kinds of mentions that are scored; None: all."""
        kept = [kind for filter_ in self.filters if isinstance(filter_, Kinds) for kind in filter_.keep]
        return tuple(kept) if kept and "all" not in kept else None

    def settings(self) -> dict[str, str]:
        """Parameters that are not at their default, as the signature tells them."""
        return {
            key: self._told(key, value)
            for key, value in sorted(self.values.items())
            if value != self.parameters[key].default
        }

    def _told(self, key: str, value: Any) -> str:
        if self.parameters[key].file:
            return f"{Path(value).name}@sha256:{hashlib.sha256(Path(value).read_bytes()).hexdigest()[:16]}"
        if isinstance(value, bool):
            return str(value).lower()  # as it is set
        return ",".join(value) if isinstance(value, list) else str(value)


Unit = Literal["document", "subtopic", "topic", "corpus"]


class _File(Struct, forbid_unknown_fields=True):
    """A protocol file as it is written."""

    title: str
    measures: list[dict[str, Any]]
    aliases: tuple[str, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()
    laws: tuple[Law, ...] = ()
    unit: str = "document"
    system_only_documents: Literal["ignore", "score", "refuse"] = "ignore"
    parameters: dict[str, Parameter] = {}
    faults: tuple[str, ...] = ()
    comparison: Comparison = Comparison()
    filters: list[dict[str, Any]] = []
    collapse: dict[str, Any] | None = None
    alignments: dict[str, dict[str, Any]] = {}


def own() -> dict[str, Path]:
    """karat's own protocols: name and file."""
    folder = Path(str(files(__name__)))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def added() -> dict[str, Path]:
    """Protocols of other packages: name and file."""
    return {point.name: Path(str(point.load())) for point in sorted(entry_points(group=GROUP), key=lambda p: p.value)}


def names() -> list[str]:
    """The names of all protocols, sorted."""
    return sorted({*own(), *added()})


def source(name: str) -> Path:
    """The file of a protocol, by name or by path."""
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise FILE.error("there is no such protocol file", file=name)
        return Path(name)
    path = own().get(name) or added().get(name) or _by_alias(name)
    if path is None:
        raise UsageError(
            "unknown-protocol",
            f"there is no protocol {name!r}",
            f"{nearest(name, names())} `karat protocols` lists them; a file of your own ends in .toml.",
        )
    return path


def _by_alias(name: str) -> Path | None:
    return next((path for path in own().values() if name in _written(path).aliases), None)


def resolve(name: str, settings: Mapping[str, Any] | None = None) -> Protocol:
    """The protocol of that name or file, its parameters set."""
    path = source(name)
    written = _written(path)
    values = {key: parameter.default for key, parameter in written.parameters.items()}
    for key, value in (settings or {}).items():
        if key not in values:
            raise unknown_key(key, values)
        values[key] = _fitting(key, value, written.parameters[key])
    meant = {key: written.parameters[key].means.get(str(value), value) for key, value in values.items()}
    read = _Settled(path, meant)
    return Protocol(
        name=name if name in added() else path.stem,
        title=written.title,
        about=written.about.strip(),
        sources=written.sources,
        laws=written.laws,
        unit=read.unit(written.unit),
        system_only_documents=written.system_only_documents,
        parameters=written.parameters,
        values=values,
        faults=written.faults,
        comparison=written.comparison,
        filters=tuple(read.filter(entry) for entry in written.filters),
        collapse=None if written.collapse is None else read.settled(written.collapse, Collapse),
        alignments={key: read.alignment(key, entry) for key, entry in written.alignments.items()},
        families=tuple(read.family(entry, written.alignments) for entry in written.measures),
        digest=None if path in own().values() else hashlib.sha256(path.read_bytes()).hexdigest()[:16],
    )


def resolve_all(names_: Iterable[str], settings: Mapping[str, Any]) -> list[Protocol]:
    """Several protocols; each setting goes to those that know its key, and at least one must."""
    listed = list(dict.fromkeys(names_))
    called = [Path(name).stem if name.endswith(".toml") else name for name in listed]
    for name in called:
        if called.count(name) > 1:
            raise UsageError("protocol-twice", f"two protocols are called {name!r}", "Rename one of the files.")
    known = {name: _written(source(name)).parameters for name in listed}
    for key in settings:
        if not any(key in keys for keys in known.values()):
            raise unknown_key(key, sorted({other for keys in known.values() for other in keys}))
    return [
        resolve(name, {key: value for key, value in settings.items() if key in keys}) for name, keys in known.items()
    ]


def unknown_key(key: str, known: Iterable[str]) -> UsageError:
    """The error for a key that no protocol here has."""
    return UsageError("unknown-key", f"--set: there is no parameter {key!r}", nearest(key, known))


def parse_setting(text: str) -> tuple[str, Any]:
    """`key=value`; the value is read as TOML, else as a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError("bad-setting", f"--set {text!r} has no value", "Write --set key=value.")
    try:
        read = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return key.strip(), value
    return key.strip(), read["value"] if len(read) == 1 else value


def _written(path: Path) -> _File:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), _File)
    except tomllib.TOMLDecodeError as error:
        raise FILE.error(f"this is not TOML: {error}", file=str(path)) from None
    except UnicodeDecodeError:
        raise FILE.error("this is not UTF-8", file=str(path)) from None
    except msgspec.ValidationError as error:
        raise FILE.error(str(error), file=str(path)) from None


def _fitting(key: str, value: Any, parameter: Parameter) -> Any:
    """A value of the default's type, or an error that says what is wanted."""
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
        fitted = type(default)(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    elif not isinstance(value, list | dict):
        fitted = str(value)
    if fitted is None:
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "text")
        raise UsageError("bad-value", f"--set {key}={value}: expected {wanted}", parameter.help)
    if parameter.choices is not None and fitted not in parameter.choices:
        hint = f"{nearest(str(fitted), parameter.choices)} It takes: {', '.join(parameter.choices)}."
        raise UsageError("bad-value", f"--set {key}={value}: not a value it takes", hint)
    if parameter.file and fitted and not Path(fitted).is_file():
        raise NO_FILE.error(f"there is no such file (--set {key}=...)", file=fitted)
    return fitted


class _Settled:
    """Reads the parts of a protocol file with `{key}` replaced by values."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self._path = path
        self._values = values

    def unit(self, name: str) -> Unit:
        found: Unit = self.settled({"unit": name}, dict[Literal["unit"], Unit])["unit"]
        return found

    def filter(self, entry: dict[str, Any]) -> Filter:
        options = dict(entry)
        name = self._named(options.pop("name", None), FILTERS, "filter")
        filter_: Filter = self.settled(options, FILTERS[name])
        return filter_

    def alignment(self, name: str, entry: dict[str, Any]) -> AlignmentChoice:
        choice = self.settled(entry, AlignmentChoice)
        self._named(choice.similarity, SIMILARITIES, f"similarity (alignment {name})")
        self._named(choice.method, METHODS, f"method (alignment {name})")
        return choice

    def family(self, entry: dict[str, Any], alignments: Mapping[str, Any]) -> Family:
        options = dict(entry)
        name = self._named(options.pop("family", None), MEASURES.names(), "measure family")
        averages = self.settled(options.pop("averages", {}), Averages)
        parameters = self.settled(options, MEASURES.get(name).Parameters)
        if "alignment" in options:
            self._named(options["alignment"], alignments, f"alignment (measures of {name})")
        return Family(name, parameters, averages)

    def _named(self, name: Any, known: Iterable[str], noun: str) -> str:
        if name not in known:
            raise FILE.error(f"there is no {noun} {name!r}. {nearest(str(name), known)}", file=str(self._path))
        return str(name)

    def settled(self, entry: dict[str, Any], type_: type[S]) -> S:
        try:
            return msgspec.convert({key: self._value(value) for key, value in entry.items()}, type_)
        except msgspec.ValidationError as error:
            raise FILE.error(str(error), file=str(self._path)) from None

    def _value(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
            key = value[1:-1]
            if key not in self._values:
                raise FILE.error(f"{value} names no parameter. {nearest(key, self._values)}", file=str(self._path))
            return self._values[key]
        return value
