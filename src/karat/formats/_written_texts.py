"""The texts of mentions in formats that repeat them beside their offsets."""

from karat.errors import Rule, quoted
from karat.model import Document
from karat.model.allowance import Allowance

TIMES = 100
ALWAYS = 1_000_000
TOO_LONG = Rule(
    "output-too-long", "fatal", "Correct spans that cover most of the text, or write jsonl, which has offsets only."
)


class WrittenTexts:
    """Counts the characters that are written for the mentions of a document, and refuses too many."""

    def __init__(self, document: Document) -> None:
        known = len(document.text or "") + sum(map(len, document.forms or ()))
        known += sum(len(mention.text or "") for mention in document.mentions)
        self._allowance = Allowance(known, times=TIMES, always=ALWAYS)
        self._document = document.id

    def add(self, text: str) -> str:
        """The text as it is written."""
        if self._allowance.is_exceeded_by(len(text)):
            most, known = self._allowance.most, self._allowance.known
            found = f"the texts of the mentions of document {quoted(self._document)} have more than {most:,} characters"
            raise TOO_LONG.error(f"{found}, each of which would be written out; the document has {known:,}")
        return text
