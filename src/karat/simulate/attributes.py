"""Errors of attributes: a value is mistaken for another."""

from random import Random

from msgspec.structs import replace

from karat.model import Document
from karat.simulate.chance import struck
from karat.simulate.profile import Profile, typed


def attribute(document: Document, rate: float, random: Random, *, name: str, profile: Profile) -> tuple[Document, int]:
    """Values are replaced by others that mentions of the same kind have in the corpus, as often as these have them."""
    mentions, changed = list(document.mentions), 0
    for position, hit in enumerate(struck(len(mentions), rate, random)):
        mention = mentions[position]
        if hit and name in mention.attributes:
            values = profile.attributes[mention.kind][name].values
            if len(values) > 1:
                _, value = values.draw(random, but=typed(mention.attributes[name]))
                mentions[position] = replace(mention, attributes={**mention.attributes, name: value})
                changed += 1
    return replace(document, mentions=tuple(mentions)), changed
