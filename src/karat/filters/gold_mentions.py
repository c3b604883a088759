"""Gold's mentions for the system, for tasks in which mentions are given."""

from typing import ClassVar

from msgspec.structs import replace

from karat.match.mentions import by_span
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison, Filter, PairTransform, Rule
from karat.problems import Report, quoted

OTHERS = Rule("mentions-not-golds", "note", "No action needed; test data may hold distractors on purpose.")


class GoldMentions(Filter, frozen=True):
    """Gives the system exactly gold's mentions.

    Others leave with their links; those that the system lacks are clusters of their own.
    """

    gives_mentions: ClassVar[bool] = True

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Compare by kind and span."""
        del comparison

        def given(pair: Pair) -> Pair:
            golds, systems = by_span(pair)
            if golds == systems:
                return pair
            known = dict(zip(systems, pair.system.mentions, strict=True))
            others = [mention for number, mention in known.items() if number >= len(golds)]
            if others:
                message = f"{len(others):,} of its mentions in document {quoted(pair.gold.id)} are not gold's"
                report(OTHERS.at(message, origin="system", item=others[0].id))
            return Pair(pair.gold, _with_mentions(pair, [known.get(number) for number in golds]))

        return given


def _with_mentions(pair: Pair, known: list[Mention | None]) -> Document:
    """The system's document with these mentions, and gold's in place of those that are lacking."""
    kept = [mention for mention in known if mention is not None]
    taken = {mention.id for mention in pair.system.mentions}
    left = taken - {mention.id for mention in kept}
    ends = {end for mention in kept for end in (mention.id, mention.cluster)} - left
    taken |= {mention.cluster for mention in kept if mention.cluster is not None}
    mentions = []
    for mention, gold in zip(known, pair.gold.mentions, strict=True):
        if mention is None:
            id_ = gold.id
            while id_ in taken:
                id_ += "+"
            taken.add(id_)
            mention = replace(gold, id=id_, cluster=None, attributes={})
        mentions.append(mention)
    links = tuple([link for link in pair.system.links if link.source in ends and link.target in ends])
    return replace(pair.system, mentions=tuple(mentions), links=links)


FILTER = GoldMentions
