"""What a page of the web site shows, ready for the template."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat import __version__
from karat.report.html.charts import Ranking as RankingChart
from karat.report.html.page import rendered
from karat.report.tables import Table

Link = tuple[str, str]
"""What is shown, and where it leads to."""

LONGEST = 80
"""Characters of a file's name."""


class Part(NamedTuple):
    """A ranking or tables under one heading."""

    title: str = ""
    ranking: RankingChart | None = None
    words: Sequence[str] = ()
    tables: Sequence[Table] = ()
    folded: str = ""
    """If the tables are shown only on request: what they are called."""


class Refused(NamedTuple):
    """A submission that was refused."""

    name: str
    link: str
    reasons: Sequence[str]


class Section(NamedTuple):
    """A part of a page."""

    title: str
    id: str = ""
    words: Sequence[str] = ()
    parts: Sequence[Part] = ()
    refused: Sequence[Refused] = ()
    findings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    links: Sequence[Link] = ()


class HeadScore(NamedTuple):
    """A score in large figures."""

    measure: str
    value: str
    interval: tuple[str, str] | None
    about: str


class Page(NamedTuple):
    """A page, and where it is in the site."""

    path: str
    title: str
    links: Sequence[Link]
    words: Sequence[str] = ()
    headlines: Sequence[HeadScore] = ()
    sections: Sequence[Section] = ()

    def html(self) -> Iterator[str]:
        """The page in pieces."""
        return rendered(
            "campaign.html", version=__version__, **{k: v for k, v in self._asdict().items() if k != "path"}
        )


def slug(text: str) -> str:
    """A file name for any text: itself if it is plain, else with a hash, so that no two texts share one."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:LONGEST]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
