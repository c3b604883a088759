"""Pages that show commands with their output: whether the output is what karat prints."""

import re

ELISION = "..."


LISTINGS = ("karat formats", "karat measures", "karat protocols")
"""Commands that list plug-ins. A page with an elision shows some of them, and stays true when another one is added."""


def matches(page: str, printed: str, *, command: str = "") -> bool:
    """Whether a page shows what the command printed; a line `...` matches any lines.

    A listing with a line `...` may have rows that the page does not show, and these widen its columns. So where there
    is one, the widths of blanks do not matter.
    """
    lines = page.splitlines(keepends=True)
    if ELISION + "\n" not in lines:
        return page == printed
    if command in LISTINGS:
        lines = [part for line in lines for part in (line, ELISION + "\n")]
    pattern = "".join("(?:.*\n)*?" if line == ELISION + "\n" else re.escape(_narrow(line)) for line in lines)
    return re.fullmatch(pattern, _narrow(printed)) is not None


def _narrow(text: str) -> str:
    return re.sub(r" {2,}", "  ", text)
