"""What can be wrong with an APF document."""

from karat.errors import Rule

SHAPE = Rule("apf-shape", "fatal", "Compare the element with the APF 5.1.1 DTD and correct it.")
OFFSET = Rule(
    "apf-offset",
    "fatal",
    "Give START and END as numbers, START not after END. A box needs a whole PAGE and a positive WIDTH and HEIGHT.",
)
RELATION = Rule("apf-relation", "fatal", "Give a relation one Arg-1 and one Arg-2.")
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
ARGUMENT_TWICE = Rule("apf-argument-twice", "fault", "Give it once; it is scored once.")
EMPTY = Rule("apf-empty", "fault", "Check that the document has nothing to annotate; it is scored as it is.")
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
UNMARKED = Rule("apf-modality", "fault", "Give MODALITY and TENSE; the relation is scored without them.")
UNMARKED_METONYMY = Rule("apf-unmarked", "note", "Give MODALITY and TENSE if they are known.")
OUTSIDE = Rule("apf-outside", "note", "Ignore this if it is intended; it is scored like any other mention.")
ANCHOR = Rule("apf-anchor", "note", "Correct the anchor or the extent if one of them is wrong.")
SAME = Rule(
    "apf-same-entity", "note", "Correct one of the arguments if the relation is not between an entity and itself."
)
ODD_SOURCE = Rule("apf-source-odd", "note", "Ignore this if the source is right.")
BLANKS = Rule("apf-blanks", "note", "Remove the blanks; the value is read without them.")
ROUNDED = Rule("apf-rounded", "note", "No action needed; times are kept to the microsecond.")
