"""What there is of a kind, by name: the modules of a room, and what other packages add through entry points.

A room's own modules are found by looking into its folder, so that adding one edits nothing else. Nothing is imported
before it is asked for by name, and entry points are looked up only when a name is not ours or all names are wanted.
What is `araki-2014` to a user is the module `araki_2014`.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from karat.errors import UsageError, nearest


class Registry:
    """The plug-ins of one room: `karat.formats` holds formats, and so on."""

    def __init__(self, room: ModuleType, noun: str, *, option: str) -> None:
        self.group = room.__name__
        self.noun = noun
        self.option = option
        """The command that lists them."""
        self._room = room

    @cached_property
    def own(self) -> frozenset[str]:
        """Names that karat itself brings, found without importing them."""
        found = pkgutil.iter_modules(self._room.__path__)
        return frozenset(module.name.replace("_", "-") for module in found if not module.name.startswith("_"))

    @cached_property
    def added(self) -> dict[str, EntryPoint]:
        """Names that other packages bring."""
        return {point.name: point for point in sorted(entry_points(group=self.group), key=lambda point: point.value)}

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.own, *self.added})

    def get(self, name: str) -> Any:
        """The plug-in of that name; karat's own cannot be replaced from outside."""
        if name in self.own:
            return importlib.import_module(f"{self.group}.{name.replace('-', '_')}")
        if name in self.added:
            return self.added[name].load()
        raise UsageError(
            f"unknown-{self.noun}",
            f"there is no {self.noun} {name!r}",
            f"{nearest(name, self.names())} `{self.option}` lists them.",
        )

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in self.names():
            yield name, self.get(name)
