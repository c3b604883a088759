"""Strings of fillers, normalised as question answering does it (Rajpurkar et al. 2016)."""

import re
import string
from functools import lru_cache

from karat.errors import KaratError, Origin, Rule, quoted
from karat.model import Document, Mention
from karat.model.allowance import Allowance
from karat.model.arguments import Argument
from karat.model.texts import mention_text

TIMES, ALWAYS = 10, 1_000_000
"""Characters that are compared for each one of the document, and for a short one some more."""
TOO_LONG = Rule("argument-too-long", "fatal", "Correct arguments that cover most of the text.")

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """In lower case, without ASCII punctuation (deleted, not blanked), articles and needless white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


class FillerTexts:
    """The texts of what fills roles on one side of a document, as far as they are known; too many are refused."""

    def __init__(self, side: Origin, *documents: Document) -> None:
        """The first of the documents is that of the side, others may know its texts."""
        self._side, self._documents = side, documents
        known = len(documents[0].text or documents[-1].text or "")
        known += sum(len(mention.text or "") for mention in documents[0].mentions)
        self._allowance = Allowance(known, times=TIMES, always=ALWAYS)

    def of(self, mention: Mention) -> str | None:
        """The text of a mention."""
        text = mention_text(mention, *self._documents)
        if self._allowance.is_exceeded_by(len(text or "")):
            most, known = self._allowance.most, self._allowance.known
            found = f"the texts that fill roles in document {quoted(self._documents[0].id)} have more than {most:,}"
            message = f"{found} characters, the most that are compared; the document has {known:,}"
            raise KaratError(TOO_LONG.at(message, item=mention.id, origin=self._side))
        return text


def strings_of(argument: Argument, texts: FillerTexts) -> tuple[str, ...]:
    """The texts of what fills a role, as far as they are known: of one mention, or of all mentions of an entity."""
    known = [texts.of(mention) for mention in argument.mentions]
    return tuple([text for text in known if text is not None])
