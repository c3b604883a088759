"""What is measured: each family of scores on a corpus of any size, against a bare read of the same bytes."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ace_corpus import write_apf
from bare import Bare
from corpus import write_coref, write_documents, write_hierarchies, write_tbf


class Family(NamedTuple):
    """Scores that are measured together."""

    name: str
    protocol: str
    measures: tuple[str, ...]
    write: Callable[[Path, int], tuple[Path, Path]]
    """Writes gold and system of a size, the same bytes each time."""
    unit: str
    """What sizes count."""
    sizes: tuple[int, int, int]
    bare: Bare
    aim: float
    """How many times the bare read scoring should take, at most."""
    million: tuple[int, int, int] | None = None
    """The sizes up to one million mentions."""


def _nuggets(folder: Path, documents: int) -> tuple[Path, Path]:
    return write_tbf(folder, documents)[:2]


def _across(folder: Path, mentions: int) -> tuple[Path, Path]:
    """The proportions of a corpus of 98,461 mentions whose system is a lemma baseline."""
    return write_coref(folder, mentions, mentions * 44 // 100, mentions * 17 // 100)


def _ace(folder: Path, documents: int) -> tuple[Path, Path]:
    return write_apf(folder, documents)[:2]


FAMILIES = (
    Family(
        "nuggets alone",
        "tac-2017",
        ("nugget",),
        _nuggets,
        "document",
        (100, 1_000, 10_000),
        "split",
        15,
        (290, 2_900, 30_000),
    ),
    Family(
        "all of tac-2017", "tac-2017", (), _nuggets, "document", (100, 1_000, 10_000), "split", 25, (290, 2_900, 30_000)
    ),
    Family(
        "coreference within documents",
        "conll-2012",
        (),
        write_documents,
        "document",
        (50, 500, 5_000),
        "json.loads",
        8,
    ),
    Family(
        "cross-document coreference",
        "simple-cdec",
        (),
        _across,
        "mention",
        (1_000, 10_000, 100_000),
        "json.loads",
        8,
        (10_000, 100_000, 1_000_000),
    ),
    Family("hierarchies", "araki-2014", (), write_hierarchies, "document", (50, 500, 5_000), "split", 15),
    Family("ACE, eight tasks", "ace-2005", (), _ace, "document", (15, 150, 1_500), "lxml", 8),
)
