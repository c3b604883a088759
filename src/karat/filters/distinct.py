"""One mention per span, for exact matching."""

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from karat.errors import KaratError, Report, Rule, quoted
from karat.filters import restricted
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison, Filter, PairTransform

GOLD_TWICE = Rule(
    "gold-span-twice",
    "fatal",
    "Use each span once in gold; exact matching cannot distinguish two mentions of one span.",
)
SYSTEM_TWICE = Rule("system-span-twice", "fault", "Use each span once; the first mention counts, with its cluster.")


Identity = Literal["span", "span+head"]
"""What mentions are compared by."""


class Distinct(Filter, frozen=True):
    """One mention per span, as exact matching needs: a repeated span is fatal in gold and ignored in the system."""

    identity: Identity = "span"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse a repeated span in gold; drop and report it in the system."""
        del comparison

        def distinct(pair: Pair) -> Pair:
            for mention, first in _repeated(pair.gold, self.identity):
                which = f"mentions {quoted(first.id)} and {quoted(mention.id)} of gold document {quoted(pair.gold.id)}"
                raise KaratError(GOLD_TWICE.at(f"{which} have the same span", item=mention.id, origin="gold"))
            repeated = {mention.id: first for mention, first in _repeated(pair.system, self.identity)}
            for id_, first in repeated.items():
                which = f"mention {quoted(id_)} of system document {quoted(pair.system.id)}"
                report(SYSTEM_TWICE.at(f"{which} has the span of {quoted(first.id)}", item=id_, origin="system"))
            if not repeated:
                return pair
            return replace(pair, system=restricted(pair.system, lambda mention: mention.id not in repeated))

        return distinct


def _repeated(document: Document, identity: Identity) -> Iterator[tuple[Mention, Mention]]:
    """Mentions that repeat the span (or span and head) of an earlier mention, each with that mention."""
    if len({mention.span for mention in document.mentions}) == len(document.mentions):
        return
    first: dict[object, Mention] = {}
    for mention in document.mentions:
        place = mention.span or mention.id
        earlier = first.setdefault(place if identity == "span" else (place, mention.head), mention)
        if earlier is not mention:
            yield mention, earlier


FILTER = Distinct
