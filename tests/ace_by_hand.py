"""Appendix A of the ACE 2005 evaluation plan once more, as slowly and plainly as can be: fractions, and every mapping.

Written from the plan's text and its readings (docs/ace-values.md), not from the program, to be compared with it.
`Plan(...)` values one unit: a document of both sides, or all documents of a corpus together.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import prod
from random import Random
from typing import Any

from karat.model import Cluster, Document, Link, Mention, Value

F = Fraction
M = {"NAM": F(1), "NOM": F(1, 2), "PRO": F(1, 10)}
TERN = {
    "type": F(1, 10),
    "anchor_dir": F(1, 4),
    "anchor_val": F(1, 2),
    "mod": F(1, 10),
    "set": F(1, 10),
    "val": F(1),
}
W_ERR = {
    "entity": {"type": F(1, 2), "class": F(3, 4), "subtype": F(9, 10)},
    "value": {"type": F(1, 2), "subtype": F(9, 10)},
    "relation": {"type": F(1), "subtype": F(7, 10), "modality": F(3, 4), "tense": F(1)},
    "event": {
        "type": F(1, 2),
        "subtype": F(9, 10),
        "modality": F(3, 4),
        "genericity": F(1),
        "polarity": F(1),
        "tense": F(1),
    },
}
W_A_FA = {"relation": F(0), "event": F(1, 2)}
SYMMETRIC = ("PER-SOC", "PHYS", "METONYMY")
MAIN = ("Arg-1", "Arg-2")
Argument = tuple[str, str, str]
"""Role, kind and id."""


@dataclass
class Token:
    """An element of one side, in all documents of the unit."""

    id: str
    kind: str
    attributes: dict[str, Any]
    mentions: dict[str, list[Mention]] = field(default_factory=dict)
    documents: list[str] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    parent: str = ""
    heads: list[tuple[int, int]] = field(default_factory=list)

    @property
    def level(self) -> Fraction:
        return max(M[str(m.attributes["type"])] for ms in self.mentions.values() for m in ms)


Side = dict[tuple[str, str], Token]
"""Tokens by kind and id."""


@dataclass
class Row:
    """A reference with what it is mapped to, or what is mapped to nothing: what it is worth, and what it costs."""

    gold: Token | None
    system: Token | None
    worth: Fraction
    cost: Fraction
    own: Fraction
    """The cost of a false alarm by itself."""
    wrong_arguments: int = 0

    @property
    def outcome(self) -> str:
        if self.gold is None or self.system is None:
            return "false_alarm" if self.gold is None else "miss"
        ours, theirs = [dict(token.attributes) for token in (self.gold, self.system)]
        if self.gold.kind == "entity":
            ours["level"], theirs["level"] = self.gold.level, self.system.level
        return "correct" if ours == theirs and not self.wrong_arguments else "error"


def tokens(documents: Iterable[Document]) -> Side:
    """The elements of a side."""
    side: Side = {}
    for document in documents:
        for cluster in document.clusters:
            key = cluster.kind, cluster.id
            token = side.setdefault(key, Token(cluster.id, cluster.kind, dict(cluster.attributes)))
            token.documents.append(document.id)
        for mention in document.mentions:
            side[mention.kind, str(mention.cluster)].mentions.setdefault(document.id, []).append(mention)
        kinds = {cluster.id: cluster.kind for cluster in document.clusters}
        for link in document.links:
            if link.source in kinds:
                argument = link.kind, kinds[link.target], link.target
                token = side[kinds[link.source], link.source]
                if argument not in token.arguments:
                    token.arguments.append(argument)
    return side


def promoted(documents: Iterable[Document], *, arguments: bool) -> Side:
    """Every mention a token; arguments are promoted, too, or are mentions of whole elements (sections 3.2.6 to 8).

    A mention is one argument in a role, however often it is repeated; two mentions of one element are two.
    """
    side: Side = {}
    for document in documents:
        attributes = {cluster.id: cluster.attributes for cluster in document.clusters}
        mentions = {mention.id: mention for mention in document.mentions}
        for mention in document.mentions:
            token = Token(mention.id, mention.kind, dict(attributes[str(mention.cluster)]))
            token.mentions, token.documents, token.parent = (
                {document.id: [mention]},
                [document.id],
                str(mention.cluster),
            )
            side[mention.kind, mention.id] = token
        for role, source, mention_id in dict.fromkeys((link.kind, link.source, link.target) for link in document.links):
            if source in mentions:
                token, target = side[mentions[source].kind, source], mentions[mention_id]
                token.arguments.append((role, target.kind, target.id if arguments else str(target.cluster)))
                if role in MAIN:
                    token.heads.append((target.head or target.span)[0])
    return side


def mappings(edges: list[tuple[Any, Any]]) -> Iterator[tuple[tuple[Any, Any], ...]]:
    """Every one-to-one mapping there is, the empty one first."""
    for size in range(len(edges) + 1):
        for chosen in combinations(edges, size):
            if len({a for a, _ in chosen}) == len({b for _, b in chosen}) == size:
                yield chosen


def common(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def text_match(one: str, other: str) -> Fraction:
    if one == other:
        return F(1)
    runs = {one[i:j] for i in range(len(one)) for j in range(i + 1, len(one) + 1)}
    return F(max([len(run) for run in runs if run in other], default=0), max(len(one), len(other)))


class Plan:
    """The values of one unit under the plan."""

    def __init__(
        self,
        gold: list[Document],
        system: list[Document],
        *,
        weighting: str = "level",
        mapping: str = "arguments",
        relation_arguments: str = "both",
        argument_scoring: str = "overlapping",
        averaging: str = "arithmetic",
        parameters: str = "DEFAULT",
    ) -> None:
        self.documents = gold, system
        self.weighting, self.mapping = weighting, mapping
        self.relation_arguments, self.argument_scoring = relation_arguments, argument_scoring
        self.averaging = averaging
        self.min_text_match = F(3, 10) if parameters == "DEFAULT" else F(0)
        self.tern = {"type": F(1, 2)} if parameters == "2005-TERN" else TERN
        self.gold, self.system = tokens(gold), tokens(system)
        self.is_tied = False
        """True if another mapping of elements would be as good."""

    # Mentions.

    def corresponds(self, kind: str, ours: Mention, theirs: Mention) -> bool:
        one, other = [(m.head or m.span)[0] if kind == "entity" else m.span[0] for m in (ours, theirs)]
        if F(common(one, other), max(one[1] - one[0], other[1] - other[0])) < F(3, 10):
            return False
        return kind != "entity" or text_match(ours.texts["head"], theirs.texts["head"]) >= self.min_text_match

    def mmv(self, kind: str, ours: Mention, theirs: Mention) -> Fraction:
        if kind != "entity":
            return F(1)
        value = min(M[str(m.attributes["type"])] for m in (ours, theirs))
        styles = [m.attributes.get("metonymy_mention") == "TRUE" for m in (ours, theirs)]
        roles = [m.attributes.get("role") for m in (ours, theirs)]
        errors = [ours.attributes["type"] != theirs.attributes["type"], styles[0] != styles[1]]
        errors.append(None not in roles and roles[0] != roles[1])
        return value * F(9, 10) ** sum(errors)

    def unmapped(self, kind: str, document: str, theirs: Mention) -> Fraction:
        """MMV of a mention that is mapped to nothing; nothing if it lies on any reference mention of the kind."""
        there = [m for d in self.documents[0] if d.id == document for m in d.mentions if m.kind == kind]
        if any(self.corresponds(kind, ours, theirs) for ours in there):
            return F(0)
        return -F(3, 4) * self.own_mmv(kind, theirs)

    def own_mmv(self, kind: str, mention: Mention) -> Fraction:
        return M[str(mention.attributes["type"])] if kind == "entity" else F(1)

    # Elements: EDR, VAL, TERN, EMD.

    def inherent(self, token: Token) -> Fraction:
        if token.kind == "entity":
            return F(token.attributes.get("class") == "SPC")
        if token.kind == "time":
            return sum((w for name, w in self.tern.items() if name == "type" or name in token.attributes), F(0))
        return F(1)

    def element_value(self, ours: Token, theirs: Token) -> Fraction:
        if ours.kind == "time":
            return sum(
                (
                    weight
                    for name, weight in self.tern.items()
                    if name == "type"
                    or (name in ours.attributes and ours.attributes[name] == theirs.attributes.get(name))
                ),
                F(0),
            )
        wrong = [w for n, w in W_ERR[ours.kind].items() if ours.attributes.get(n) != theirs.attributes.get(n)]
        return min(self.inherent(ours), self.inherent(theirs)) * prod(wrong, start=F(1))

    def is_leveled(self, kind: str) -> bool:
        return kind == "entity" and self.weighting == "level"

    def own(self, token: Token, document: str) -> Fraction:
        """Value_doc(token, token)."""
        if document not in token.mentions:
            return F(0)
        if self.is_leveled(token.kind):
            return self.inherent(token) * token.level
        return self.inherent(token) * sum(self.own_mmv(token.kind, m) for m in token.mentions[document])

    def alarm(self, token: Token) -> Fraction:
        """The value of an unmapped token."""
        total = F(0)
        for document, mentions in token.mentions.items():
            value = sum((self.unmapped(token.kind, document, m) for m in mentions), F(0))
            if self.is_leveled(token.kind):
                value *= token.level / sum(self.own_mmv(token.kind, m) for m in mentions)
            total += value
        return F(3, 4) * self.inherent(token) * total

    def mappable(self, ours: Token, theirs: Token) -> bool:
        return any(
            self.corresponds(ours.kind, m, n)
            for document, mentions in ours.mentions.items()
            for m in mentions
            for n in theirs.mentions.get(document, ())
        )

    def value(self, ours: Token, theirs: Token, document: str) -> Fraction:
        """Value_doc(sys, ref), of two that are mappable."""
        golds, systems = ours.mentions.get(document, []), theirs.mentions.get(document, [])
        if not systems:
            return F(0)
        kind = ours.kind
        edges = [(i, j) for i, m in enumerate(golds) for j, n in enumerate(systems) if self.corresponds(kind, m, n)]
        free = [self.unmapped(kind, document, n) for n in systems]
        best = max(
            sum((self.mmv(kind, golds[i], systems[j]) - free[j] for i, j in chosen), sum(free, F(0)))
            for chosen in mappings(edges)
        )
        if self.is_leveled(kind):
            of = sum(self.own_mmv(kind, m) for m in golds or systems)
            best *= min(ours.level, theirs.level) / of
        return self.element_value(ours, theirs) * best

    def whole(self, ours: Token, theirs: Token) -> Fraction:
        return sum((self.value(ours, theirs, document) for document in theirs.documents), F(0))

    def best(self, gains: dict[tuple[int, int], Fraction]) -> list[tuple[tuple[int, int], ...]]:
        """The mappings (ref, sys) that gain most; of several, those with the most pairs."""
        found = {chosen: sum((gains[edge] for edge in chosen), F(0)) for chosen in mappings(list(gains))}
        best = [chosen for chosen, gain in found.items() if gain == max(found.values())]
        return [chosen for chosen in best if len(chosen) == len(best[-1])]

    def rows(
        self,
        golds: list[Token],
        systems: list[Token],
        values: dict[tuple[int, int], Fraction],
        worths: list[Fraction],
        alarms: list[Fraction],
        owns: list[Fraction],
    ) -> list[Row]:
        """References with what they are mapped to, and what is mapped to nothing."""
        best = self.best({edge: value - alarms[edge[1]] for edge, value in values.items()})
        self.is_tied |= len(best) > 1
        partner = dict(best[-1])
        found = []
        for i, ours in enumerate(golds):
            theirs = systems[partner[i]] if i in partner else None
            value = values[i, partner[i]] if i in partner else F(0)
            found.append(Row(ours, theirs, worths[i], worths[i] - value, worths[i]))
        taken = set(partner.values())
        return found + [
            Row(None, theirs, F(0), -alarms[j], owns[j]) for j, theirs in enumerate(systems) if j not in taken
        ]

    def detected(self, gold: Side, system: Side, kind: str) -> list[Row]:
        """Entities, values or times, or promoted mentions of them."""
        golds = [token for token in gold.values() if token.kind == kind]
        systems = [token for token in system.values() if token.kind == kind]
        values = {
            (i, j): self.whole(ours, theirs)
            for i, ours in enumerate(golds)
            for j, theirs in enumerate(systems)
            if self.mappable(ours, theirs)
        }
        worths, owns = [
            [sum((self.own(token, document) for document in token.documents), F(0)) for token in side]
            for side in (golds, systems)
        ]
        return self.rows(golds, systems, values, worths, [self.alarm(token) for token in systems], owns)

    # Relations and events: RDR, VDR, RMD, VMD.

    def argued(self, system: Side, kind: str, *, is_promoted: bool) -> list[Row]:
        """Relations or events; arguments of the reference are whole, those of the system as `system` has them."""
        one: Callable[[Fraction], Fraction] = (lambda v: F(v != 0)) if is_promoted else (lambda v: v)
        gold = self.gold
        mapped = {
            (row.gold.id, row.system.id)
            for k in ("entity", "value", "time")
            for row in self.detected(self.gold, self.system, k)
            if row.gold and row.system
        }

        def worth(side: Side, token: Token) -> list[Fraction]:
            return [
                sum((one(self.own(side[argument[1:]], document)) for document in token.documents), F(0))
                for argument in token.arguments
            ]

        def arguments_value(worths: list[Fraction]) -> Fraction:
            if self.averaging == "geometric":
                return prod(worths, start=F(1)) if worths else F(0)
            return sum(worths, F(0))

        side = promoted(self.documents[0], arguments=False) if is_promoted else self.gold
        golds = [token for token in side.values() if token.kind == kind]
        systems = [token for token in system.values() if token.kind == kind]
        values = {}
        corresponding: dict[tuple[str, str], list[Any]] = {}
        for i, ours in enumerate(golds):
            for j, theirs in enumerate(systems):
                overlap = sum(
                    common(self._extent(m), self._extent(n))
                    for document, mentions in ours.mentions.items()
                    for m in mentions
                    for n in theirs.mentions.get(document, ())
                )
                if is_promoted and not self._in_place(kind, ours, theirs, overlap):
                    continue
                edges: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
                for a, (role, k, element) in enumerate(ours.arguments):
                    for b, (their_role, their_k, their_element) in enumerate(theirs.arguments):
                        if k != their_k or not self.mappable(gold[k, element], system[k, their_element]):
                            continue
                        parent = system[k, their_element].parent or their_element
                        if self.argument_scoring == "mapped" and (element, parent) not in mapped:
                            continue
                        weight = F(1) if role == their_role else F(3, 4)
                        if kind == "relation" and (role in MAIN or their_role in MAIN):
                            if not (role in MAIN and their_role in MAIN):
                                continue
                            if role != their_role and ours.attributes.get("type") not in SYMMETRIC:
                                continue
                            weight = F(1)
                        value = sum(
                            (
                                one(self.value(gold[k, element], system[k, their_element], document))
                                for document in theirs.documents
                            ),
                            F(0),
                        )
                        edges[a, b] = value, weight
                options = list(mappings(list(edges)))
                if not self._allowed(kind, ours, theirs, options, overlap):
                    continue
                selves = worth(system, theirs)
                scores = {}
                for chosen in options:
                    if self.averaging == "geometric":
                        parts = [max(edges[edge][0], F(0)) * edges[edge][1] for edge in chosen]
                        scores[chosen] = prod(parts, start=F(1)) if len(parts) == len(selves) else F(0)
                    else:
                        right = sum((edges[edge][0] * edges[edge][1] for edge in chosen), F(0))
                        lost = sum(selves, F(0)) - sum((edges[edge][0] for edge in chosen), F(0))
                        scores[chosen] = right - W_A_FA[kind] * lost
                most = max(scores.values())
                values[i, j] = self.element_value(ours, theirs) * most
                best = [chosen for chosen, score in scores.items() if score == most]
                corresponding[ours.id, theirs.id] = [chosen for chosen in best if len(chosen) == len(best[-1])]
        worths = [arguments_value(worth(gold, token)) for token in golds]
        owns = [arguments_value(worth(system, token)) for token in systems]
        alarms = [-F(3, 4) * W_A_FA[kind] * own for own in owns]
        rows = self.rows(golds, systems, values, worths, alarms, owns)
        for row in rows:
            if row.gold and row.system:
                best = corresponding[row.gold.id, row.system.id]
                self.is_tied |= len(best) > 1
                found = [
                    (row.gold.arguments[a][2], row.system.arguments[b][2]) in mapped or is_promoted for a, b in best[-1]
                ]
                row.wrong_arguments = len(row.gold.arguments) - sum(found)
        return rows

    def _extent(self, mention: Mention) -> tuple[int, int]:
        return (mention.extent or mention.span)[0]

    def _in_place(self, kind: str, ours: Token, theirs: Token, overlap: int) -> bool:
        if kind == "event":
            return overlap > 0
        hulls = [(min(a for a, _ in t.heads), max(b for _, b in t.heads)) for t in (ours, theirs)]
        return common(*hulls) > 0

    def _allowed(self, kind: str, ours: Token, theirs: Token, options: list[Any], overlap: int) -> bool:
        """Tables 15, 17 and 18: whether some one-to-one mapping of arguments meets the conditions."""
        some = len(options) > 1
        every = any(len(chosen) == len(ours.arguments) for chosen in options)
        if kind == "relation" and self.relation_arguments != "0":
            least = 2 if self.relation_arguments == "both" else 1
            main = max(sum(theirs.arguments[b][0] in MAIN for _, b in chosen) for chosen in options)
            if main < least:
                return False
        return {
            "arguments": some,
            "extents": overlap > 0,
            "both": some and overlap > 0,
            "either": some or overlap > 0,
            "all": every and (some or overlap > 0),
            "all+extents": every and overlap > 0,
        }[self.mapping]

    # Tasks.

    def task(self, name: str) -> list[Row]:
        """The references and false alarms of a task."""
        if name in ("edr", "val", "tern"):
            return self.detected(self.gold, self.system, {"edr": "entity", "val": "value", "tern": "time"}[name])
        singles = [promoted(side, arguments=True) for side in self.documents]
        if name == "emd":
            return self.detected(singles[0], singles[1], "entity")
        kind = "relation" if name[0] == "r" else "event"
        is_promoted = name in ("rmd", "vmd")
        return self.argued(singles[1] if is_promoted else self.system, kind, is_promoted=is_promoted)


# Corpora at random.

SUBTYPES = {
    "PER-SOC": "Family",
    "PHYS": "Near",
    "ORG-AFF": "Founder",
    "ART": "User-Owner-Inventor-Manufacturer",
}


def some_corpus(random: Random, side: str, names: list[str], *, shared: bool) -> list[Document]:
    """Documents with a few elements that overlap a lot; if `shared`, elements may be in several documents."""
    catalogue: dict[str, tuple[str, dict[str, Value], list[tuple[str, str]]]] = {}
    found = []
    for name in names:
        prefix = side if shared else f"{side}{name}"
        mentions: list[Mention] = []
        clusters: dict[str, Cluster] = {}
        links: list[Link] = []
        for kind, most in (("entity", 3), ("value", 1), ("time", 2)):
            for number in range(random.randint(0, most)):
                id_ = f"{prefix}-{kind}{number}"
                attributes = catalogue.setdefault(id_, (kind, _attributes(random, kind), []))[1]
                clusters[id_] = Cluster(id_, kind, attributes)
                for part in range(random.randint(1, 2) if kind == "entity" or random.random() < 0.2 else 1):
                    mentions.append(_mention(random, f"{side}{name}-{kind}{number}-{part}", kind, id_))
        holders = {mention.id: mention for mention in mentions}
        for kind, most in (("relation", 2), ("event", 2)):
            for number in range(random.randint(0, most) if holders else 0):
                id_ = f"{prefix}-{kind}{number}"
                attributes = catalogue.setdefault(id_, (kind, _attributes(random, kind), []))[1]
                clusters[id_] = Cluster(id_, kind, attributes)
                for part in range(random.choice((1, 1, 2)) if kind == "event" else 1):
                    begin = random.randint(0, 12)
                    mention = f"{side}{name}-{kind}{number}-{part}"
                    mentions.append(Mention(mention, ((begin, begin + 5),), kind=kind, cluster=id_))
                    for role in _roles(random, kind):
                        target = random.choice([*holders.values()])
                        links += [Link(role, mention, target.id)] * random.choice((1, 1, 1, 2))
                        links.append(Link(role, id_, str(target.cluster)))
        links = _with_one_of_each(links)
        found.append(Document(name, mentions=tuple(mentions), clusters=tuple(clusters.values()), links=tuple(links)))
    return found


def _with_one_of_each(links: list[Link]) -> list[Link]:
    """A relation has one Arg-1 and one Arg-2, the first of each."""
    taken: dict[tuple[str, str], str] = {}
    return [
        link
        for link in links
        if link.kind not in MAIN or taken.setdefault((link.kind, link.source), link.target) == link.target
    ]


def _roles(random: Random, kind: str) -> list[str]:
    if kind == "relation":
        return [*MAIN, *random.choices(["Time-Within", "Time-Before"], k=random.choice((0, 0, 1)))]
    return random.choices(["Agent", "Place", "Time-Within"], k=random.randint(0, 3))


def _attributes(random: Random, kind: str) -> dict[str, Value]:
    pick = random.choice
    if kind == "entity":
        return {"type": pick(["PER", "ORG"]), "subtype": pick(["x", "y"]), "class": pick(["SPC", "SPC", "SPC", "GEN"])}
    if kind == "value":
        return {"type": "Crime"} if pick([0, 1]) else {"type": "Numeric", "subtype": pick(["Money", "Percent"])}
    if kind == "time":
        values = {
            "val": ["2003", "2004"],
            "mod": ["END"],
            "set": ["YES"],
            "anchor_val": ["1", "2"],
            "anchor_dir": ["AFTER"],
        }
        return {name: pick(of) for name, of in values.items() if pick([0, 1])}
    modality: dict[str, Value] = {"modality": pick(["Asserted", "Other"])} if pick([0, 1, 1]) else {}
    if kind == "relation":
        type_ = pick([*SUBTYPES])
        return {"type": type_, "subtype": pick([SUBTYPES[type_], "z"]), "tense": pick(["Past", "Future"]), **modality}
    return {"type": pick(["Life", "Conflict"]), "subtype": pick(["Die", "Attack"]), "polarity": pick("+-"), **modality}


def _mention(random: Random, id_: str, kind: str, cluster: str) -> Mention:
    begin, length = random.randint(0, 14), random.randint(1, 6)
    span = ((begin, begin + length),)
    if kind != "entity":
        return Mention(id_, span, kind=kind, cluster=cluster)
    attributes: dict[str, Value] = {"type": random.choice(["NAM", "NOM", "PRO"])}
    if random.random() < 0.4:
        attributes["role"] = random.choice(["PER", "GPE"])
    if random.random() < 0.2:
        attributes["metonymy_mention"] = "TRUE"
    wide = ((begin, begin + length + random.randint(0, 3)),)
    text = "".join(random.choices("ab中", weights=(6, 1, 1), k=length))
    return Mention(id_, wide, span, kind="entity", cluster=cluster, attributes=attributes, texts={"head": text})
