"""Linguistic analysis of words for baselines: lemmas, parts of speech, heads, and on request frames and arguments."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from karat.model import Document, Mention

PartOfSpeech = Literal["noun", "verb", "adjective", "other"]


class Word(NamedTuple):
    """A token of a document, analysed."""

    form: str
    lemma: str
    part: PartOfSpeech


class WordAnalyser:
    """Analyses the words of documents. A package offers one through the entry-point group `karat.analysers`."""

    @property
    def engine(self) -> str:
        """The name and version of what does the work, for the output: `lemminflect 0.2.3`."""
        raise NotImplementedError

    def words(self, document: Document, forms: Sequence[str]) -> Sequence[Word]:
        """Each token of a document, analysed; `forms` are the tokens, in order."""
        raise NotImplementedError

    def head(self, words: Sequence[Word]) -> int:
        """Which of the words of a mention is its head."""
        raise NotImplementedError

    def frame(self, document: Document, mention: Mention) -> str | None:
        """The frame that an event mention evokes, if the analyser knows frames."""
        del document, mention
        return None

    def arguments(self, document: Document, mention: Mention) -> Sequence[str]:
        """The texts of an event mention's arguments, if the analyser finds arguments."""
        del document, mention
        return ()
