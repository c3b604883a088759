"""Tokens of the two sides: where they differ, and one numbering for both.

Spans in token units count the tokens of their own side. Words must be the same on both sides: they are compared by
number and form, and sentences of formats in which these have ids by beginning and id. Empty nodes may differ: they are
identified by their sentence, the word before them and their number. If one side has empty nodes that the other lacks,
both sides are renumbered, so that the same number is the same token on both.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from karat.model import Document, Mention, Pair, Region
from karat.problems import Rule, quoted

TOKENS_DIFFER = Rule(
    "tokens-differ", "fault", "Score the tokens that gold has; spans are compared by the numbers of their tokens."
)

Key = tuple[int, int, int]
"""A token in an order that both sides share: words up to it, the sentence of an empty node (else -1), its number."""


class Difference(NamedTuple):
    """The first place where the tokens of the two sides differ."""

    message: str
    gold: int | None
    """The token there; None after the end of the document."""
    system: int | None


def difference(gold: Document, system: Document) -> Difference | None:
    """Where the words or sentences of the two sides of a document first differ; None if they do not, or are unknown."""
    if gold.unit != "token" or _have_same_tokens(gold, system):
        return None
    sides = _Words(gold), _Words(system)
    if sides[0].forms is None or sides[1].forms is None:
        return None
    golds, systems = sides[0].forms, sides[1].forms
    for index, (mine, theirs) in enumerate(zip_longest(golds, systems)):
        if mine is None or theirs is None:
            shorter = "the system" if theirs is None else "gold"
            form = quoted((mine or theirs or "")[:60])
            message = f"gold has {len(golds):,} words, the system {len(systems):,}: {shorter} ends before {form}"
            return _at(message, index, *sides)
        if mine != theirs and mine and theirs:
            message = f"word {index + 1:,} is {quoted(mine)} in gold, but {quoted(theirs)} in the system"
            return _at(message, index, *sides)
    if not gold.sentence_ids or not system.sentence_ids:
        return None
    both = zip_longest(sides[0].sentences, sides[1].sentences)
    for ordinal, pair in enumerate(both, 1):
        if pair[0] != pair[1]:
            names = (f"sentence {ordinal:,} {_sentence(side)}" for side in pair)
            message = "in gold, {}, in the system, {}".format(*names)
            begins = [side[0] for side in pair if side is not None]
            return _at(message, min(begins), *sides)
    return None


def _have_same_tokens(gold: Document, system: Document) -> bool:
    """Return whether the two sides have equal tokens."""
    if gold.forms != system.forms:
        return False
    sides = [(side.sentences, side.sentence_ids) for side in (gold, system) if side.sentence_ids]
    if len(sides) == 2 and sides[0] != sides[1]:
        return False
    return gold.forms is not None or (gold.tokens == system.tokens and gold.text == system.text)


def _at(message: str, word: int, gold: "_Words", system: "_Words") -> Difference:
    return Difference(message, gold.token(word), system.token(word))


def _sentence(sentence: tuple[int, str] | None) -> str:
    return (
        "is missing" if sentence is None else f"begins at word {sentence[0] + 1:,} and has the id {quoted(sentence[1])}"
    )


class _Words:
    """The tokens of a document without its empty nodes."""

    def __init__(self, document: Document) -> None:
        self._empty = [node.token for node in document.empty_nodes]
        self._count = 0
        forms = _forms(document)
        if forms is not None and self._empty:
            empty = frozenset(self._empty)
            forms = [form for token, form in enumerate(forms) if token not in empty]
        self.forms = forms
        """The form of each word, empty where it is not known; None: not even their number is known."""
        self.sentences = [
            (begin - bisect_left(self._empty, begin), id_ or str(ordinal))
            for ordinal, ((begin, _), id_) in enumerate(zip(document.sentences, document.sentence_ids, strict=False), 1)
        ]
        """The first word and the id of each sentence; one without an id is known by its number."""

    def token(self, word: int) -> int | None:
        """The token that a word is, if the document has it."""
        if self.forms is None or word >= len(self.forms):
            return None
        token = word
        for empty in self._empty:
            token += empty <= token
        return token


def _forms(document: Document) -> Sequence[str] | None:
    if document.forms is not None or document.tokens is None:
        return document.forms
    text = document.text
    return ["" if text is None else text[begin:end] for begin, end in document.tokens]


def in_one_numbering(pair: Pair) -> Pair:
    """Return the pair with its tokens numbered alike on both sides, whichever empty nodes each side has."""
    if pair.gold.empty_nodes == pair.system.empty_nodes:
        return pair
    golds, systems = _keys(pair.gold), _keys(pair.system)
    every = {*golds, *systems}
    return Pair(
        _renumbered(pair.gold, golds, sorted(every.difference(golds))),
        _renumbered(pair.system, systems, sorted(every.difference(systems))),
    )


def _keys(document: Document) -> list[Key]:
    """Return the keys of a document's empty nodes."""
    begins = [begin for begin, _ in document.sentences]
    return [
        (node.token - earlier, bisect_right(begins, node.token), node.number)
        for earlier, node in enumerate(document.empty_nodes)
    ]


def _renumbered(document: Document, own: Sequence[Key], added: Sequence[Key]) -> Document:
    """Return the document with its tokens numbered as if it also had the added empty nodes."""
    if not added:
        return document
    # An added node comes after as many words as its key says, and after the document's own empty nodes before it.
    places = [key[0] + bisect_left(own, key) for key in added]
    move = _Move(places)
    nodes = [
        replace(
            node,
            token=move.token(node.token),
            dependencies=tuple(
                (None if parent is None else move.token(parent), relation) for parent, relation in node.dependencies
            ),
        )
        for node in document.empty_nodes
    ]
    return replace(
        document,
        tokens=None,  # these have a place for each token, and no use after both sides were compared
        forms=None,
        token_ids=None,
        sentences=tuple((move.token(begin), move.token(end - 1) + 1) for begin, end in document.sentences),
        empty_nodes=tuple(nodes),
        mentions=tuple(map(move.mention, document.mentions)),
    )


class _Move:
    """Renumbers tokens after some were added, each before the token at its place."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places

    def token(self, token: int) -> int:
        return token + bisect_right(self._places, token)

    def region(self, region: Region) -> Region:
        """Renumber the tokens of a region: a segment ends before an added token and begins again after it."""
        moved: list[tuple[int, int]] = []
        for begin, end in region:
            cuts = self._places[bisect_right(self._places, begin) : bisect_left(self._places, end)]
            edges = [begin, *dict.fromkeys(cuts), end]
            moved.extend((self.token(first), self.token(after - 1) + 1) for first, after in pairwise(edges))
        return tuple(moved)

    def mention(self, mention: Mention) -> Mention:
        regions = {name: getattr(mention, name) for name in ("head", "extent", "anchor", "scope")}
        moved = {name: self.region(region) for name, region in regions.items() if region is not None}
        return replace(mention, span=self.region(mention.span), **moved)
