"""Plug-ins by name: what karat brings itself, and what other packages add through entry points.

Nothing is imported before it is asked for by name, and entry points are looked up only when a name is not karat's own
or when all names are wanted. A plug-in of another package that cannot be loaded is reported with the name of its
package, and only a command that asks for it by name stops.
"""

import importlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from karat.problems import KaratError, PluginWarning, Rule, UsageError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

BROKEN = Rule("plugin-broken", "fatal", "Update or uninstall the package; `karat.testing.check` shows what is wrong.")


class Registry(Generic[T]):
    """The plug-ins of one kind.

    `group` is the entry-point group in which other packages offer theirs, `accept` returns a loaded object as the kind
    of plug-in that it must be, or raises TypeError. karat's own plug-ins cannot be replaced from outside.
    """

    def __init__(
        self,
        group: str,
        noun: str,
        *,
        own: Callable[[], Mapping[str, Callable[[], object]]],
        accept: Callable[[object], T],
        listed_by: str | None = None,
    ) -> None:
        self.group = group
        self.noun = noun
        self.listed_by = listed_by
        """The command that lists them; None where only protocol files name them."""
        self._find_own = own
        self._accept = accept
        self._loaded: dict[str, T] = {}

    @cached_property
    def own(self) -> Mapping[str, Callable[[], object]]:
        """Plug-ins that karat brings itself: their names, found without importing them, and how to load each."""
        return self._find_own()

    @cached_property
    def added(self) -> "dict[str, EntryPoint]":
        """Plug-ins of other packages."""
        from importlib.metadata import entry_points

        return {point.name: point for point in sorted(entry_points(group=self.group), key=lambda point: point.value)}

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.own, *self.added})

    def has(self, name: str) -> bool:
        """Return whether there is a plug-in of that name."""
        return name in self.own or name in self.added

    def get(self, name: str) -> T:
        """The plug-in of that name, loaded once."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> T:
        if name in self.own:
            return self._accept(self.own[name]())
        if name in self.added:
            return self._load_added(self.added[name])
        raise UsageError(
            f"unknown-{self.noun}",
            f"there is no {self.noun} {name!r}",
            f"{nearest(name, self.names())} `{self.listed_by}` lists them.",
        )

    def __iter__(self) -> Iterator[tuple[str, T]]:
        """Every plug-in with its name; one that cannot be loaded is skipped with a warning."""
        for name in self.names():
            try:
                yield name, self.get(name)
            except KaratError as error:
                warnings.warn(str(error), PluginWarning, stacklevel=2)

    def _load_added(self, point: "EntryPoint") -> T:
        try:
            return self._accept(point.load())
        except (Exception, SystemExit) as error:
            package = "an unknown package" if point.dist is None else f"package {point.dist.name} {point.dist.version}"
            what = f"the {self.noun} {point.name!r} of {package} cannot be loaded"
            raise BROKEN.error(f"{what}: {type(error).__name__}: {error}") from error


def modules_of(room: ModuleType, attribute: str | None = None) -> dict[str, Callable[[], object]]:
    """The plug-ins of a room, one per module: `attribute` names the object that a module offers, None the module.

    What is `araki-2014` to a user is the module `araki_2014`. Modules that begin with an underscore are not plug-ins.
    """
    files = sorted(file for folder in room.__path__ for file in os.listdir(folder))  # noqa: PTH208 - names
    names = [file.removesuffix(".py") for file in files if file.endswith(".py") or "." not in file]
    names = [name for name in names if not name.startswith("_")]
    return {name.replace("_", "-"): partial(_attribute, f"{room.__name__}.{name}", attribute) for name in names}


def _attribute(module: str, attribute: str | None) -> object:
    loaded = importlib.import_module(module)
    return loaded if attribute is None else vars(loaded)[attribute]


def named(**objects: object) -> dict[str, Callable[[], object]]:
    """Plug-ins that are already there, by name; `many_to_one` is called `many-to-one`."""
    return {name.replace("_", "-"): partial(_same, value) for name, value in objects.items()}


def _same(value: T) -> T:
    return value


def function(loaded: object) -> Any:
    """Accepts a function; its signature cannot be checked."""
    if not callable(loaded):
        raise TypeError(f"expected a function, found {loaded!r}")
    return loaded


def instance_of(expected: type[T]) -> Callable[[object], T]:
    """Accepts an instance of a class."""

    def accept(loaded: object) -> T:
        if not isinstance(loaded, expected):
            raise TypeError(f"expected a karat.plugin.{expected.__name__}, found {loaded!r}")
        return loaded

    return accept


def subclass_of(expected: type[T]) -> Callable[[object], type[T]]:
    """Accepts a subclass of a class."""

    def accept(loaded: object) -> type[T]:
        if not (isinstance(loaded, type) and issubclass(loaded, expected)):
            raise TypeError(f"expected a subclass of karat.plugin.{expected.__name__}, found {loaded!r}")
        return loaded

    return accept
