"""Validation of APF by its DTD: each finding has the line of the element it is about.

lxml says whether a document is valid, which nearly all are. Only in one that is not, elements are examined one by one,
to report each problem where it is. The reader then ignores what the DTD does not allow.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS, REGIONS, Shape, dtd
from karat.formats._sgm import Source
from karat.model import Boxes, Link, Mention, Region, Value
from karat.plugin import Context
from karat.problems import KaratError, Rule, quoted
from karat.regions import extension, is_nowhere, place, shared

SHAPE = Rule("apf-shape", "fatal", "Compare the element with the APF 5.1.1 DTD and correct it.")
OFFSET = Rule(
    "apf-offset",
    "fatal",
    "Give START and END as numbers, START not after END. A box needs a whole PAGE and a positive WIDTH and HEIGHT.",
)
RELATION = Rule("apf-relation", "fatal", "Give a relation one Arg-1 and one Arg-2.")
LATER = Rule("apf-later", "note", "No action needed; the file is read and scored by the rules of ACE 2005.")
NEGATIVE = Rule(
    "apf-negative", "fault", "Count from 0 at the start of the source or the page; offsets are scored as given."
)
UNKNOWN = Rule("apf-unknown", "fault", "Remove it, or write it as in the APF 5.1.1 DTD; it is ignored.")
ORDER = Rule("apf-order", "fault", "Write the elements in the order of the APF 5.1.1 DTD; they are read in any order.")
ID = Rule("apf-id", "fault", "Start an id with a letter; continue with letters, digits, dots, hyphens, underscores.")
VALUE = Rule("apf-value", "fault", "Use one of the listed values; the value is scored as given.")
SUBTYPE = Rule("apf-subtype", "fault", "Use a subtype of the type (evaluation plan, Tables 1, 4, 6 and 7).")
SEVERAL = Rule("apf-mentions", "fault", "Give each mention an element of its own; all of them are scored.")
NO_MENTION = Rule("apf-no-mention", "fault", "Give the relation a mention; only a METONYMY relation may lack one.")
HEAD = Rule("apf-head", "fault", "Correct the head or the extent; both are scored as given.")
TEXT = Rule("apf-text", "fault", "Correct the offsets or the text; offsets are scored as given.")
OVERLAP = Rule("apf-overlap", "fault", "Correct or remove one of the two mentions; both are scored.")
HOLDER = Rule("apf-role", "fault", "Correct the role or REFID; it is scored as given.")
MENTION_ROLE = Rule("apf-argument", "fault", "Correct the mention's argument, or the arguments of its element.")
ARGUMENT_EXTENT = Rule(
    "apf-argument-extent", "fault", "Correct REFID or the extent; the argument is scored where the mention is."
)
ARGUMENT_TWICE = Rule("apf-argument-twice", "fault", "Give it once; it is scored once.")
NO_ANNOTATION = Rule("apf-empty", "fault", "Check that the document has nothing to annotate; it is scored as it is.")
SOURCE = Rule("apf-source", "fault", "Give URI and SOURCE of the source file; scores by source need them.")
RESOURCE = Rule(
    "apf-resource",
    "fault",
    "Declare it in the source file before its documents, or correct the name; the link is kept.",
)
INVALID = Rule("apf-invalid", "fault", "Compare the document with the APF 5.1.1 DTD and correct it.")
COMMENT = Rule(
    "apf-comment", "fault", "Remove the comment; or, if the annotations should be scored, only its delimiters."
)
UNMARKED = Rule("apf-unmarked", "note", "Give MODALITY and TENSE if they are known; the relation is scored as it is.")
OUTSIDE = Rule("apf-outside", "note", "Ignore this if it is intended; it is scored like any other mention.")
ANCHOR = Rule("apf-anchor", "note", "Correct the anchor or the extent if one of them is wrong.")
SAME = Rule(
    "apf-same-entity", "note", "Correct one of the arguments if the relation is not between an entity and itself."
)
ODD_SOURCE = Rule("apf-source-odd", "note", "Ignore this if the source is right.")
BLANK_END = Rule(
    "apf-blank-end",
    "note",
    "Check that offsets count from 0 and that END of a charseq is its last character; they are scored as given.",
)
BLANKS = Rule("apf-blanks", "note", "Remove the blanks; the value is read without them.")
ROUNDED = Rule("apf-rounded", "note", "No action needed; times are kept to the microsecond.")


MOST = 10_000
"""Elements that lxml validates at once: with n that are not valid it takes time in n²."""
_LINE_END = re.compile(rb"\n(?<!>\n)")
"""The end of a line that does not end with a tag."""


class Validation:
    """Reports what is wrong with a source file and its documents, and where."""

    def __init__(self, data: bytes, line: int, file: str, context: Context) -> None:
        self._data = data
        self._first_line = line
        self._context = context
        self.file = file

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")

    def report(self, rule: Rule, element: Any, message: str) -> None:
        """Report a finding about an element."""
        self.report_at(rule, self.line(element), message)

    def report_at(self, rule: Rule, line: int | None, message: str) -> None:
        """Report a finding in a line of the file."""
        self._context.report(rule.at(message, file=self.file, line=line))

    def misplaced(self, error: KaratError) -> tuple[int, int]:
        """Report an impossible region of a system, and return a segment in its place; in gold, raise the error."""
        if not self._context.options.is_system:
            raise error
        return self._context.misplaced(error.finding, error.finding.message)

    def error(self, rule: Rule, element: Any, message: str) -> KaratError:
        """A fatal finding about an element, to be raised."""
        return rule.error(message, file=self.file, line=self.line(element))

    def malformed(self, element: Any, message: str) -> KaratError:
        """The error for an element that cannot be read, since it is not as the DTD has it."""
        return self.error(SHAPE, element, message)

    def line(self, element: Any) -> int:
        """The line of the file in which an element starts."""
        return self.lines([element])[0]

    def lines(self, elements: Iterable[Any]) -> list[int]:
        """The lines of the file in which elements start."""
        before = self._first_line - 1
        if self._has_long_tags:
            return [before + start_line(element, self._lines) for element in elements]
        return [before + element.sourceline for element in elements]

    @cached_property
    def _has_long_tags(self) -> bool:
        """Return whether a tag has several lines; otherwise, where it ends is where it starts."""
        ends = [end.start() for end in _LINE_END.finditer(self._data)]
        return any(self._data.rfind(b"<", 0, end) > self._data.rfind(b">", 0, end) for end in ends)

    def header(self, source_file: Any) -> Iterator[Any]:
        """The external resources of a source file; what is not as in the DTD around its documents is reported."""
        for child in self._allowed_children(source_file, ELEMENTS["source_file"]):
            if child.tag == "external_resource":
                self._examine(child)
                yield child

    def examine(self, document: Any) -> bool:
        """Return whether the document is valid; report children and attributes that are not as in the DTD."""
        is_valid = len(document) < MOST and bool(dtd().validate(document))
        if not is_valid:
            self._examine(document)
        return is_valid

    def _examine(self, element: Any) -> None:
        """Examine an element and all that is in it."""
        shape = ELEMENTS[element.tag]
        self._examine_attributes(element, shape)
        for child in self._allowed_children(element, shape):
            self._examine(child)

    def _allowed_children(self, element: Any, shape: Shape) -> Iterator[Any]:
        """The children that the DTD allows there; anything else is reported."""
        last, holds_text = 0, shape.content == "(#PCDATA)"
        if not holds_text and (text := element.text) and not text.isspace():
            self._report_text(element, text, int(element.sourceline))
        for child in element:
            rank = shape.children.get(child.tag)
            if rank is None:
                self.report(UNKNOWN, child, f"<{child.tag}> is not allowed in <{element.tag}>")
            else:
                if rank < last:
                    self.report(ORDER, child, f"<{child.tag}> comes too late in <{element.tag}>")
                last = rank
                yield child
            if not holds_text and (text := child.tail) and not text.isspace():
                self._report_text(element, text, last_line(child))

    def _report_text(self, element: Any, text: str, line: int) -> None:
        """Report text where only elements are allowed; it starts in that line."""
        line += self._first_line - 1 + text[: len(text) - len(text.lstrip())].count("\n")
        self.report_at(UNKNOWN, line, f"<{element.tag}> contains text: {quoted(text.strip())}")

    def _examine_attributes(self, element: Any, shape: Shape) -> None:
        """Report unknown attributes and values outside of closed lists; refuse an element that lacks one."""
        for name, value in element.items():
            if name not in shape.attributes:
                self.report(UNKNOWN, element, f"<{element.tag}> has an unknown attribute {quoted(name)}")
            elif not isinstance(values := shape.attributes[name], str) and value not in values:
                self._report_value(element, name, value, values)
        lacking = shape.required - {"ID", *element.keys()}
        if lacking:
            raise self.malformed(element, f"<{element.tag}> has no {min(lacking)}")

    def _report_value(self, element: Any, name: str, value: str, values: tuple[str, ...]) -> None:
        bare = value.strip()
        if bare in values:
            self.report(BLANKS, element, f"blanks around {quoted(bare)} in {name} of <{element.tag}>")
        else:
            message = f"<{element.tag}> has the {name} {quoted(value)}, which is not one of {', '.join(values)}"
            self.report(VALUE, element, message)


def start_line(element: Any, lines: Sequence[bytes]) -> int:
    """The line in which the tag of an element starts; lxml only knows where that tag ends."""
    line = int(element.sourceline or 1)
    tag = f"<{element.tag}".encode()
    while line > 1 and tag not in lines[line - 1]:
        line -= 1
    return line


def last_line(element: Any) -> int:
    """The line in which an element ends, counted as lxml counts."""
    line = int(element.sourceline)
    if not len(element):
        return line + (element.text or "").count("\n")
    return last_line(element[-1]) + (element[-1].tail or "").count("\n")


TAGS = {name: tag for tag, name in REGIONS.items()}
"""The elements of regions, by karat's names."""
HELD = {"time": "a time", "entity": "an entity", "value": "a value"}
"""Kinds of elements that can be arguments, as a message names them."""


