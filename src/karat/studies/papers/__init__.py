"""Papers recomputed: one module per paper, with its published numbers and claims beside what karat finds.

A paper is a module (or any object that another package offers under the entry-point group `karat.studies.papers`) with

    TITLE                        authors, year and title
    DATA                         the data that the user must provide; None: the data come with karat
    FIGURES                      the names of its figures
    reproduce(data, progress, quick=False)
                                 the `Reproduction`; `data` is the path that the user gave, None if DATA is None;
                                 `progress`, if not None, is called with the steps done and the number of steps; `quick`
                                 asks to leave out what takes minutes
"""

import sys
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from karat.corpus.interface import Progress
from karat.problems import UsageError
from karat.registry import Registry, modules_of
from karat.report.figures.figure import Figure

Form = Literal["count", "percent", "share"]
"""How a number is printed: as it is, as a percentage with two digits, or with three digits."""


class Cell(Struct, frozen=True):
    """A recomputed number, and the published one if there is one."""

    found: float | None
    published: float | None = None

    @property
    def difference(self) -> float | None:
        """How far the recomputed number is from the published one."""
        return None if self.found is None or self.published is None else self.found - self.published


class Column(Struct, frozen=True):
    """The name of a column, and how its numbers are printed."""

    name: str
    form: Form = "percent"


class Numbers(Struct, frozen=True):
    """A table of the paper."""

    title: str
    columns: tuple[Column, ...]
    rows: dict[str, tuple[Cell, ...]]


class Claim(Struct, frozen=True):
    """What a paper says in words, and what was found."""

    says: str
    where: str
    holds: bool
    found: str


class Reproduction(Struct, frozen=True):
    """A paper recomputed."""

    title: str
    numbers: tuple[Numbers, ...]
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    figures: dict[str, Figure] = {}
    """Its figures by name, to be drawn."""
    about: str = ""
    """What the reader must know first, such as that the data are simulated."""

    def figure(self, name: str | None) -> Figure:
        """One figure, or without a name all of them in one picture."""
        if name is None:
            return Figure.joined(self.figures)
        return self.figures[name]


PAPERS: Registry[Any] = Registry(
    __name__,
    "paper",
    own=lambda: modules_of(sys.modules[__name__]),
    accept=lambda module: module,
    listed_by="karat reproduce",
)


def recomputed(
    name: str,
    data: str | None,
    *,
    figures: Sequence[str | None] = (),
    progress: Progress | None = None,
    quick: bool = False,
) -> Reproduction:
    """A paper recomputed; it must have these figures (None: any)."""
    paper = PAPERS.get(name)
    if paper.DATA is None and data is not None:
        raise UsageError("data-unwanted", f"the data of {name} come with karat", "Omit DATA.")
    if paper.DATA is not None and data is None:
        raise UsageError("data-needed", f"{name} needs {paper.DATA}", "Give its path after the name of the paper.")
    for figure in figures:
        if not paper.FIGURES:
            raise UsageError("figure-absent", f"{name} has no figure to draw", "Omit --plot.")
        if figure is not None and figure not in paper.FIGURES:
            hint = f"Known figures: {', '.join(paper.FIGURES)}."
            raise UsageError("unknown-figure", f"{name} has no figure {figure!r}", hint)
    found: Reproduction = paper.reproduce(data, progress, quick=quick)
    return found
