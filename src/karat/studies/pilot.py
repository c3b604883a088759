"""A simulated event nugget pilot: 200 documents with 6,921 event mentions, and 15 systems of different character.

The corpus of the pilot (LDC2015E3) needs a licence, and its submissions were never published. These documents have the
same numbers of documents and mentions, the eight event types, and mentions of one word, of several words and of words
that do not follow each other. Their sentences mean nothing. Systems are made from gold by `karat simulate`.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention, Value
from karat.problems import ignore
from karat.regions import runs
from karat.simulate.profile import Distribution, below, chance, pick
from karat.simulate.simulation import Rates, Simulation

DOCUMENTS, MENTIONS = 200, 6921
SEED = 2015
FEWEST = 5
"""Mentions of a document."""

TRIGGERS: dict[str, tuple[int, tuple[str, ...]]] = {
    "Business.Declare-Bankruptcy": (2, ("bankruptcy", "went under", "collapse")),
    "Business.Merge-Org": (3, ("merger", "merged", "joined forces")),
    "Conflict.Attack": (16, ("attack", "war", "bombed", "opened fire", "shooting", "carried out [the] raid")),
    "Conflict.Demonstrate": (5, ("protest", "march", "took to [the] streets")),
    "Contact.Meet": (9, ("met", "summit", "talks", "held [a] meeting")),
    "Contact.Phone-Write": (5, ("wrote", "phoned", "e-mail", "got in touch")),
    "Justice.Arrest-Jail": (8, ("arrest", "jailed", "took [him] into custody", "detained")),
    "Justice.Convict": (5, ("convicted", "found [her] guilty", "conviction")),
    "Justice.Sentence": (4, ("sentenced", "life term", "sentence")),
    "Life.Die": (12, ("died", "killed", "death", "carried out [the] assassination", "passed away")),
    "Life.Injure": (6, ("hurt", "injured", "wounds")),
    "Movement.Transport": (10, ("left", "went", "travelled", "set off", "evacuation")),
    "Personnel.Elect": (4, ("elected", "vote", "won [the] election")),
    "Personnel.End-Position": (4, ("resigned", "fired", "stepped down")),
    "Personnel.Nominate": (2, ("nominate", "nomination", "put [his] name forward")),
    "Transaction.Transfer-Money": (5, ("paid", "fine", "donation", "lent money")),
    "Transaction.Transfer-Ownership": (4, ("bought", "sale", "acquisition", "took over")),
}
"""Event types, how often each occurs, and the words of its mentions; words in brackets are not part of them."""
REALIS = {"Actual": 58, "Generic": 22, "Other": 20}
FILLERS = (
    "the a of in to and on for with at by from said that it was were is are has had not but after before during while "
    "police officials government court company spokesman residents region capital minister president week month year "
    "according statement international representatives investigation neighbouring headquarters late early new several"
)
"""Words between mentions."""


class PilotSystem(NamedTuple):
    """A system: what it is like, and its errors."""

    name: str
    character: str
    rates: Rates


def _errors(
    miss: float,
    spurious: float,
    *,
    type: float,
    realis: float,
    boundary: float = 0.06,
    split: float = 0,
    merge: float = 0,
) -> Rates:
    attributes = {"type": type, "realis": realis}
    return Rates(miss=miss, spurious=spurious, boundary=boundary, split=split, merge=merge, attributes=attributes)


SYSTEMS = (
    PilotSystem("careful", "few errors of every kind", _errors(0.15, 0.10, type=0.08, realis=0.20, boundary=0.03)),
    PilotSystem("solid", "a good system", _errors(0.22, 0.17, type=0.12, realis=0.25)),
    PilotSystem("average", "a middling system", _errors(0.32, 0.25, type=0.18, realis=0.30)),
    PilotSystem("weak", "many errors of every kind", _errors(0.50, 0.40, type=0.30, realis=0.40, boundary=0.10)),
    PilotSystem("cautious", "misses a lot, invents little", _errors(0.52, 0.03, type=0.10, realis=0.22)),
    PilotSystem("timid", "misses most", _errors(0.68, 0.02, type=0.08, realis=0.25)),
    PilotSystem("eager", "misses little, invents a lot", _errors(0.12, 0.76, type=0.15, realis=0.28)),
    PilotSystem("flooding", "invents a mention for each gold one", _errors(0.20, 1.00, type=0.20, realis=0.35)),
    PilotSystem("sloppy", "spans too long or too short", _errors(0.25, 0.20, type=0.14, realis=0.28, boundary=0.20)),
    PilotSystem("splitting", "divides long mentions", _errors(0.36, 0.26, type=0.12, realis=0.26, split=0.25)),
    PilotSystem("merging", "joins neighbours", _errors(0.30, 0.12, type=0.14, realis=0.26, merge=0.08)),
    PilotSystem("type-blind", "finds words, guesses types", _errors(0.24, 0.20, type=0.60, realis=0.26)),
    PilotSystem("type-sure", "types are right where words are found", _errors(0.38, 0.32, type=0.02, realis=0.30)),
    PilotSystem("realis-blind", "guesses realis", _errors(0.26, 0.22, type=0.12, realis=0.65)),
    PilotSystem("realis-sure", "realis is nearly always right", _errors(0.42, 0.30, type=0.25, realis=0.06)),
)


def gold() -> list[Document]:
    """The documents, in token units, with exactly as many mentions as the pilot's."""
    types = Distribution({name: weight for name, (weight, _) in TRIGGERS.items()})
    realis = Distribution(REALIS)
    documents = []
    for number, size in enumerate(_sizes(), 1):
        random = chance(SEED, f"pilot-{number:03}", "gold")
        documents.append(_document(f"pilot-{number:03}", size, types, realis, random))
    return documents