def check_subtype(
    validation: Validation, element: Any, attributes: Mapping[str, Value], subtypes: Mapping[str, tuple[str, ...]]
) -> None:
    """The type is known, and the subtype is one of its subtypes."""
    type_, subtype = str(attributes["type"]), attributes.get("subtype")
    known = subtypes.get(type_)
    if known is None:
        message = f"<{element.tag}> has the TYPE {quoted(type_)}, which is not one of {', '.join(subtypes)}"
        validation.report(VALUE, element, message)
    elif subtype is None and known:
        validation.report(SUBTYPE, element, f"<{element.tag}> of TYPE {type_} has no SUBTYPE")
    elif subtype is not None and subtype not in known:
        message = f"<{element.tag}> has the SUBTYPE {quoted(str(subtype))}"
        validation.report(SUBTYPE, element, f"{message}, but {type_} has {', '.join(known) or 'none'}")


def check_relation(
    validation: Validation,
    element: Any,
    attributes: Mapping[str, Value],
    arguments: Sequence[tuple[str, str]],
    *,
    is_mentioned: bool,
) -> None:
    """Check that a relation has Arg-1 and Arg-2 once, MODALITY, TENSE and a mention; `arguments`: roles and targets."""
    id_, is_metonymy = element.get("ID"), attributes["type"] == "METONYMY"
    check_entity_roles(validation, element, f"relation {id_!r}", [role for role, _ in arguments])
    holders = {target for role, target in arguments if role in tables.ENTITY_ROLES}
    if len(holders) == 1:
        validation.report(SAME, element, f"relation {id_!r} has {quoted(str(*holders))} as Arg-1 and as Arg-2")
    if lacking := [name.upper() for name in ("modality", "tense") if name not in attributes]:
        validation.report(UNMARKED, element, f"relation {id_!r} has no {' and '.join(lacking)}")
    if not is_mentioned and not is_metonymy:
        validation.report(NO_MENTION, element, f"relation {id_!r} has no <relation_mention>")


