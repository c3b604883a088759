"""One mention per span, for exact matching."""

from collections.abc import Iterator

from msgspec.structs import replace

from karat.errors import KaratError, Report, Rule, quoted
from karat.filters import restricted
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison, Filter, PairTransform

GOLD_TWICE = Rule("gold-span-twice", "fatal", "Give each span of gold once; exact matching cannot tell two apart.")
SYSTEM_TWICE = Rule("system-span-twice", "fault", "Give each span once; the first mention, with its cluster, counts.")


class Distinct(Filter, frozen=True):
    """Under exact matching a span is one mention: gold may not put it into two clusters, a system keeps its first."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Refuse a repeated span in gold; drop and report it in the system."""
        del comparison

        def distinct(pair: Pair) -> Pair:
            for mention, first in _repeated(pair.gold):
                which = f"mentions {quoted(first.id)} and {quoted(mention.id)} of gold document {quoted(pair.gold.id)}"
                raise KaratError(GOLD_TWICE.at(f"{which} have the same span", item=mention.id, origin="gold"))
            repeated = {mention.id: first for mention, first in _repeated(pair.system)}
            for id_, first in repeated.items():
                which = f"mention {quoted(id_)} of system document {quoted(pair.system.id)}"
                report(SYSTEM_TWICE.at(f"{which} has the span of {quoted(first.id)}", item=id_, origin="system"))
            if not repeated:
                return pair
            return replace(pair, system=restricted(pair.system, lambda mention: mention.id not in repeated))

        return distinct


def _repeated(document: Document) -> Iterator[tuple[Mention, Mention]]:
    """Mentions whose span an earlier one has, each with that one."""
    if len({mention.span for mention in document.mentions}) == len(document.mentions):
        return
    first: dict[object, Mention] = {}
    for mention in document.mentions:
        earlier = first.setdefault(mention.span or mention.id, mention)
        if earlier is not mention:
            yield mention, earlier


FILTER = Distinct
