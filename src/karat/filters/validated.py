"""Validated sentences of ECB+."""

from karat.filters import restricted, unchanged
from karat.model import Mention, Pair, Region
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import KaratError, Report, Rule, quoted

NOT_VALIDATED = Rule(
    "validated-absent",
    "fatal",
    "Read ECB+ with ECBplus_coreference_sentences.csv next to it, or score without `validated`.",
)
NEAREST = Rule(
    "validated-nearest",
    "note",
    "The nearest gold mention decides; to decide it yourself, add the attribute `validated`.",
)


class Validated(Filter, frozen=True):
    """Keeps only mentions in validated sentences: those whose attribute `validated` is true.

    If a system omits the attribute, the gold mention with the same span decides, else the nearest one.
    """

    only: bool = False

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Keep mentions in validated sentences."""
        del comparison
        if not self.only:
            return unchanged

        def kept(pair: Pair) -> Pair:
            known = {
                m.span: m.attributes["validated"] is True for m in pair.gold.mentions if "validated" in m.attributes
            }
            if pair.gold.mentions and not known:
                message = f"no mention of gold document {quoted(pair.gold.id)} has the attribute `validated`"
                raise KaratError(NOT_VALIDATED.at(message, origin="gold"))

            def validated(mention: Mention) -> bool:
                if "validated" in mention.attributes:
                    return mention.attributes["validated"] is True
                if mention.span not in known:
                    which = f"mention {quoted(mention.id)} of system document {quoted(pair.system.id)}"
                    message = f"{which} is not in gold and has no attribute `validated`"
                    report(NEAREST.at(message, item=mention.id, origin="system"))
                    return known[min(known, key=lambda span: _distance(span, mention.span))] if known else False
                return known[mention.span]

            gold = restricted(pair.gold, lambda mention: mention.attributes.get("validated") is True)
            return Pair(gold, restricted(pair.system, validated))

        return kept


def _distance(one: Region, other: Region) -> tuple[int, Region]:
    """The distance of two spans; of two spans at the same distance, the first in the text is nearer."""
    if not one or not other:
        return 0, one
    return max(one[0][0] - other[-1][1], other[0][0] - one[-1][1], 0), one


FILTER = Validated
