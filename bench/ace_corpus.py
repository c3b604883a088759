"""A synthetic corpus of the size and shape of ACE 2005 in APF, and a noisy system: seeded, so always the same bytes."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape, quoteattr

from karat.formats import _apf_tables as tables

WORDS = (
    *("after", "again", "also", "because", "between", "during", "early", "from", "later", "meanwhile", "near", "often"),
    *(
        "quickly",
        "reported",
        "since",
        "soon",
        "there",
        "through",
        "under",
        "while",
        "with",
        "yesterday",
        "slowly",
        "said",
    ),
)
NAMES = ("Adler", "Bergmann", "Castillo", "Dvorak", "Eriksen", "Fontaine", "Gulbis", "Haddad", "Ivanova", "Jansen")
NOUNS = ("president", "company", "city", "team", "river", "minister", "airport", "group", "truck", "rifle")
PRONOUNS = ("he", "she", "it", "they", "them", "his", "who")
ANCHORS = ("attacked", "died", "met", "bought", "elected", "arrested", "moved", "founded", "phoned", "war")
TIMES = ("Monday", "last week", "2003-05-15", "three days", "the spring of 2003")
AMOUNTS = ("five dollars", "30 percent", "ten years in prison", "murder", "spokesman", "info@karat.example")
WORDS_OF = {"NAM": NAMES, "NOM": NOUNS, "PRO": PRONOUNS}

Span = tuple[int, int]


@dataclass(frozen=True)
class Mention:
    """A mention: its extent, its head or anchor, and its arguments by role."""

    id: str
    extent: Span
    head: Span
    sentence: int
    type: str = ""
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Element:
    """An element: its tag, attributes and mentions, and its arguments by role."""

    id: str
    tag: str
    attributes: dict[str, str]
    mentions: tuple[Mention, ...]
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass
class Page:
    """The text of a document as it grows, and its annotations."""

    id: str
    source: str
    text: str = ""
    sentences: list[Span] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)

    def say(self, words: str) -> Span:
        """Add words to the text, and return their place."""
        begin = len(self.text)
        self.text += words
        return begin, len(self.text)


def write_apf(folder: Path, documents: int = 155) -> tuple[Path, Path, int]:
    """Folders of gold and of a system, and the number of gold entity mentions; the sources are in `ace-sources-N`.

    In proportion to 155 documents there are 6,000 entity mentions, 1,000 relations, 1,600 events, 1,100 times and 970
    values. The system misses and invents mentions, cuts heads, splits entities, confuses types and loses arguments.
    """
    random = Random(documents)
    places = folder / f"ace-gold-{documents}", folder / f"ace-system-{documents}"
    sources = folder / f"ace-sources-{documents}"
    for place in (*places, sources):
        place.mkdir(parents=True)
    mentions = 0
    for number in range(documents):
        sizes = {
            what: (number + 1) * whole // 155 - number * whole // 155
            for what, whole in {
                "mentions": 6000,
                "relations": 1000,
                "events": 1600,
                "times": 1100,
                "values": 970,
            }.items()
        }
        mentions += sizes["mentions"]
        page = _gold(random, number, sizes)
        system = replace(page, elements=_system(random, page))
        for place, side, name in ((places[0], page, "gold"), (places[1], system, "system")):
            (place / f"{page.id}.apf.xml").write_text(_apf(side, name), encoding="utf-8")
        (sources / f"{page.id}.sgm").write_text(_sgm(page), encoding="utf-8")
    return *places, mentions


def _gold(random: Random, number: int, sizes: dict[str, int]) -> Page:
    page = Page(f"ACE_ENG_{number:05}", random.choice(list(tables.SOURCES)))
    page.say(f"\n {page.id} \n\n")
    day = page.say(f"2003-0{1 + number % 9}-1{number % 10}")
    page.say("\n\n\n")
    said: dict[str, list[Mention]] = {"entity": [], "event": [], "time": [], "value": []}
    slots = [
        kind
        for kind, size in (("entity", "mentions"), ("event", "events"), ("time", "times"), ("value", "values"))
        for _ in range(sizes[size])
    ]
    random.shuffle(slots)
    begin = len(page.text)
    for count, kind in enumerate(slots):
        page.say(" ".join(random.choices(WORDS, k=random.randint(1, 4))) + " ")
        said[kind].append(_said(random, page, kind, f"{page.id}-{kind[0].upper()}{count}"))
        last = count == len(slots) - 1
        page.say(". " if last or random.random() < 0.15 else " ")
        if page.text.endswith(". "):
            page.sentences.append((begin, len(page.text) - 1))
            page.say("\n")
            begin = len(page.text)
    timex = Mention(f"{page.id}-T-1", day, day, -1)
    page.elements = [
        *_entities(random, page.id, said["entity"]),
        *(_value(random, page.id, count, mention) for count, mention in enumerate(said["value"])),
        *(_time(random, page.id, count, mention) for count, mention in enumerate([timex, *said["time"]])),
    ]
    owners = {mention.id: element for element in page.elements for mention in element.mentions}
    page.elements += _relations(random, page, owners, sizes["relations"])
    page.elements += _events(random, page, owners, said["event"])
    return page


def _said(random: Random, page: Page, kind: str, id_: str) -> Mention:
    """Write one mention into the text."""
    sentence = len(page.sentences)
    if kind != "entity":
        span = page.say(random.choice({"event": ANCHORS, "time": TIMES, "value": AMOUNTS}[kind]))
        return Mention(id_, span, span, sentence)
    type_ = random.choices(("NAM", "NOM", "PRO"), (4, 4, 2))[0]
    begin = len(page.text)
    if type_ == "NOM":
        page.say("the ")
    head = page.say(random.choice(WORDS_OF[type_]))
    return Mention(id_, (begin, head[1]), head, sentence, type_)


def _entities(random: Random, document: str, mentions: list[Mention]) -> list[Element]:
    """Entities with one or more mentions, three on average."""
    chains: list[list[Mention]] = []
    for mention in mentions:
        if chains and random.random() < 0.67:
            random.choice(chains).append(mention)
        else:
            chains.append([mention])
    return [
        Element(f"{document}-E-{count}", "entity", _entity(random), tuple(chain)) for count, chain in enumerate(chains)
    ]


def _entity(random: Random) -> dict[str, str]:
    type_, subtype = _typed(random, tables.ENTITIES)
    return {"TYPE": type_, "SUBTYPE": subtype, "CLASS": random.choices(tables.CLASSES, (8, 1, 1, 1))[0]}


def _typed(random: Random, table: dict[str, tuple[str, ...]]) -> tuple[str, str]:
    type_ = random.choice(list(table))
    return type_, random.choice(table[type_] or ("",))


def _value(random: Random, document: str, count: int, mention: Mention) -> Element:
    type_, subtype = _typed(random, tables.VALUES)
    return Element(f"{document}-V-{count}", "value", {"TYPE": type_, "SUBTYPE": subtype}, (mention,))


def _time(random: Random, document: str, count: int, mention: Mention) -> Element:
    attributes = {"VAL": f"2003-0{random.randint(1, 9)}"}
    if random.random() < 0.2:
        attributes["MOD"] = random.choice(tables.TIMEX2_MODS)
    if random.random() < 0.2:
        attributes |= {"ANCHOR_VAL": "2003-05-15", "ANCHOR_DIR": random.choice(tables.TIMEX2_DIRECTIONS)}
    if random.random() < 0.1:
        attributes["SET"] = "YES"
    return Element(f"{document}-X-{count}", "timex2", attributes, (mention,))


def _relations(random: Random, page: Page, owners: dict[str, Element], size: int) -> list[Element]:
    entities = [mention for id_, element in owners.items() if element.tag == "entity" for mention in _own(element, id_)]
    found = []
    for count in range(size):
        first = random.choice(entities)
        others = [m for m in entities if owners[m.id] is not owners[first.id]] or entities
        second = min(others, key=lambda mention: (abs(mention.sentence - first.sentence), random.random()))
        type_, subtype = _typed(random, tables.RELATIONS)
        attributes = {"TYPE": type_, "SUBTYPE": subtype, "MODALITY": "Asserted", "TENSE": random.choice(tables.TENSES)}
        ends = sorted((first.sentence, second.sentence))
        extent = page.sentences[ends[0]][0], page.sentences[ends[1]][1]
        named = (("Arg-1", first.id), ("Arg-2", second.id))
        mention = Mention(f"{page.id}-RM-{count}", extent, extent, first.sentence, arguments=named)
        arguments = tuple((role, owners[id_].id) for role, id_ in named)
        found.append(Element(f"{page.id}-R-{count}", "relation", attributes, (mention,), arguments))
    return found


def _own(element: Element, id_: str) -> list[Mention]:
    return [mention for mention in element.mentions if mention.id == id_]


def _events(random: Random, page: Page, owners: dict[str, Element], anchors: list[Mention]) -> list[Element]:
    """Events with one mention, sometimes two, and arguments in the same sentence."""
    near: dict[int, list[str]] = {}
    for id_, element in owners.items():
        for mention in _own(element, id_):
            near.setdefault(mention.sentence, []).append(id_)
    found: list[Element] = []
    for count, anchor in enumerate(anchors):
        named = set()
        for id_ in near.get(anchor.sentence, []):
            if random.random() < 0.35:
                named.add((_role(random, owners[id_].tag), id_))
        mention = replace(anchor, extent=page.sentences[anchor.sentence], arguments=tuple(sorted(named)))
        arguments = dict.fromkeys((role, owners[id_].id) for role, id_ in mention.arguments)
        if found and random.random() < 0.1:
            before = found[-1]
            arguments = dict.fromkeys(before.arguments) | arguments
            found[-1] = replace(before, mentions=(*before.mentions, mention), arguments=tuple(arguments))
        else:
            found.append(
                Element(f"{page.id}-EV-{count}", "event", _event(random), (mention,), arguments=tuple(arguments))
            )
    return found


def _role(random: Random, tag: str) -> str:
    return random.choice(tables.TIME_ROLES if tag == "timex2" else tables.EVENT_ROLES[: -len(tables.TIME_ROLES)])


def _event(random: Random) -> dict[str, str]:
    type_, subtype = _typed(random, tables.EVENTS)
    return {
        "TYPE": type_,
        "SUBTYPE": subtype,
        "MODALITY": random.choices(tables.MODALITIES, (4, 1))[0],
        "POLARITY": random.choices(tables.POLARITIES, (9, 1))[0],
        "GENERICITY": random.choices(tables.GENERICITIES, (1, 4))[0],
        "TENSE": random.choice(tables.TENSES),
    }


def _system(random: Random, page: Page) -> list[Element]:
    """The output of a system: new ids, and errors of every kind."""
    kept: list[Element] = []
    for element in page.elements:
        if element.tag in ("relation", "event") or random.random() < 0.07:
            continue
        mentions = [_cut(random, mention) for mention in element.mentions if random.random() > 0.1]
        parts = [mentions[::2], mentions[1::2]] if len(mentions) > 2 and random.random() < 0.15 else [mentions]
        for count, part in enumerate(parts):
            if part:
                attributes = _confused(random, element)
                kept.append(replace(element, id=f"{element.id}-{count}", mentions=tuple(part), attributes=attributes))
    owners = {mention.id: element for element in kept for mention in element.mentions}
    events = [element for element in page.elements if element.tag in ("relation", "event")]
    made = [_argued(random, element, owners) for element in events if random.random() > 0.2]
    return [_renamed(element) for element in (*kept, *(element for element in made if element is not None))]


def _cut(random: Random, mention: Mention) -> Mention:
    """Sometimes a head without its first characters, or another type."""
    head, type_ = mention.head, mention.type
    if random.random() < 0.06 and head[1] - head[0] > 3:
        head = head[0] + random.randint(1, 2), head[1]
    if type_ and random.random() < 0.05:
        type_ = random.choice(tables.MENTION_TYPES)
    extent = mention.extent if type_ else head
    return replace(mention, head=head, extent=extent, type=type_)


def _confused(random: Random, element: Element) -> dict[str, str]:
    if random.random() > 0.12:
        return element.attributes
    if element.tag == "entity":
        return _entity(random)
    if element.tag == "value":
        return _value(random, "", 0, element.mentions[0]).attributes
    return {**element.attributes, "VAL": "2004"}


def _argued(random: Random, element: Element, owners: dict[str, Element]) -> Element | None:
    """A relation or event with the arguments that the system found; None for a relation without both arguments."""
    mentions = tuple(
        replace(
            mention,
            arguments=tuple(
                (role, id_)
                for role, id_ in mention.arguments
                if id_ in owners and (element.tag == "relation" or random.random() > 0.15)
            ),
        )
        for mention in element.mentions
    )
    arguments = dict.fromkeys((role, owners[id_].id) for mention in mentions for role, id_ in mention.arguments)
    if element.tag == "relation" and len(mentions[0].arguments) < 2:
        return None
    attributes = element.attributes
    if random.random() < 0.1:
        type_, subtype = _typed(random, tables.EVENTS if element.tag == "event" else tables.RELATIONS)
        attributes = {**attributes, "TYPE": type_, "SUBTYPE": subtype}
    return replace(element, mentions=mentions, arguments=tuple(arguments), attributes=attributes)


def _renamed(element: Element) -> Element:
    mentions = tuple(
        replace(mention, id=f"S-{mention.id}", arguments=tuple((role, f"S-{id_}") for role, id_ in mention.arguments))
        for mention in element.mentions
    )
    arguments = tuple((role, f"S-{id_}") for role, id_ in element.arguments)
    return replace(element, id=f"S-{element.id}", mentions=mentions, arguments=arguments)


def _apf(page: Page, author: str) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">',
        f'<source_file URI="{page.id}.sgm" SOURCE="{page.source}" TYPE="text" AUTHOR="{author}" ENCODING="UTF-8">',
        f'<document DOCID="{page.id}">',
    ]
    for element in page.elements:
        lines += _element_lines(page.text, element)
    return "\n".join([*lines, "</document>", "</source_file>", ""])


def _element_lines(text: str, element: Element) -> list[str]:
    tag = element.tag
    lines = [f'<{tag} ID="{element.id}"{_attributes(element.attributes)}>']
    lines += [f'  <{tag}_argument REFID="{id_}" ROLE="{role}"/>' for role, id_ in element.arguments]
    for mention in element.mentions:
        type_ = f' TYPE="{mention.type}"' if mention.type else ""
        lines += [
            f'  <{tag}_mention ID="{mention.id}"{type_}>',
            f"    <extent>{_charseq(text, mention.extent)}</extent>",
        ]
        if tag in ("entity", "event"):
            inner = "head" if tag == "entity" else "anchor"
            lines.append(f"    <{inner}>{_charseq(text, mention.head)}</{inner}>")
        for role, id_ in mention.arguments:
            lines.append(f'    <{tag}_mention_argument REFID="{id_}" ROLE="{role}"/>')
        lines.append(f"  </{tag}_mention>")
    names = [mention for mention in element.mentions if mention.type == "NAM"]
    if names:
        lines.append("  <entity_attributes>")
        for mention in names:
            name = text[slice(*mention.head)]
            lines.append(f"    <name NAME={quoteattr(name)}>{_charseq(text, mention.head)}</name>")
        lines.append("  </entity_attributes>")
    return [*lines, f"</{tag}>"]


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items() if value)


def _charseq(text: str, span: Span) -> str:
    return f'<charseq START="{span[0]}" END="{span[1] - 1}">{escape(text[slice(*span)])}</charseq>'


def _sgm(page: Page) -> str:
    """The text with the tags of a source file, which do not count as characters."""
    _, id_, _, day, _, _, rest = page.text.split("\n", 6)
    return f"<DOC>\n<DOCID>{id_}</DOCID>\n\n<DATETIME>{day}</DATETIME>\n<BODY>\n<TEXT>\n{rest}</TEXT></BODY></DOC>"
