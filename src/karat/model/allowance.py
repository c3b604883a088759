"""How much may be taken out of a document, mention by mention.

Thousands of mentions may each cover most of a long text. If the text of each were written out or read word by word, the
work would grow with the square of the input. So it is limited to a multiple of what the document has; the mentions of
ordinary corpora need far less.
"""


class Allowance:
    """A multiple of what a document has, and a little more for a short one."""

    def __init__(self, known: int, *, times: int, always: int) -> None:
        """`known` is the number of characters or words of the document."""
        self.known = known
        self.most = times * known + always
        self._taken = 0

    def is_exceeded_by(self, more: int) -> bool:
        """Take some more; whether that is too much."""
        self._taken += more
        return self._taken > self.most
