"""Errors of arguments: what fills the roles of events and templates.

They are found from the arguments behind the outcomes of a measure that did not earn everything. Missed and spurious
arguments that differ in one thing are paired; so are those of one event whose places overlap. An error belongs to the
first class in the order of definition that describes it.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from functools import cached_property

from msgspec.structs import replace

from karat.families.nugget.errors import confusions, near
from karat.insight.repairs import Edit, Repair, Slot, rewriting
from karat.insight.units import Classes, DocumentView, ErrorKind, Findings, FoundError, Target, UnitView
from karat.limits import check_pairs
from karat.model import HOLDERS, Mention
from karat.plugin import ArgumentItem, ArgumentMeasure, ArgumentPart, ComparedArgument, DocumentArguments
from karat.problems import quoted
from karat.records import Cell

Pair = tuple[ComparedArgument, ComparedArgument]
Key = Callable[[ComparedArgument], Hashable]
"""Key that two arguments must share; empty: an argument is not compared."""
WHERE: tuple[ArgumentPart, ...] = ("trigger", "template")
WHAT: tuple[ArgumentPart, ...] = ("span", "strings")
CHOICE = "one of several"
"""A class that only some corpora have."""


def _classes(target: Target, names: Set[str]) -> Classes:
    parts = _parts(target)
    located = not {*WHERE}.isdisjoint(parts)
    of_events = located or "type" in parts
    holder = "template" if "template" in parts else "event"
    offered = {
        "wrong role": ("role" in parts, f"the {holder} has this argument, but in another role"),
        "wrong type": ("type" in parts, f"the {holder} has this argument, but not gold's type"),
        "boundary": ("span" in parts, "the argument overlaps gold's, but its place is not the same"),
        "coreferent": ("span" in parts, "the argument is another mention of the entity that fills the role in gold"),
        "partial": ("strings" in parts, "some of the strings are gold's, but not all, or not all of gold's"),
        "wrong trigger": ("trigger" in parts, "the argument has this role, but of an event in another place"),
        "wrong template": ("template" in parts, "the argument has this role, but in another template"),
        f"missed {holder}": (of_events, f"no argument is left for gold's, and the system lacks its {holder}"),
        f"spurious {holder}": (of_events, f"gold has no such argument left, and lacks its {holder}"),
        "missed": ("role" in parts or "span" in parts, "no argument of the system is left for gold's"),
        "spurious": ("role" in parts or "span" in parts, "no argument of gold is left for the system's"),
        CHOICE: (located, f"gold has several {holder}s or types here, and the protocol lets a system have one"),
    }
    return {
        name: text for name, (is_offered, text) in offered.items() if is_offered and (name != CHOICE or name in names)
    }


def _parts(target: Target) -> tuple[ArgumentPart, ...]:
    """Return the parts of an argument that must be right."""
    measure = target.measures[0]
    assert isinstance(measure, ArgumentMeasure), "its table has arguments"
    return measure.parts


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    errors: list[FoundError] = []
    met: list[tuple[ArgumentItem | Mention | None, ArgumentItem | Mention | None]] = []
    for _, measure, table in unit.tables:
        assert isinstance(measure, ArgumentMeasure), "its table has arguments"
        for arguments in measure.arguments(table):
            found = _DocumentErrors(unit, unit.documents[arguments.document], arguments)
            errors += found.errors()
            met += found.met
    # Templates that count by themselves have no role.
    filled = [pair for pair in met if any(isinstance(item, ArgumentItem) for item in pair)]
    cells: dict[str, dict[Cell, int]] = {}
    roles = ("role",) if "role" in _parts(target) else ()
    for name in dict.fromkeys((*roles, *confused)):
        cells |= confusions(filled if name == "role" else met, [name])
    return Findings(errors, cells)


ERRORS = ErrorKind(_classes, _find)


class _DocumentErrors:
    """Sorts the arguments of one document into classes."""

    def __init__(self, unit: UnitView, view: DocumentView, arguments: DocumentArguments) -> None:
        self._unit, self._view, self._arguments = unit, view, arguments
        self._rewriting = rewriting(arguments)
        self._repairs: dict[str, Sequence[Repair]] = {}
        """Repairs of all errors of a class."""
        pairs = [(gold, system, wrong) for gold, system, wrong in arguments.outcomes if gold and system]
        self._partial = [pair for pair in pairs if pair[2]]
        self._missed = [gold for gold, system, wrong in arguments.outcomes if gold and not system and wrong]
        self._extra = [system for gold, system, _ in arguments.outcomes if system and not gold]
        """Arguments that gold lacks; some may not count."""
        self._counted = {id(system) for gold, system, wrong in arguments.outcomes if not gold and wrong}
        self.met: list[tuple[ArgumentItem | Mention | None, ArgumentItem | Mention | None]] = []
        """Which argument of gold met which of the system."""
        done = set[int]()
        for gold, system, _ in pairs:
            self.met.append((None if id(gold) in done else gold.items[0], system.items[0]))
            done.add(id(gold))

    def errors(self) -> Iterator[FoundError]:
        """Each error once."""
        for gold, system, wrong in self._partial:
            yield self._error("partial", gold, system, outcomes=wrong)
        for name, match, key in self._stages():
            pairs = match(key) if self._missed and self._extra else []
            done = {id(side) for pair in pairs for side in pair}
            self._missed = [argument for argument in self._missed if id(argument) not in done]
            self._extra = [argument for argument in self._extra if id(argument) not in done]
            for gold, system in pairs:
                self.met.append((gold.items[0], system.items[0]))
                is_typed = gold.values.get("type") == system.values.get("type")
                class_ = name or ("wrong role" if is_typed else "wrong type")
                yield self._error(class_, gold, system, outcomes=1 + (id(system) in self._counted))
        for gold in self._missed:
            self.met.append((gold.items[0], None))
            yield self._error(self._name("missed", gold, self._arguments.system_known), gold, None)
        for system in self._extra:
            if id(system) in self._counted:
                self.met.append((None, system.items[0]))
                yield self._error(self._name("spurious", system, self._arguments.gold_known), None, system)

    def _name(self, name: str, argument: ComparedArgument, known: frozenset[tuple[Hashable, ...]]) -> str:
        if not argument.is_attainable:
            return CHOICE
        if argument.about_event in known:
            return name
        return f"{name} template" if "template" in argument.values else f"{name} event"

    def _stages(self) -> list[tuple[str, Callable[[Key], list[Pair]], Key]]:
        """Return how missed and spurious arguments that are nearly right are paired, by what is wrong.

        Each stage sees what those before it have left. Without a name, the role or the type is wrong.
        """
        return [
            ("wrong role", self._equal, _all_but("role")),
            ("wrong type", self._equal, _all_but("type")),
            ("boundary", self._overlapping, _rest(*WHAT)),
            ("partial", self._sharing, _rest(*WHAT)),
            ("coreferent", self._coreferent, _rest(*WHAT)),
            ("", self._equal, _in_event("role", "type")),
            ("", self._overlapping, _in_event(*WHAT, "role", "type")),
            ("", self._sharing, _in_event(*WHAT, "role", "type")),
            ("wrong trigger", self._equal, _all_but("trigger")),
            ("wrong template", self._equal, _other_template),
        ]

    def _equal(self, key: Key, system_key: Key | None = None) -> list[Pair]:
        """Arguments with equal keys, in their order; those without a key are left out."""
        waiting: dict[Hashable, list[ComparedArgument]] = {}
        for argument in reversed(_attainable(self._extra)):
            if own := (system_key or key)(argument):
                waiting.setdefault(own, []).append(argument)
        return [(gold, same.pop()) for gold in _attainable(self._missed) if (same := waiting.get(key(gold)))]

    def _overlapping(self, key: Key) -> list[Pair]:
        """Arguments with equal keys whose places overlap, best Dice first."""
        indexes: dict[Hashable, int] = {}

        def placed(arguments: Sequence[ComparedArgument]) -> list[tuple[Mention, ComparedArgument]]:
            having = [argument for argument in arguments if "span" in argument.values and key(argument)]
            keys = [str(indexes.setdefault(key(argument), len(indexes))) for argument in having]
            return [
                (replace(_filler(argument), id=str(index), attributes={"key": name}), argument)
                for index, (argument, name) in enumerate(zip(having, keys, strict=True))
            ]

        golds, systems = placed(_attainable(self._missed)), placed(_attainable(self._extra))
        if not golds or not systems:
            return []
        mentions = [mention for mention, _ in golds], [mention for mention, _ in systems]
        pairs = near(self._view.pair, *mentions, self._unit.comparison, agree=("key",))
        return [(golds[int(gold.id)][1], systems[int(system.id)][1]) for gold, system in pairs]

    def _sharing(self, key: Key) -> list[Pair]:
        """Arguments with equal keys that share strings, those that share most first."""
        golds, systems = _attainable(self._missed), _attainable(self._extra)
        having = _by_string(golds, key), _by_string(systems, key)
        both = [(indexes, having[1][string]) for string, indexes in having[0].items() if string in having[1]]
        count = sum(len(ours) * len(theirs) for ours, theirs in both)
        what = "pairs of missed and spurious arguments that share a string"
        check_pairs(count, what, where=f"document {quoted(self._view.id)}", origin="gold")
        shared = Counter((g, s) for ours, theirs in both for g in ours for s in theirs)
        pairs: dict[int, int] = {}
        taken = set[int]()
        for g, s in sorted(shared, key=lambda pair: (-shared[pair], pair)):
            if g not in pairs and s not in taken:
                pairs[g] = s
                taken.add(s)
        return [(golds[g], systems[s]) for g, s in pairs.items()]

    def _coreferent(self, key: Key) -> list[Pair]:
        """Arguments that are right, but for another mention of the same entity of gold."""

        def in_gold(argument: ComparedArgument) -> Hashable:
            cluster = _filler(argument).cluster if "span" in argument.values else None
            return cluster and (key(argument), cluster)

        def in_system(argument: ComparedArgument) -> Hashable:
            cluster = self._cluster_at.get(_filler(argument).span) if "span" in argument.values else None
            return cluster and (key(argument), cluster)

        return self._equal(in_gold, in_system)

    @cached_property
    def _cluster_at(self) -> dict[Hashable, str]:
        """The entity of gold at each place."""
        fillers = [mention for mention in self._view.pair.gold.mentions if mention.kind not in HOLDERS]
        return {mention.span: mention.cluster for mention in fillers if mention.cluster is not None}

    def _error(
        self, name: str, gold: ComparedArgument | None, system: ComparedArgument | None, *, outcomes: int = 1
    ) -> FoundError:
        golds, systems = (() if argument is None else argument.items for argument in (gold, system))
        instance = self._unit.instance(self._view.id, golds, systems, outcomes)
        if name not in self._repairs:
            self._repairs[name] = (Repair(self._view.id, Edit(rewriting=self._rewriting)),)
        repairs = self._repairs[name]
        self._repair(repairs[0].edit, name, gold, system)
        return FoundError(name, instance, repairs)

    def _repair(self, edit: Edit, name: str, gold: ComparedArgument | None, system: ComparedArgument | None) -> None:
        """Add what repairs an error of a class."""
        if name == CHOICE:
            return
        if gold is None:
            assert system is not None, "an error has a side"
            if system.fillers:
                edit.slots[system.key] = None
            else:
                edit.events[system.event] = None
            return
        is_new = system is None or name in ("wrong trigger", "wrong template", "wrong type")
        if is_new:
            self._give_event(edit, gold, as_gold=name in ("wrong type", "missed event", "missed template"))
        if gold.fillers:
            role = gold.role if system is None or name == "wrong role" else system.role
            as_gold = system is None or name in ("boundary", "coreferent", "partial")
            key = ("gold", gold.key) if system is None else system.key
            event = gold.event if is_new or system is None else system.event
            edit.slots[key] = Slot(event, role, gold.fillers if as_gold or system is None else system.fillers)

    def _give_event(self, edit: Edit, gold: ComparedArgument, *, as_gold: bool) -> None:
        """Add an event of gold, if the system lacks it; the k-th event of a trigger and type needs those before it."""
        events, known = self._arguments.gold_events, self._arguments.system_events
        given = events[gold.event]
        for key in self._alike[_trigger(given)] if given.span else [gold.event]:
            if key not in known:
                edit.events[key] = events[key]
            if key == gold.event:
                break
        if as_gold:
            edit.events[gold.event] = given

    @cached_property
    def _alike(self) -> dict[Hashable, list[Hashable]]:
        """The events of gold by trigger and type."""
        alike: dict[Hashable, list[Hashable]] = {}
        for key, event in self._arguments.gold_events.items():
            alike.setdefault(_trigger(event), []).append(key)
        return alike


def _trigger(event: Mention) -> Hashable:
    return event.span, event.attributes.get("type")


def _by_string(arguments: Sequence[ComparedArgument], key: Key) -> dict[Hashable, list[int]]:
    """Return the indexes of the arguments that have a key and a string."""
    having: dict[Hashable, list[int]] = {}
    for index, argument in enumerate(arguments):
        strings = argument.values.get("strings", ())
        assert isinstance(strings, frozenset | tuple), "strings are a set"
        for text in strings if (found := key(argument)) else ():
            having.setdefault((found, text), []).append(index)
    return having


def _attainable(arguments: Sequence[ComparedArgument]) -> list[ComparedArgument]:
    return [argument for argument in arguments if argument.is_attainable]


def _filler(argument: ComparedArgument) -> Mention:
    return argument.fillers[0].mentions[0]


def _rest(*parts: ArgumentPart) -> Key:
    """Compare all values but some parts."""

    def rest(argument: ComparedArgument) -> Hashable:
        return tuple([(part, value) for part, value in argument.values.items() if part not in parts]) or ("nothing",)

    return rest


def _all_but(part: ArgumentPart) -> Key:
    """Compare all values but a part, which must be compared; two events of one type are not nearly the same."""
    rest = _rest(part)
    return lambda argument: part in argument.values and (bool(argument.fillers) or part not in WHERE) and rest(argument)


def _in_event(*parts: ArgumentPart) -> Key:
    """Compare arguments of certain events by all values but some parts."""
    rest = _rest(*parts)
    return lambda argument: bool(argument.fillers) and not argument.values.keys().isdisjoint(WHERE) and rest(argument)


def _other_template(argument: ComparedArgument) -> Hashable:
    """Compare arguments of templates, whatever their template."""
    return "template" in argument.values and bool(argument.fillers) and _rest("template", "type")(argument)
