"""RDR, VDR, RMD and VMD: values of relations and events, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Arguments_Value(token)

Values of arguments come from the tables of entities, values and times, summed over the documents that mention the
relation or event; in document-level processing there is one.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from karat.model.regions import extension
from karat.plugin import Tables
from karat.tables.ace.detection import DetectionTable, DetectionValues, ElementValues, summed
from karat.tables.ace.element_mapping import ElementIds, element_mapping
from karat.tables.ace.elements import WholeElements, extent
from karat.tables.ace.groups import Groups, attributes_key, by_first, first_equals, only_first
from karat.tables.ace.mapping import IndexPair, optimal
from karat.tables.ace.mentions import MOST_PAIRS, are_many, common_extensions, is_crowded, refuse_many
from karat.tables.ace.plan import Plan
from karat.tables.ace.promotion import PromotedRelations
from karat.tables.ace.records import (
    Argument,
    ArgumentPair,
    Element,
    Location,
    RelationCandidate,
    RelationPair,
    RelationToken,
    differing,
)


class RecognitionValues(ElementValues["RecognitionTable"]):
    """the values of relations, or of events."""

    def __init__(
        self,
        kind: str,
        elements: WholeElements | PromotedRelations,
        arguments: Mapping[str, DetectionValues],
        whole: Mapping[str, DetectionValues] | None = None,
    ) -> None:
        self.kind = kind
        self.reading: Plan = arguments["entity"].reading
        self.parameters = self.reading.recognition[kind]
        self.elements = elements
        self.arguments = arguments
        """Where the values of arguments come from, by kind."""
        self.whole = whole or {}
        """Where arguments are promoted mentions: the values of the elements that they mention."""

    def make(self, tables: Tables) -> "RecognitionTable":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        document = DocumentRelations(tables.pair.gold.id, gold.get(self.kind, []), system.get(self.kind, []))
        arguments, whole = (
            {kind: tables.get(values) for kind, values in source.items()} for source in (self.arguments, self.whole)
        )
        return RecognitionTable([document], arguments, whole, self)

    def add(self, tables: "Sequence[RecognitionTable]") -> "RecognitionTable":
        """Documents put together, with the values of their arguments."""
        documents = [document for table in tables for document in table.documents]
        arguments = {
            kind: values.add([table.arguments[kind] for table in tables]) for kind, values in self.arguments.items()
        }
        whole = {kind: values.add([table.whole[kind] for table in tables]) for kind, values in self.whole.items()}
        return RecognitionTable(documents, arguments, whole, self)


class DocumentRelations(Struct, frozen=True, gc=False):
    """The relations or events of both sides of one document."""

    document: str
    gold: list[Element]
    system: list[Element]


class RecognitionTable:
    """Values of pairs and of tokens alone, and the mapping between them."""

    def __init__(
        self,
        documents: list[DocumentRelations],
        arguments: Mapping[str, DetectionTable],
        whole: Mapping[str, DetectionTable],
        want: RecognitionValues,
    ) -> None:
        self.documents = documents
        self.arguments = arguments
        self.whole = whole
        self.want = want
        self.compared = tuple(want.parameters.W_err)
        self.is_promoted = bool(whole)
        gold_values = {kind: table.gold_values for kind, table in arguments.items()}
        system_values = {kind: table.system_values for kind, table in arguments.items()}
        self.gold = self._tokens([(one.document, one.gold) for one in documents], gold_values)
        self.system = self._tokens([(one.document, one.system) for one in documents], system_values)

    def _tokens(
        self,
        documents: Sequence[tuple[str, list[Element]]],
        values: Mapping[str, Mapping[str, Mapping[str, float]]],
    ) -> dict[str, RelationToken]:
        """The tokens of one side by id, over all documents that mention them."""
        reading = self.want.reading
        same: dict[str, list[tuple[str, Element]]] = {}
        for document, elements in documents:
            for element in elements:
                same.setdefault(element.id, []).append((document, element))
        alone = {document: (document,) for document, _ in documents}
        tokens = {}
        for id_, parts in same.items():
            document, element = parts[0]
            names: Sequence[str] = alone[document]
            arguments = element.arguments
            if len(parts) > 1:
                names = [document for document, _ in parts]
                arguments = list(dict.fromkeys([argument for _, part in parts for argument in part.arguments]))
            own = [self.argument_value(values[one.kind], one.element, names) for one in arguments]
            mentions = sum([len(part.mentions) for _, part in parts])
            value = element.inherent * reading.own_arguments_value(own, mentions)
            tokens[id_] = RelationToken(element, names, arguments, own, fsum(own), value)
        return tokens

    def argument_value(
        self, values: Mapping[str, Mapping[Any, float]], ids: str | ElementIds, documents: Sequence[str]
    ) -> float:
        """Value(arg, arg) of an argument, or Value(arg_sys, arg_ref) of two, over documents."""
        if len(documents) > 1:
            return fsum([self.argument_value(values, ids, (document,)) for document in documents])
        value = values[documents[0]].get(ids, 0.0)
        return self.want.reading.promoted_argument_value(value) if self.is_promoted else value

    @cached_property
    def unmapped(self) -> dict[str, float]:
        """The value of each unmapped system token, never positive."""
        value = self.want.reading.unmapped_relation_value
        return {id_: value(self.want.parameters, token.value) for id_, token in self.system.items()}

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference."""
        return {id_: token.value for id_, token in self.gold.items()}

    @cached_property
    def first_equals(self) -> tuple[dict[str, str], dict[str, str]]:
        """For tokens of gold, and of the system, that equal an earlier one: the first that they equal.

        Equal tokens are looked for if documents are too crowded to value each pair.
        """
        if not self._is_crowded():
            return {}, {}
        golds, systems = list(self.gold), list(self.system)
        gold_firsts = first_equals(self._key(token, 0) for token in self.gold.values())
        system_firsts = first_equals(self._key(token, 1) for token in self.system.values())
        return (
            {id_: golds[first] for id_, first in zip(golds, gold_firsts, strict=True) if golds[first] != id_},
            {id_: systems[first] for id_, first in zip(systems, system_firsts, strict=True) if systems[first] != id_},
        )

    def valued_pair(self, gold: str, system: str) -> ElementIds:
        """The tokens under which `pairs` has the value of a pair: the first equal ones."""
        return self.first_equals[0].get(gold, gold), self.first_equals[1].get(system, system)

    def _is_crowded(self) -> bool:
        """Whether arguments are in groups, or there are many pairs of arguments, or of overlapping extents."""
        if any(any(table.first_equals) for table in self.arguments.values()):
            return True
        arguments = [sum([len(token.arguments) for token in side.values()]) for side in (self.gold, self.system)]
        documents = len(self.documents)
        if are_many(arguments[0] * arguments[1] // documents) and are_many(self._argument_pair_count() // documents):
            return True
        return any(is_crowded(*_extents(document)) for document in self.documents if _may_be_crowded(document))

    def _argument_pair_count(self) -> int:
        """How many pairs of arguments there are whose elements correspond."""
        golds, systems = (
            Counter((one.kind, one.element) for token in side.values() for one in token.arguments)
            for side in (self.gold, self.system)
        )
        return sum(
            count * sum([golds[kind, partner] for partner in self.arguments[kind].partners.get(element, ())])
            for (kind, element), count in systems.items()
        )

    def _key(self, token: RelationToken, side: int) -> Hashable:
        """What the formulas read of a token; one of several documents equals no other."""
        element = token.element
        if len(token.documents) > 1:
            return element.id
        arguments = token.arguments
        if self.want.reading.options.argument_scoring != "mapped":
            firsts = {kind: table.first_equals[side] for kind, table in self.arguments.items()}
            arguments = [replace(one, element=firsts[one.kind].get(one.element, one.element)) for one in arguments]
        extents = tuple(map(extent, element.mentions))
        return (
            token.documents[0],
            attributes_key(element.attributes),
            tuple(arguments),
            tuple(token.own_values),
            extents,
            element.heads,
        )

    @cached_property
    def overlaps(self) -> dict[ElementIds, float]:
        """How much mention extents overlap under their best mapping, for tokens (gold, system) with any overlap."""
        return summed(self._overlaps(document) for document in self.documents)

    def _overlaps(self, document: DocumentRelations) -> dict[ElementIds, float]:
        """The same in one document."""
        golds, systems = (
            [
                (element.id, extent(mention))
                for element in side
                if element.id not in later
                for mention in element.mentions
            ]
            for side, later in zip((document.gold, document.system), self.first_equals, strict=True)
        )
        regions = [region for _, region in golds], [region for _, region in systems]
        groups: Groups | None = None
        if is_crowded(*regions):  # mentions of one token in one place are equal
            groups = Groups(by_first(first_equals(golds)), by_first(first_equals(systems)))
            regions = only_first(regions[0], groups.rows), only_first(regions[1], groups.columns)
        gold_sizes, system_sizes = (list(map(extension, side)) for side in regions)
        shares: dict[ElementIds, dict[IndexPair, float]] = {}
        for (s, g), length in common_extensions(*regions, document.document).items():
            share = length / max(gold_sizes[g], system_sizes[s])
            shares.setdefault((golds[g][0], systems[s][0]), {})[g, s] = share
        return {ids: _mapped_share(share_of, groups) for ids, share_of in shares.items()}

    @cached_property
    def pairs(self) -> dict[ElementIds, RelationPair]:
        """Each two tokens (gold, system) that have a basis for correspondence."""
        mappable = {}
        for (gold, system), values in self._candidates().items():
            pair = self._pair(self.gold[gold], self.system[system], values, self.overlaps.get((gold, system), 0.0))
            if pair is not None:
                mappable[gold, system] = pair
        return mappable

    def _candidates(self) -> dict[ElementIds, dict[IndexPair, float]]:
        """Tokens with overlapping extents, or with arguments (system, gold) whose elements correspond; their values."""
        later_golds, later_systems = self.first_equals
        first_golds, first_systems = (
            {kind: table.first_equals[side] for kind, table in self.arguments.items()} for side in (0, 1)
        )
        holders: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for id_, token in self.gold.items():
            if id_ not in later_golds:
                for j, one in enumerate(token.arguments):
                    first = first_golds[one.kind].get(one.element, one.element)
                    holders.setdefault((one.kind, first), []).append((id_, j))
        candidates: dict[ElementIds, dict[IndexPair, float]] = {ids: {} for ids in self.overlaps}
        count, most = 0, MOST_PAIRS * len(self.documents)
        for id_, token in self.system.items():
            if id_ in later_systems:
                continue
            for i, one in enumerate(token.arguments):
                table = self.arguments[one.kind]
                first = first_systems[one.kind].get(one.element, one.element)
                for partner in table.partners.get(first, ()):
                    held = holders.get((one.kind, partner))
                    if held is None:
                        continue
                    count += len(held)
                    if count > most:
                        refuse_many(token.documents[0], count // len(self.documents))
                    value = self.argument_value(table.by_document, (partner, first), token.documents)
                    for holder, j in held:
                        candidates.setdefault((holder, id_), {})[i, j] = value
        return candidates

    def _pair(
        self, gold: RelationToken, system: RelationToken, values: Mapping[IndexPair, float], overlap: float
    ) -> RelationPair | None:
        """Value(token) = Element_Value(sys) · Arguments_Value(sys), if there is a basis for correspondence."""
        reading = self.want.reading
        if self.is_promoted and not reading.is_in_place(gold.element, system.element, overlap):
            return None
        pair = RelationCandidate(gold, system, self._argument_pairs(gold, system, values), overlap)
        mapped = reading.argument_mapping(pair)
        if mapped is None:
            return None
        arguments_value = reading.promoted_arguments_value if self.is_promoted else reading.arguments_value
        value = reading.relation_element_value(pair, mapped) * arguments_value(pair, mapped)
        return RelationPair(value, {j: i for i, j in mapped})

    def _argument_pairs(
        self, gold: RelationToken, system: RelationToken, values: Mapping[IndexPair, float]
    ) -> dict[IndexPair, ArgumentPair]:
        """Arguments (system, gold) that may correspond, of those whose elements do (Tables 16 and 19).

        With the option `mapped` they must be mapped to each other.
        """
        reading = self.want.reading
        must_be_mapped = reading.options.argument_scoring == "mapped"
        pairs = {}
        for (i, j), value in values.items():
            if must_be_mapped and not self._are_mapped(gold.arguments[j], system.arguments[i]):
                continue
            pair = reading.argument_pair(gold, system, (i, j), value)
            if pair is not None:
                pairs[i, j] = pair
        return pairs

    def _are_mapped(self, gold: Argument, system: Argument) -> bool:
        """Whether two arguments are mapped to each other as elements."""
        if not self.is_promoted:
            return self.arguments[gold.kind].mapping.get(gold.element) == system.element
        parent = self.arguments[system.kind].system[system.element].element.parent
        return self.want.reading.promoted_is_mapped(gold.element, parent, self.whole[gold.kind].mapping)

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[self.valued_pair(gold, system)].value

    def own(self, system: str) -> float:
        """The value of a system element against itself."""
        return self.system[system].value

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        values = {ids: pair.value for ids, pair in self.pairs.items()}
        return element_mapping(
            self.want.reading, self.gold, self.system, values, self.unmapped, self.overlaps, self.first_equals
        )

    def wrong_attributes(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        return differing(self.compared, self.gold[gold].element, self.system[system].element)

    def wrong_arguments(self, gold: str, system: str) -> list[int]:
        """Numbers of gold arguments that are not mapped to what their element is mapped to."""
        mapped = self.pairs[self.valued_pair(gold, system)].arguments
        ours, theirs = self.gold[gold].arguments, self.system[system].arguments
        if self.is_promoted:
            is_right = self.want.reading.promoted_is_right
            return [j for j in range(len(ours)) if not is_right(is_mapped=j in mapped)]
        return [
            j for j, argument in enumerate(ours) if j not in mapped or not self._are_mapped(argument, theirs[mapped[j]])
        ]

    def is_wrong_by_rule(self, gold: str, system: str) -> bool:
        """Whether arguments are wrong only because those of promoted mentions never are right (`Nist`)."""
        ours, mapped = self.gold[gold].arguments, self.pairs[self.valued_pair(gold, system)].arguments
        return self.is_promoted and len(mapped) == len(ours) and bool(self.wrong_arguments(gold, system))


def _mapped_share(shares: Mapping[IndexPair, float], groups: Groups | None) -> float:
    """The overlap of mention extents of two tokens under the mapping that makes it largest."""
    if groups is None and len(shares) == 1:
        return next(iter(shares.values()))
    chosen = optimal({pair: (round(share * 1e12), 0.0) for pair, share in shares.items()}, groups)
    if groups is not None:
        chosen = groups.first_members(chosen)
    return fsum([shares[pair] for pair in chosen])


def _may_be_crowded(document: DocumentRelations) -> bool:
    """Whether there are many pairs of mentions at all."""
    gold, system = (sum([len(element.mentions) for element in side]) for side in (document.gold, document.system))
    return are_many(gold * system)


def _extents(document: DocumentRelations) -> tuple[list[Location], list[Location]]:
    """The extents of all mentions of gold, and of the system."""
    gold, system = (
        [extent(mention) for element in side for mention in element.mentions]
        for side in (document.gold, document.system)
    )
    return gold, system