def check_entity_roles(validation: Validation, element: Any, owner: str, roles: Sequence[str]) -> None:
    """A relation, or a mention of one, has Arg-1 and Arg-2 once."""
    for role in tables.ENTITY_ROLES:
        if roles.count(role) != 1:
            raise validation.error(RELATION, element, f"{owner} has {roles.count(role)} arguments {role}, not one")


def check_holder(validation: Validation, element: Any, link: Link, kind: str, *, of_relation: bool) -> None:
    """Times have time roles and no others; in a relation, entities have the other two roles."""
    if link.kind in tables.TIME_ROLES:
        allowed: tuple[str, ...] = ("time",)
    else:
        allowed = ("entity",) if of_relation else ("entity", "value")
    if kind not in allowed:
        expected = " or ".join(HELD[name] for name in allowed)
        validation.report(HOLDER, element, f"the {link.kind} of {link.source!r} is {HELD[kind]}, not {expected}")


def check_inside(
    validation: Validation, name: str, rule: Rule, mention: Any, regions: Mapping[str, Region | Boxes]
) -> None:
    """The head or anchor of a mention, as `name` says, is inside its extent."""
    inner, outer = regions[name], regions["extent"]
    if is_nowhere(inner) or is_nowhere(outer):
        return
    if inner and len(inner[0]) > 2:  # boxes
        if shared(inner, outer) < extension(inner) * (1 - 1e-9):
            message = f"the {name} of mention {mention.get('ID')!r} has boxes that its extent does not cover"
            validation.report(rule, mention.find(name), message)
    elif not (outer[0][0] <= inner[0][0] and inner[-1][1] <= outer[-1][1]):
        message = f"the {name} of mention {mention.get('ID')!r} is at {shown(inner)}"
        validation.report(rule, mention.find(name), f"{message}, not inside its extent at {shown(outer)}")


