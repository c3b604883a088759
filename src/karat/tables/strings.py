"""Strings of fillers, normalised as question answering does it (Rajpurkar et al. 2016)."""

import re
import string
from functools import lru_cache

from karat.model import Document
from karat.model.arguments import Argument
from karat.model.texts import mention_text

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """In lower case, without ASCII punctuation (deleted, not blanked), articles and needless white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


def strings_of(argument: Argument, *documents: Document) -> tuple[str, ...]:
    """The texts of what fills a role, as far as they are known: of one mention, or of all mentions of an entity."""
    texts = [mention_text(mention, *documents) for mention in argument.mentions]
    return tuple([text for text in texts if text is not None])
