"""What the scores of one system say, in plain words."""

from collections.abc import Iterator, Mapping

from karat.results import Score

SPAN = "nugget.span"
GAP = 0.05
"""A smaller loss is not worth a sentence."""
LEAD = 0.01
"""How much more than any other the largest loss must be."""
FEW = 20
"""With fewer gold mentions, one or two of them make the gap."""


def bottleneck(scores: Mapping[str, Score], *, mentions: int, system: str = "this system") -> Iterator[str]:
    """What holds a system back, as Liu et al. (2015), section 4, read their Figure 3; nothing if it is not clear.

    A large gap between span F1 and the F1 with an attribute shows that the attribute is the bottleneck. If attributes
    cost little, it is finding the spans. `mentions` are those of gold.
    """
    span = scores[SPAN].micro.values.get("f1") if SPAN in scores else None
    if span is None or mentions < FEW:
        return
    attributes = {
        id_.removeprefix("nugget."): f1
        for id_, score in scores.items()
        if id_.startswith("nugget.") and id_ != SPAN and not {"+", "."} & set(id_.removeprefix("nugget."))
        if (f1 := score.micro.values.get("f1")) is not None
    }
    if not attributes:
        return
    losses = {name: span - f1 for name, f1 in attributes.items()} | {"span": 1 - span}
    (name, largest), (_, second) = sorted(losses.items(), key=lambda item: -item[1])[:2]
    if largest < GAP or largest - second < LEAD:
        return
    points = f"{100 * largest:.0f} points are lost"
    if name == "span":
        yield f"{points} before any attribute is compared: finding spans holds {system} back"
    else:
        yield f"from span to {name} {points}: {name} detection holds {system} back"