def check_argument(validation: Validation, element: Any, link: Link, mention: Mention) -> None:
    """The extent of a mention argument is the extent of the mention that it refers to, or its head."""
    assert link.extent is not None, "only an argument with an extent is checked"
    region = link.extent.boxes or link.extent.span
    if region not in (place(mention), place(mention, "head")) and not is_nowhere(region):
        message = f"the {link.kind} of mention {link.source!r} is {mention.id!r}, but its extent at {shown(region)}"
        validation.report(
            ARGUMENT_EXTENT, element, f"{message} is not that of {mention.id!r} at {shown(place(mention))}"
        )


def check_overlaps(validation: Validation, mentions: Sequence[Mention], elements: Sequence[Any]) -> None:
    """Heads or anchors of one element do not overlap; a general check reports the same span twice."""
    regions = sorted((mention.head or mention.span, i) for i, mention in enumerate(mentions))
    end, holder = regions[0][0][-1][1], regions[0][1]
    for region, number in regions[1:]:
        if region[0][0] < end and mentions[number].span != mentions[holder].span:
            pair = f"mentions {mentions[holder].id!r} and {mentions[number].id!r}"
            what = "heads" if mentions[number].head else "anchors"
            validation.report(OVERLAP, elements[number], f"{what} of {pair} of one element overlap")
        if region[-1][1] > end:
            end, holder = region[-1][1], number


def check_zones(
    validation: Validation, mentions: Sequence[Mention], source: Source, element_of: Callable[[str], Any]
) -> None:
    """Only the TEXT of a source is annotated; just one time may be in its DATETIME instead."""
    is_dated = "TEXT" not in source.zones
    for mention in mentions if "TEXT" in source.zones else ():
        begin, end = mention.span[0][0], mention.span[-1][1]
        extent = mention.extent or mention.span
        if is_nowhere(mention.span) or is_nowhere(extent):
            continue
        if source.holds("TEXT", begin, end) and source.holds("TEXT", extent[0][0], extent[-1][1]):
            continue
        if mention.kind == "time" and not is_dated and source.holds("DATETIME", begin, end):
            is_dated = True
        else:
            message = f"mention {mention.id!r} at {shown(mention.span)} is outside <TEXT>"
            validation.report(OUTSIDE, element_of(mention.id), message)


def check_blanks(
    validation: Validation, mentions: Sequence[Mention], text: str | None, element_of: Callable[[str], Any]
) -> None:
    """No region begins or ends with white space; without a source, a text of the right length tells."""
    for mention in mentions:
        span = "anchor" if mention.kind == "event" else "extent"
        for name in ("head", "extent", "scope", "span"):
            region: Region | None = getattr(mention, name)
            if region is None:
                continue
            begin, end = region[0][0], region[-1][1]
            if text is None:
                content = mention.text if name == "span" else mention.texts.get(name)
            else:
                content = text[begin:end] if begin >= 0 else None
            if content is not None and content != content.strip() and len(content) == end - begin:
                name = span if name == "span" else name
                side = "ends" if content == content.lstrip() else "begins"
                message = f"the {name} of mention {mention.id!r} at {shown(region)} {side} with white space"
                place = element_of(mention.id).find(TAGS[name])
                validation.report(BLANK_END, place, f"{message}: {quoted(content)}")


def check_language(
    validation: Validation, line: int, id_: str, source: str | None, mentions: Sequence[Mention]
) -> None:
    """A source of few languages (Table 8) is one of the language that most letters of the mentions are from."""
    languages = tables.SOURCES.get(source or "", tuple(tables.SCRIPTS))
    joined = "".join([mention.text or "" for mention in mentions])
    if len(languages) == len(tables.SCRIPTS) or joined.isascii():  # all sources are evaluated in English
        return
    letters = {name: len(re.findall(f"[{script}]", joined)) for name, script in tables.SCRIPTS.items()}
    language = max(letters, key=letters.__getitem__)
    if letters[language] and language not in languages:
        message = f"document {quoted(id_)} is in {language.capitalize()}, and its source is {source}"
        where = " and ".join(name.capitalize() for name in languages)
        validation.report_at(ODD_SOURCE, line, f"{message}, which was evaluated in {where} (Table 8)")


def shown(region: Region | Boxes) -> str:
    """From the beginning to the end of a region."""
    return f"{region[0][0]:,}-{region[-1][1]:,}"
