"""The closed vocabularies of ACE 2005 as data: Tables 1 to 8 of the evaluation plan, and the lists of the APF DTD.

Every name is written as APF writes it. `tests/test_ace_tables.py` compares the tables with the text of the plan.
"""

from typing import Literal

ENTITIES = {
    "FAC": ("Airport", "Building-Grounds", "Path", "Plant", "Subarea-Facility"),
    "GPE": (
        *("Continent", "County-or-District", "GPE-Cluster", "Nation", "Population-Center", "Special"),
        "State-or-Province",
    ),
    "LOC": (
        *("Address", "Boundary", "Celestial", "Land-Region-Natural", "Region-General", "Region-International"),
        "Water-Body",
    ),
    "ORG": (
        *("Commercial", "Educational", "Entertainment", "Government", "Media", "Medical-Science"),
        *("Non-Governmental", "Religious", "Sports"),
    ),
    "PER": ("Group", "Indeterminate", "Individual"),
    "VEH": ("Air", "Land", "Subarea-Vehicle", "Underspecified", "Water"),
    "WEA": (
        *("Biological", "Blunt", "Chemical", "Exploding", "Nuclear", "Projectile", "Sharp", "Shooting"),
        "Underspecified",
    ),
}
"""Table 1: entity types with their subtypes."""

CLASSES = ("SPC", "GEN", "NEG", "USP")
"""Table 2: entity classes."""

MENTION_TYPES = ("NAM", "NOM", "PRO")
"""Table 3: types of entity mentions, the most valued first."""

VALUES: dict[str, tuple[str, ...]] = {
    "Contact-Info": ("E-Mail", "Phone-Number", "URL"),
    "Numeric": ("Money", "Percent"),
    "Crime": (),
    "Job-Title": (),
    "Sentence": (),
}
"""Table 4: value types with their subtypes; three have none."""

RELATIONS: dict[str, tuple[str, ...]] = {
    "ART": ("User-Owner-Inventor-Manufacturer",),
    "GEN-AFF": ("Citizen-Resident-Religion-Ethnicity", "Org-Location"),
    "METONYMY": (),
    "ORG-AFF": (
        *("Employment", "Founder", "Ownership", "Student-Alum", "Sports-Affiliation", "Investor-Shareholder"),
        "Membership",
    ),
    "PART-WHOLE": ("Artifact", "Geographical", "Subsidiary"),
    "PER-SOC": ("Business", "Family", "Lasting-Personal"),
    "PHYS": ("Located", "Near"),
}
"""Table 6: relation types with their subtypes; METONYMY has none."""

EVENTS = {
    "Life": ("Be-Born", "Marry", "Divorce", "Injure", "Die"),
    "Movement": ("Transport",),
    "Transaction": ("Transfer-Ownership", "Transfer-Money"),
    "Business": ("Start-Org", "Merge-Org", "Declare-Bankruptcy", "End-Org"),
    "Conflict": ("Attack", "Demonstrate"),
    "Contact": ("Meet", "Phone-Write"),
    "Personnel": ("Start-Position", "End-Position", "Nominate", "Elect"),
    "Justice": (
        *("Arrest-Jail", "Release-Parole", "Trial-Hearing", "Charge-Indict", "Sue", "Convict", "Sentence", "Fine"),
        *("Execute", "Extradite", "Acquit", "Appeal", "Pardon"),
    ),
}
"""Table 7: event types with their subtypes."""

Language = Literal["arabic", "chinese", "english"]

_ALL: tuple[Language, ...] = ("arabic", "chinese", "english")
SOURCES: dict[str, tuple[Language, ...]] = {
    "newswire": _ALL,
    "broadcast news": _ALL,
    "broadcast conversation": ("english",),
    "weblog": _ALL,
    "usenet": ("english",),
    "telephone": ("english",),
}
"""Table 8: the sources of each language's documents, as SOURCE names them."""
UNKNOWN_SOURCE = "unknown"
"""SOURCE of a document without a source: a file without the attribute is faulty."""

TIME_ROLES = tuple(
    f"Time-{name}" for name in ("Within", "Starting", "Ending", "Before", "After", "Holds", "At-Beginning", "At-End")
)
ENTITY_ROLES = ("Arg-1", "Arg-2")
"""Of a relation: each exactly once, and held by entities."""

RELATION_ROLES = (*ENTITY_ROLES, *TIME_ROLES)
EVENT_ROLES = (
    *("Adjudicator", "Agent", "Artifact", "Attacker", "Beneficiary", "Buyer", "Crime", "Defendant", "Destination"),
    *("Entity", "Giver", "Instrument", "Money", "Org", "Origin", "Person", "Place", "Plaintiff", "Position", "Price"),
    *("Prosecutor", "Recipient", "Seller", "Sentence", "Target", "Vehicle", "Victim"),
    *TIME_ROLES,
)

SCRIPTS: dict[Language, str] = {"arabic": "\u0600-\u06ff", "chinese": "\u4e00-\u9fff", "english": "A-Za-z"}
"""Letters that tell the languages of ACE apart."""

VERSIONS = {(5, 1, 2): "ACE 2007", (5, 2, 0): "ACE 2008"}
"""Versions of the DTD after that of ACE 2005, which is 5.1.1."""

LDC_TYPES = ("NAM", "NOM", "BAR", "PRO", "WHQ", "HLS", "PTV", "APP", "ARC", "EAP", "NAMPRE", "NOMPRE")
LATER_LDC_TYPES = ("NAMPOST", "NOMPOST")
"""Only since ACE 2007."""
LEXICAL_CONDITIONS = (
    *("Possessive", "Preposition", "PreMod", "Formulaic", "Verbal", "Participial", "Other", "Coordination"),
)
MODALITIES = ("Asserted", "Other")
TENSES = ("Past", "Present", "Future", "Unspecified")
POLARITIES = ("Positive", "Negative")
GENERICITIES = ("Generic", "Specific")
MENTION_ROLES = ("PER", "ORG", "LOC", "GPE")
BOOLEANS = ("TRUE", "FALSE")
YES = ("YES",)
LEVELS = ("SEN",)
TIMEX2_MODS = (
    *("BEFORE", "AFTER", "ON_OR_BEFORE", "ON_OR_AFTER", "LESS_THAN", "MORE_THAN", "EQUAL_OR_LESS", "EQUAL_OR_MORE"),
    *("START", "MID", "END", "APPROX"),
)
TIMEX2_DIRECTIONS = ("WITHIN", "STARTING", "ENDING", "AS_OF", "BEFORE", "AFTER")
