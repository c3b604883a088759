"""Documents with their words analysed: lemmas, event mentions with heads, and sentences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from importlib import import_module, metadata
from operator import itemgetter
from typing import Any, NamedTuple

from karat.corpus.fingerprint import Fingerprint
from karat.corpus.interface import Corpus, Progress
from karat.model import Document, Mention, cluster_keys
from karat.plugin import PartOfSpeech, Word, WordAnalyser
from karat.problems import Rule, UsageError, install_hint, placed, quoted
from karat.registry import Registry, instance_of, named

FUNCTION_WORDS = frozenset(
    (
        *("a", "about", "along", "an", "are", "around", "at", "away", "back", "be", "been", "being", "by", "down"),
        *("for", "forward", "from", "her", "herself", "himself", "his", "in", "into", "is", "it", "its", "of", "off"),
        *("on", "out", "over", "the", "their", "through", "to", "under", "up", "was", "were", "with"),
    )
)
"""Words that are not heads: prepositions, particles, articles, pronouns, forms of be."""


class LemminflectAnalyser(WordAnalyser):
    """Looks each word up, whatever its context."""

    @cached_property
    def _lookup(self) -> Any:
        try:
            return import_module("lemminflect").getAllLemmas
        except ModuleNotFoundError:
            message = "lemmas need the library lemminflect, which is not installed"
            raise UsageError("extra-missing", message, install_hint("baselines")) from None

    @property
    def engine(self) -> str:
        """lemminflect, with its version."""
        return f"lemminflect {metadata.version('lemminflect')}"

    def words(self, document: Document, forms: Sequence[str]) -> list[Word]:
        """Look up each form."""
        del document
        return [self._word(form) for form in forms]

    def head(self, words: Sequence[Word]) -> int:
        """Find the head: a verb is the head of what follows it, and a noun of what precedes it up to a function word.

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
    """Part of speech of a word on its own: of what may be both, an inflected verb is a verb, else it is a noun."""
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


NO_WORDS = Rule("baseline-words", "fatal", "Use a corpus with texts or tokens, or whose mentions have their texts.")
NO_EVENTS = Rule("baseline-events", "fatal", "Use a corpus with mentions of kind event.")

AROUND = 10
"""Words on both sides that stand for a sentence where sentences are not known."""

Place = Callable[[Mention], tuple[int, ...]]
"""The places of a mention's words among the words of its document."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


class EventMention(NamedTuple):
    """An event mention: the places of its words, and which of these is its head."""

    mention: Mention
    places: tuple[int, ...]
    head: int


class Text(NamedTuple):
    """A document with its words analysed."""

    document: Document
    words: Sequence[Word]
    mentions: tuple[EventMention, ...]
    """Its event mentions."""
    others: tuple[tuple[int, ...], ...]
    """The places of all other mentions."""
    has_context: bool
    """True if the words are those of the document, and not just of its event mentions."""

    def lemma(self, mention: EventMention) -> str:
        """Return the lemma of a mention's head."""
        return self.words[mention.head].lemma

    def sentence_number(self, place: int) -> int:
        """Return the index of a sentence; where sentences are not known, there is one for every 20 words."""
        known = bisect_right(self.document.sentences, place, key=itemgetter(0)) - 1
        return known if self.document.sentences else place // (2 * AROUND)

    def sentence(self, place: int) -> range:
        """Return the places of the sentence around a place."""
        sentences = self.document.sentences
        if not self.has_context:
            return range(place, place + 1)
        if not sentences:
            return range(max(0, place - AROUND), min(len(self.words), place + AROUND + 1))
        index = max(self.sentence_number(place), 0)
        end = sentences[index + 1][0] if index + 1 < len(sentences) else len(self.words)
        return range(sentences[index][0], end)


def gold_clusters(texts: Iterable[Text]) -> list[Hashable]:
    """Return the cluster of each event mention in gold."""
    clusters: list[Hashable] = []
    for text in texts:
        ids = (mention.id for mention in text.document.mentions)
        by_id = dict(zip(ids, cluster_keys(text.document), strict=True))
        clusters += [by_id[event.mention.id] for event in text.mentions]
    return clusters


def fingerprint(texts: Iterable[Text]) -> str:
    """Return the fingerprint of the documents that were analysed."""
    made = Fingerprint()
    for text in texts:
        made.add(text.document)
    return str(made)


def texts_of(corpus: Corpus, analyser: WordAnalyser, progress: Progress | None = None) -> list[Text]:
    """Analyse the documents of a corpus, in the order of their ids."""
    texts = []
    total = len(corpus.ids())
    for document in corpus:
        with placed(partial(corpus.where, document.id)):
            texts.append(analysed(document, analyser))
        if progress is not None:
            progress(len(texts), total)
    if not any(text.mentions for text in texts):
        raise NO_EVENTS.error("the corpus has no event mention", file=corpus.name)
    return sorted(texts, key=lambda text: text.document.id)


def analysed(document: Document, analyser: WordAnalyser) -> Text:
    forms, places_of = _words(document)
    words = analyser.words(document, forms)
    mentions: list[EventMention] = []
    others: list[tuple[int, ...]] = []
    for mention in document.mentions:
        places = places_of(mention)
        if mention.kind != "event":
            others.append(places)
        elif not places:
            message = f"there is no word at mention {quoted(mention.id)} of document {quoted(document.id)}"
            raise NO_WORDS.error(message)
        else:
            head = analyser.head([words[place] for place in places])
            mentions.append(EventMention(mention, places, places[head]))
    has_context = (document.unit == "token" and document.forms is not None) or document.text is not None
    return Text(document, words, tuple(mentions), tuple(others), has_context)


def _words(document: Document) -> tuple[Sequence[str], Place]:
    """Return the words of a document, or else of its mentions, and a function that finds a mention among them."""
    if document.unit == "token" and document.forms is not None:
        count = len(document.forms)
        return document.forms, lambda mention: _of_tokens(mention, count)
    if document.text is not None:
        tokens = document.tokens or tuple(match.span() for match in _TOKEN.finditer(document.text))
        forms = [document.text[begin:end] for begin, end in tokens]
        if document.unit == "token":
            return forms, lambda mention: _of_tokens(mention, len(forms))
        return forms, lambda mention: _of_characters(mention, tokens)
    words: list[str] = []
    places: dict[str, tuple[int, ...]] = {}
    for mention in document.mentions:
        begin = len(words)
        words += _TOKEN.findall(mention.text or "")
        places[mention.id] = tuple(range(begin, len(words)))
    return words, lambda mention: places[mention.id]


def _of_tokens(mention: Mention, count: int) -> tuple[int, ...]:
    return tuple(place for begin, end in mention.span for place in range(begin, min(end, count)))


def _of_characters(mention: Mention, tokens: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the places of the tokens that a span overlaps."""
    places: dict[int, None] = {}
    for begin, end in mention.span:
        first = bisect_right(tokens, begin, key=lambda token: token[1])
        last = bisect_left(tokens, end, key=lambda token: token[0])
        places.update(dict.fromkeys(range(first, last)))
    return tuple(places)
