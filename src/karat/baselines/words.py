"""Lemmas, parts of speech and heads of English words, offline: lemminflect's dictionary, and rules.

Another package offers an analyser of its own, such as one that runs a parser, through the entry-point group
`karat.analysers`.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib import import_module, metadata
from typing import Any

from karat.errors import UsageError
from karat.model import Document
from karat.plugin import PartOfSpeech, Word, WordAnalyser
from karat.registry import Registry, instance_of, named

EXTRA = "Install it with: pip install 'karat[baselines]'"

FUNCTION_WORDS = frozenset(
    (
        *("a", "about", "along", "an", "are", "around", "at", "away", "back", "be", "been", "being", "by", "down"),
        *("for", "forward", "from", "her", "herself", "himself", "his", "in", "into", "is", "it", "its", "of", "off"),
        *("on", "out", "over", "the", "their", "through", "to", "under", "up", "was", "were", "with"),
    )
)
"""Words that are no heads: prepositions, particles, articles, pronouns, forms of be."""


class LemminflectAnalyser(WordAnalyser):
    """Looks each word up, whatever its context."""

    @cached_property
    def _lookup(self) -> Any:
        try:
            return import_module("lemminflect").getAllLemmas
        except ModuleNotFoundError:
            raise UsageError(
                "extra-missing", "lemmas need the library lemminflect, which is not installed", EXTRA
            ) from None

    @property
    def engine(self) -> str:
        """lemminflect, with its version."""
        return f"lemminflect {metadata.version('lemminflect')}"

    def words(self, document: Document, forms: Sequence[str]) -> list[Word]:
        """Look up each form."""
        del document
        return [self._word(form) for form in forms]

    def head(self, words: Sequence[Word]) -> int:
        """A verb is the head of what follows it, and a noun of what precedes it up to a function word.

        `checked into`: checked. `on fire`: fire. `opened fire`: opened. `heart attack`: attack. `tour of duty`: tour.
        """
        first = next((at for at, word in enumerate(words) if not _is_function_word(word)), 0)
        if words[first].part == "verb":
            return first
        last = first
        while last + 1 < len(words) and not _is_function_word(words[last + 1]):
            last += 1
        return last

    @lru_cache(maxsize=1 << 17)  # noqa: B019 - the one analyser lives as long as the process
    def _word(self, form: str) -> Word:
        word = form.lower()
        lemmas: dict[str, tuple[str, ...]] = self._lookup(word)
        for part in ("VERB", "NOUN", "ADJ"):
            if part in lemmas:
                return Word(form, lemmas[part][0], _part(word, lemmas))
        return Word(form, word, "other")


def _part(word: str, lemmas: dict[str, tuple[str, ...]]) -> PartOfSpeech:
    """The part of speech of a word on its own: of what may be both, an inflected verb is a verb, else it is a noun."""
    if "VERB" in lemmas and ("NOUN" not in lemmas or lemmas["VERB"][0] != word):
        return "verb"
    return "noun" if "NOUN" in lemmas else "adjective"


def _is_function_word(word: Word) -> bool:
    return word.form.lower() in FUNCTION_WORDS or not any(map(str.isalnum, word.form))


ANALYSERS: Registry[WordAnalyser] = Registry(
    "karat.analysers",
    "analyser",
    own=lambda: named(lemminflect=LemminflectAnalyser()),
    accept=instance_of(WordAnalyser),
)
