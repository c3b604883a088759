"""What can be wrong with an APF document, and how it is told: with the line of the element that has it."""

from collections.abc import Iterator
from typing import Any

from karat.errors import KaratError, Report, Rule, quoted
from karat.formats._apf_dtd import Element

SHAPE = Rule("apf-shape", "fatal", "Compare the element with the APF 5.1.1 DTD and correct it.")
OFFSET = Rule(
    "apf-offset",
    "fatal",
    "Give START and END in numbers, START not after END; boxes a whole PAGE, a WIDTH and a HEIGHT.",
)
RELATION = Rule("apf-relation", "fatal", "Give a relation one Arg-1 and one Arg-2.")
NEGATIVE = Rule(
    "apf-negative", "fault", "Count from 0, where the source, or the page, begins; offsets are scored as given."
)
UNKNOWN = Rule("apf-unknown", "fault", "Remove it, or write it as the APF 5.1.1 DTD has it; it is not read.")
ORDER = Rule("apf-order", "fault", "Write the elements in the order of the APF 5.1.1 DTD; they are read all the same.")
ID = Rule("apf-id", "fault", "Begin an id with a letter, and go on with letters, digits, dots, hyphens, underscores.")
VALUE = Rule("apf-value", "fault", "Write one of the listed values; the value is scored as it is written.")
SUBTYPE = Rule("apf-subtype", "fault", "Write a subtype of the type (evaluation plan, Tables 1, 4, 6 and 7).")
SEVERAL = Rule("apf-mentions", "fault", "Give each mention an element of its own; all of them are scored.")
NO_MENTION = Rule("apf-no-mention", "fault", "Give the relation a mention; only a METONYMY relation may lack one.")
HEAD = Rule("apf-head", "fault", "Correct the head or the extent; both are scored as given.")
OVERLAP = Rule("apf-overlap", "fault", "Correct or remove one of the two mentions; both are scored.")
HOLDER = Rule("apf-role", "fault", "Correct the role or REFID; it is scored as given.")
MENTION_ROLE = Rule("apf-argument", "fault", "Correct the mention's argument, or the arguments of its element.")
ARGUMENT_TWICE = Rule("apf-argument-twice", "fault", "Give it once; it is scored once.")
EMPTY = Rule("apf-empty", "fault", "Check that the document has nothing to annotate; it is scored as it is.")
SOURCE = Rule("apf-source", "fault", "Give URI and SOURCE of the source file; scores by source need it.")
RESOURCE = Rule(
    "apf-resource",
    "fault",
    "Declare it in the source file, before its documents, or correct the name; the link is kept.",
)
INVALID = Rule("apf-invalid", "fault", "Compare the document with the APF 5.1.1 DTD and correct it.")
COMMENT = Rule("apf-comment", "fault", "Remove the comment; or, if the annotations count, only its marks.")
OUTSIDE = Rule("apf-outside", "note", "Nothing to do if it should be annotated; it is scored as the others are.")
ANCHOR = Rule("apf-anchor", "note", "Correct the anchor or the extent if one of them is wrong.")
SAME = Rule(
    "apf-same-entity", "note", "Correct one of the arguments if the relation is not between an entity and itself."
)
UNMARKED = Rule("apf-unmarked", "note", "Give MODALITY and TENSE if they are known.")
ODD_SOURCE = Rule("apf-source-odd", "note", "Nothing to do if the source is right.")
BLANKS = Rule("apf-blanks", "note", "Remove the blanks; the value is read without them.")
ROUNDED = Rule("apf-rounded", "note", "Nothing to do; times are kept to the microsecond.")


class Page:
    """A document of a file: where it begins, and where findings go."""

    def __init__(self, line: int, file: str, report: Report) -> None:
        self.line, self.file, self.report = line, file, report
        self.told = 0
        """How much was found."""

    def tell(self, rule: Rule, element: Any, message: str) -> None:
        """Report what an element has."""
        self.told += 1
        self.report(rule.at(message, file=self.file, line=self._line_of(element)))

    def error(self, rule: Rule, element: Any, message: str) -> KaratError:
        """What an element has, as an error to raise."""
        return rule.error(message, file=self.file, line=self._line_of(element))

    def broken(self, element: Any, message: str) -> KaratError:
        """An element that is not as the DTD has it, and cannot be read."""
        return self.error(SHAPE, element, message)

    def children(self, element: Any, shape: Element) -> Iterator[Any]:
        """The children that may stand there; what else does is told and passed over."""
        last = 0
        if (text := element.text) and not text.isspace():
            self.tell(UNKNOWN, element, f"text stands in <{element.tag}>: {quoted(text.strip())}")
        for child in element:
            rank = shape.children.get(child.tag)
            if rank is None:
                self.tell(UNKNOWN, child, f"<{child.tag}> stands in <{element.tag}>, where it is not known")
            else:
                if rank < last:
                    self.tell(ORDER, child, f"<{child.tag}> stands too late in <{element.tag}>")
                last = rank
                yield child
            if (text := child.tail) and not text.isspace():
                self.tell(UNKNOWN, child, f"text stands in <{element.tag}>: {quoted(text.strip())}")

    def _line_of(self, element: Any) -> int:
        return self.line + int(element.sourceline or 1) - 1
