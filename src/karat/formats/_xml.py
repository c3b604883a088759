"""Safe XML: nothing is fetched, no DTD is loaded, and a file that declares entities is refused.

lxml is imported when the first file is parsed, so that commands that read no XML start quickly.
"""

import re
from functools import cache
from typing import Any

from karat.model import Value
from karat.problems import KaratError, Report, Rule

BROKEN = Rule("xml-broken", "fatal", "Correct the file, or download it again if it is truncated.")
ENTITY = Rule(
    "xml-entity", "fatal", "Remove the <!ENTITY ...> declarations and write the characters themselves (or &#38; forms)."
)

_PROLOG = re.compile(rb"""<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|<!ENTITY\b|<[A-Za-z_:]""", re.DOTALL)
"""In front of the root, quotation marks stand only in a DOCTYPE; what they and instructions hold declares nothing."""


@cache
def _parser() -> Any:
    """One for all documents: a new one takes two thirds of the time that a small document takes."""
    from lxml import etree

    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )


class ElementReader:
    """Reads the elements of a file whose root has this tag; `shape` refuses what has another form."""

    def __init__(self, root: Any, tag: str, file: str, report: Report, shape: Rule) -> None:
        self.root, self.file, self.report, self._shape = root, file, report, shape
        if root.tag != tag:
            raise self.error(shape, root, f"found <{root.tag}>, expected <{tag}>")

    def needed(self, element: Any, name: str) -> str:
        """Return an attribute that an element must have."""
        value = element.get(name)
        if not value:
            raise self.error(self._shape, element, f"<{element.tag}> has no {name}")
        return str(value)

    def warn(self, rule: Rule, element: Any, message: str, found: str | None = None) -> None:
        """Report what is wrong with an element."""
        self.report(rule.at(message, file=self.file, line=element.sourceline, found=found))

    def error(self, rule: Rule, element: Any, message: str) -> KaratError:
        """The error for an element that cannot be read."""
        return rule.error(message, file=self.file, line=element.sourceline)


def other_attributes(element: Any, *known: str) -> dict[str, Value]:
    """The attributes of an element, by name, without these."""
    return {str(name): str(value) for name, value in element.attrib.items() if name not in known}


def root_of(data: bytes, *, file: str, line: int = 1) -> Any:
    """The root element of a document, without comments; its elements know their lines.

    `line` is the line of the file in which the data begin. Errors name lines of the file; elements count from 1.
    """
    from lxml import etree

    # Entities can fetch files, or expand a few bytes to gigabytes. They are refused before anything is parsed.
    for mark in _PROLOG.finditer(data):
        if mark[0] == b"<!ENTITY":
            place = line + data.count(b"\n", 0, mark.start())
            raise ENTITY.error("an entity is declared, which karat does not expand", file=file, line=place)
        if mark[0][:1] == b"<" and mark[0][1:2] not in b"!?":
            break  # the root element: what looks like a declaration after it is text
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        place = line + (error.lineno or 1) - 1
        raise BROKEN.error(f"this is not well-formed XML: {_reason(error.msg or '')}", file=file, line=place) from None
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise ENTITY.error("an entity is declared, which karat does not expand", file=file, line=line)
    for reference in root.iter(etree.Entity) if b"&" in data else ():
        message = f"the entity {reference.text} is used, but not declared"
        raise ENTITY.error(message, file=file, line=line + reference.sourceline - 1)
    return root


def _reason(message: str) -> str:
    """Say what the parser found, without its own words."""
    tags = re.search(r"tag mismatch: (\S+) line \d+ and ([^\s,]+)", message)
    if tags:
        return f"<{tags[1]}> is closed by </{tags[2]}>"
    reasons = {
        "empty": "the file is empty",
        "Premature end": "the file ends within an element",
        "Extra content": "there is content after the root element",
        "Start tag expected": "there is no element",
        "EntityRef": "an & is not part of a reference such as &amp;",
        "ttribute": "an attribute is broken, or given twice",
        "Char": "a character is not allowed, or not of the encoding",
        "ncoding": "a character is not allowed, or not of the encoding",
    }
    return next((reason for words, reason in reasons.items() if words in message), "a tag or reference is broken")