def _sizes() -> list[int]:
    """Mentions per document: long and short ones, together exactly the number of the pilot."""
    random = chance(SEED, "", "sizes")
    weights = [random.random() ** 1.5 for _ in range(DOCUMENTS)]
    left, total, sizes = MENTIONS - FEWEST * DOCUMENTS, sum(weights), []
    for weight in weights:  # each takes its share of what is left, so that nothing remains
        share = round(left * weight / total)
        sizes.append(FEWEST + share)
        left, total = left - share, total - weight
    return sizes


def _document(id_: str, size: int, types: Distribution[str], realis: Distribution[str], random: Random) -> Document:
    words: list[str] = []
    mentions: list[Mention] = []
    fillers = FILLERS.split()
    for number in range(1, size + 1):
        words += [pick(fillers, random) for _ in range(3 + below(12, random))]
        type_ = types.draw(random)
        span = []
        for word in pick(TRIGGERS[type_][1], random).split():
            if not word.startswith("["):
                span.append(len(words))
            words.append(word.strip("[]"))
        attributes: dict[str, Value] = {"type": type_, "realis": realis.draw(random)}
        mentions.append(Mention(f"m{number}", runs(span), attributes=attributes))
    words += [pick(fillers, random) for _ in range(6)]
    return Document(
        id_, text=" ".join(words), unit="token", tokens=tuple(_places(words)), mentions=tuple(mentions), language="en"
    )


def _places(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    begin = 0
    for word in words:
        yield begin, begin + len(word)
        begin += len(word) + 1


def made(documents: Sequence[Document], rates: Rates, *, seed: int = SEED) -> list[Document]:
    """A system's documents."""
    return list(Simulation(MemoryCorpus(documents, name="gold"), rates, seed=seed, report=ignore))


def in_characters(document: Document) -> Document:
    """Convert spans to characters; blanks inside a segment belong to it."""
    assert document.tokens is not None, "these documents have tokens"
    places = document.tokens
    mentions = tuple(
        replace(mention, span=tuple((places[begin][0], places[end - 1][1]) for begin, end in mention.span))
        for mention in document.mentions
    )
    return replace(document, unit="char", tokens=None, mentions=mentions)


def reduced(document: Document, *, longest: bool) -> Document:
    """A system that finds one word of every mention, the longest or the shortest, and nothing else wrong."""
    assert document.tokens is not None, "these documents have tokens"
    places = document.tokens

    def length(token: int) -> int:
        begin, end = places[token]
        return end - begin

    mentions = []
    for mention in document.mentions:
        tokens = [token for begin, end in mention.span for token in range(begin, end)]
        token = max(tokens, key=length) if longest else min(tokens, key=length)
        mentions.append(replace(mention, span=((token, token + 1),)))
    return replace(document, mentions=tuple(mentions))
