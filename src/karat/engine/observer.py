"""Observers see the tables of a run as they are counted, for what is made of them beside scores."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from karat import protocols
from karat.engine.records import Records
from karat.plugin import Composite, Measure, Tables


class Observer(Protocol):
    """Sees the documents and tables of one protocol.

    If each document is counted by itself, documents are divided among processes, each with an observer of its own.
    """

    def enter(self, unit: str, tables: Tables) -> None:
        """A document after filters and collapse, before its tables are counted."""
        ...

    def add(self, unit: str, document: str | None, measure: Measure[Any, Any], table: Any) -> None:
        """A table that was counted: of one document, or of several (None)."""
        ...

    def leave(self) -> None:
        """The tables of all documents that were entered have been added."""
        ...

    def part(self) -> Any:
        """What it has of the documents that were left, to be sent to another process."""
        ...

    def merge(self, part: Any) -> None:
        """Take over what another one has of later documents."""
        ...


Rows = Sequence[Measure[Any, Any] | Composite]
Observe = Callable[[Records, protocols.Protocol, Rows, Sequence[str]], Observer]
"""Makes the observer of a protocol that scores these rows; the result has those of these ids.

It finds the records of a unit until it leaves it. What makes it is pickled for other processes.
"""
