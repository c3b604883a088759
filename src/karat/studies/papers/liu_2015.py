"""Liu, Mitamura and Hovy (2015): sections 3.1 and 4 and its three figures, on a simulated pilot or on one's own data.

    section 3.1    Dice or one half, greedy or best alignment          `karat.studies.papers._nugget_scores`
    section 2.4    precision TP / (TP + FP) and its fix, TP / N_S      `tac-pilot` and `liu-2015`
    Figure 1       span F1 and attribute accuracies (Algorithms 2, 3)  `tac-pilot`
    Figure 2       their products                                      `tac-pilot`
    Figure 3       attributes inside F1 (Algorithm 4)                  `liu-2015`
    footnote 4     spans in tokens or in characters

The paper prints figures without numbers, so there is little to compare numbers with; its claims can be checked.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from karat.comparison.systems import NamedSystems, named_systems
from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus, Progress
from karat.corpus.memory import MemoryCorpus
from karat.corpus.opening import open_corpus
from karat.filters import restricted
from karat.model import Document
from karat.problems import Rule, UsageError
from karat.regions import shared
from karat.result import Result
from karat.simulate.simulation import Rates
from karat.studies import pilot
from karat.studies.papers import _nugget_scores as nugget_scores
from karat.studies.papers._nugget_scores import (
    ACCURACIES,
    BOTH,
    FALSE_ALARMS,
    FIXED,
    PILOT,
    PROTOCOLS,
    REALIS,
    SPAN,
    TAC,
    TYPE,
    TYPE_ACCURACY,
    Comparison,
    Credit,
    Scores,
    combined,
    corpora_scored,
    credit,
    example,
    figures,
    known,
    order,
    precision_fix,
    same_order,
    scored,
    tables,
)
from karat.studies.properties import percent
from karat.studies.reproduction import Cell, Claim, Column, Data, Numbers, Reproduction

TITLE, FIGURES = nugget_scores.TITLE, nugget_scores.FIGURES
CARELESS = Rates(miss=0.18, spurious=0.15, boundary=0.45, attributes={"type": 0.14, "realis": 0.28})
"""A system whose spans are far worse than those of the others."""


def span_by_character(scores: Scores) -> dict[str, float]:
    return {system: known(result, SPAN) for system, result in scores.characters.items()}


# Claims


def claims(scores: Scores, gold: Sequence[Document]) -> Iterator[Claim]:
    yield _perfect_precision(gold)
    yield same_order(scores)
    yield _false_alarms(gold)
    yield from combined(scores)
    yield from _bottlenecks(scores)
    yield _long_words(gold)


def _perfect_precision(gold: Sequence[Document]) -> Claim:
    sloppy = pilot.made(gold, Rates(boundary=0.5))
    before, after = (known(result, SPAN, "precision") for result in scored(gold, sloppy, PILOT, FIXED))
    return Claim(
        "When FP is 0, even if the span range is not exactly correct, the system can still get perfect precision",
        "section 2.4",
        before == 1 and after < 1,
        f"a system that finds every mention, half of them with wrong ends, has precision {percent(before)} in the "
        f"pilot and {percent(after)} after the fix",
    )


def _false_alarms(gold: Sequence[Document]) -> Claim:
    """Score a system with and without false alarms that touch no gold mention."""
    rates = pilot.SYSTEMS[0].rates
    without = pilot.made(gold, replace(rates, spurious=0.0))
    flooded = []
    for clean, noisy, document in zip(without, pilot.made(gold, replace(rates, spurious=1.0)), gold, strict=True):
        kept = {mention.id for mention in clean.mentions}
        alarms = [
            alarm
            for alarm in noisy.mentions
            if alarm.id not in kept and not any(shared(alarm.span, mention.span) for mention in document.mentions)
        ]
        flooded.append(replace(clean, mentions=(*clean.mentions, *alarms)))
    (before,), (after,) = scored(gold, without, PILOT), scored(gold, flooded, PILOT)
    same = all(known(before, id_, "accuracy") == known(after, id_, "accuracy") for id_ in ACCURACIES)
    added = sum(len(many.mentions) - len(few.mentions) for many, few in zip(flooded, without, strict=True))
    values = ", ".join(f"{id_.rpartition('.')[2]} {percent(known(after, id_, 'accuracy'))}" for id_ in ACCURACIES)
    return Claim(
        FALSE_ALARMS,
        "section 4.2",
        same and known(after, SPAN) < known(before, SPAN),
        f"{added:,} false alarms lower the span F1 of a system from {percent(known(before, SPAN))} to "
        f"{percent(known(after, SPAN))}; its accuracies {'stay the same' if same else 'change'} ({values})",
    )


def _bottlenecks(scores: Scores) -> Iterator[Claim]:
    span, type_ = scores.column(FIXED, SPAN), scores.column(FIXED, TYPE)
    gaps = {system: span[system] - type_[system] for system in span}
    *_, narrow = wide, *_ = sorted(gaps, key=lambda system: (-gaps[system] / span[system], system))
    accuracy = scores.column(PILOT, TYPE_ACCURACY, "accuracy")
    yield Claim(
        "in system 7, there is a big gap between the mention type F1 score and the span F1. This indicates that "
        "the type detection accuracy is low and should be improved. In system 5, the mention span F1 and mention "
        "type F1 are very close",
        "section 4.2, Figure 3",
        (wide, narrow) == ("type-blind", "type-sure"),
        f"the widest gap, {percent(gaps[wide])} points, is that of {wide}, which was given wrong types; the "
        f"narrowest, {percent(gaps[narrow])}, that of {narrow}, which was given nearly none",
    )
    better = sum(value > accuracy[narrow] for value in accuracy.values())
    yield Claim(
        "This information is not immediately clear from the other figures",
        "section 4.2",
        better > 0,
        f"by type accuracy (Figure 1), {better} systems are above {narrow}, whose types are nearly always right: it "
        "misses mentions, and each is also a wrong type",
    )


def _long_words(gold: Sequence[Document]) -> Claim:
    """Systems that find one word of every mention: by tokens they are equal."""
    longest, shortest = ([pilot.reduced(document, longest=flag) for document in gold] for flag in (True, False))
    by_token = [known(scored(gold, system, FIXED)[0], SPAN) for system in (longest, shortest)]
    characters = [[pilot.in_characters(document) for document in side] for side in (gold, longest, shortest)]
    by_character = [known(scored(characters[0], system, FIXED)[0], SPAN) for system in characters[1:]]
    return Claim(
        "character span evaluation, which will favor long words than short words",
        "footnote 4",
        by_token[0] == by_token[1] and by_character[0] > by_character[1],
        "a system that finds only the longest word of every mention and one that finds only the shortest both "
        f"have span F1 {percent(by_token[0])} by tokens; by characters they have {percent(by_character[0])} and "
        f"{percent(by_character[1])}",
    )


# Remarks


def remarks(scores: Scores, gold: Sequence[Document]) -> Iterator[str]:
    before, after = (known(result, SPAN) for result in scored(gold, pilot.made(gold, CARELESS), PILOT, FIXED))
    other = "average"
    values = [scores.value(protocol, other, SPAN) for protocol in (PILOT, FIXED)]
    yield (
        "That the order stays is not a law, and these systems are no evidence for it: the fix costs most where spans "
        "are worst, and with more than 20 % wrong ends, as first tried, the order changed. A system with "
        f"45 % wrong ends has span F1 {percent(before)} in the pilot "
        f"and {percent(after)} after the fix; {other} has {percent(values[0])} and {percent(values[1])}, so the "
        f"two {'change' if (before > values[0]) != (after > values[1]) else 'keep'} places."
    )
    characters = span_by_character(scores)
    tokens = scores.column(FIXED, SPAN)
    changes = [abs(characters[system] - tokens[system]) for system in tokens]
    same = "stays the same" if order(characters) == order(tokens) else "changes"
    yield (
        f"Between tokens and characters, the span F1 of whole systems differs by {percent(max(changes))} points "
        f"at most, and their order {same}."
    )
    rising = sum(
        scores.value(TAC, system, loose) < scores.value(TAC, system, strict)
        for system in tokens
        for loose, strict in ((SPAN, TYPE), (SPAN, REALIS), (TYPE, BOTH), (REALIS, BOTH))
    )
    yield (
        "The monotone decrease is a law of Algorithm 4, which filters one alignment. tac-2017 aligns anew for "
        f"every set of attributes, and a stricter score may be higher there; it is in {rising} of "
        f"{4 * len(tokens)} pairs here."
    )
    yield (
        "Algorithm 1 as printed never ends, and Algorithm 2 counts misses as false alarms; `karat explain "
        "nugget` lists where paper and programs differ."
    )


DATA = Data("GOLD SYSTEM...", required=False, most=None)
ABOUT = (
    "SIMULATED: the pilot's corpus (LDC2015E3) needs a licence, and its 15 submissions are not public. karat makes 200 "
    "documents with 6,921 event mentions, and 15 systems of different character from them (`karat simulate`), the same "
    "in every run. The scores are not those of the paper, which prints figures only; the paper's claims are checked."
)


def reproduce(data: Sequence[str], progress: Progress | None, *, quick: bool = False) -> Reproduction:
    """Sections 3.1 and 4 on simulated documents, or on GOLD and SYSTEMs."""
    del quick
    return _on_files(*data, progress=progress) if data else _on_simulation(progress)


def _on_simulation(progress: Progress | None) -> Reproduction:
    gold = pilot.gold()
    in_characters = [pilot.in_characters(document) for document in gold]
    tokens: dict[str, dict[str, Result]] = {name: {} for name in PROTOCOLS}
    characters: dict[str, Result] = {}
    credits: dict[str, Credit] = {}
    steps = len(pilot.SYSTEMS) + 1
    for number, pilot_system in enumerate(pilot.SYSTEMS, 1):
        system = pilot.made(gold, pilot_system.rates)
        for protocol, result in zip(PROTOCOLS, scored(gold, system, *PROTOCOLS), strict=True):
            tokens[protocol][pilot_system.name] = result
        credits[pilot_system.name] = credit(MemoryCorpus(gold), MemoryCorpus(system))
        (characters[pilot_system.name],) = scored(
            in_characters, [pilot.in_characters(document) for document in system], FIXED
        )
        if progress is not None:
            progress(number, steps)
    scores = Scores(tokens, characters)
    comparison = Comparison(credits)
    checked = (*claims(scores, gold), *comparison.claims())
    noted = tuple(remarks(scores, gold))
    if progress is not None:
        progress(steps, steps)
    return Reproduction(
        title=TITLE,
        about=ABOUT,
        numbers=(
            _corpus(gold),
            example(),
            precision_fix(scores),
            *tables(scores),
            _units(scores),
            *comparison.numbers(),
        ),
        claims=checked,
        remarks=noted,
        figures=dict(zip(FIGURES, figures(scores, ABOUT, "simulated system"), strict=True)),
    )


# Numbers


def _corpus(gold: Sequence[Document]) -> Numbers:
    mentions = [mention for document in gold for mention in document.mentions]
    counts: dict[str, Cell] = {
        "documents": Cell(len(gold), 200),
        "event mentions": Cell(len(mentions), 6921),
        "systems": Cell(len(pilot.SYSTEMS), 15),
        "types": Cell(len({str(mention.attributes["type"]).partition(".")[0] for mention in mentions}), 8),
    }
    return Numbers(
        "The simulated corpus (section 4, footnote 2)",
        (Column("simulated", "count"),),
        {name: (cell,) for name, cell in counts.items()},
    )


def _units(scores: Scores) -> Numbers:
    tokens = scores.column(FIXED, SPAN)
    characters = span_by_character(scores)
    return Numbers(
        "Span F1 with spans in tokens and in characters (footnote 4)",
        (Column("tokens"), Column("characters"), Column("change")),
        {
            system: tuple(map(Cell, (tokens[system], characters[system], characters[system] - tokens[system])))
            for system in order(tokens)
        },
    )


# The files of a user


NOT_A_PILOT = Rule(
    "pilot-data", "fatal", "Give gold with types and realis, as in TAC KBP, and systems that find some of its mentions."
)


def _on_files(gold_path: str, *paths: str, progress: Progress | None) -> Reproduction:
    """Sections 3.1 and 4, as far as the systems of others show them."""
    if not paths:
        message = "liu-2015 needs the output of one system or more; without data, it takes a simulated pilot"
        raise UsageError("data-needed", message, "Name them after GOLD.")
    gold = open_corpus(gold_path)
    systems = _opened(named_systems(paths, gold_path), gold)
    tokens: dict[str, dict[str, Result]] = {name: {} for name in (PILOT, FIXED)}
    credits: dict[str, Credit] = {}
    for number, (name, system) in enumerate(systems.items(), 1):
        for protocol, result in zip(tokens, corpora_scored(gold, system, *tokens), strict=True):
            _refuse_lacking(result, name)
            tokens[protocol][name] = result
        credits[name] = credit(gold, system)
        if progress is not None:
            progress(number, len(systems))
    scores, comparison = Scores(tokens, {}), Comparison(credits)
    size = next(iter(tokens[FIXED].values())).gold
    about = (
        f"On {gold_path}, {size.documents:,} documents with {size.mentions:,} event mentions, and {len(systems)} "
        f"system{'s' * (len(systems) != 1)}. The paper prints figures without numbers; its claims are checked as far "
        "as they need no system of known errors. `karat reproduce liu-2015` simulates such systems."
    )
    return Reproduction(
        title=TITLE,
        about=about,
        numbers=(example(), precision_fix(scores), *tables(scores), *comparison.numbers()),
        claims=(*_claims_on_files(scores, gold, systems), *comparison.claims()),
        remarks=tuple(
            f"{name}: {count:,} faults in the files were counted; `karat score -p {FIXED}` lists them."
            for name, result in tokens[FIXED].items()
            if (count := _faults(result))
        ),
        figures=dict(zip(FIGURES, figures(scores, about, "system"), strict=True)),
    )


def _opened(named: NamedSystems, gold: FileCorpus) -> dict[str, Corpus]:
    several = [name for name, paths in named.paths.items() if len(paths) > 1]
    if several:
        raise UsageError("runs-several", f"{several[0]} has several runs", "Name one run of each system.")
    return {name: open_corpus(path, fallback=gold.format).beside(gold) for name, (path,) in named.paths.items()}


def _refuse_lacking(result: Result, system: str) -> None:
    """Refuse gold without types and realis, and a system that has nothing right."""
    for id_ in ACCURACIES if result.protocol == PILOT else (TYPE, REALIS):
        if id_ not in result.scores:
            attribute = id_.rpartition(".")[2]
            raise NOT_A_PILOT.error(f"no mention of gold has the attribute {attribute}", file=result.gold.name)
    if not result[SPAN].f1:
        raise NOT_A_PILOT.error(f"{system} finds no event mention of gold", file=result.system.name)


def _faults(result: Result) -> int:
    return sum(count for (_, severity, _), count in result.warning_counts.items() if severity == "fault")


def _claims_on_files(scores: Scores, gold: Corpus, systems: Mapping[str, Corpus]) -> Iterator[Claim]:
    """The claims that need no system of known errors; two of them compare systems."""
    if len(systems) > 1:
        yield same_order(scores)
    yield _removed_false_alarms(scores, gold, systems)
    yield from combined(scores)
    if len(systems) > 1:
        yield _narrowest_gap(scores)


def _narrowest_gap(scores: Scores) -> Claim:
    span, type_ = scores.column(FIXED, SPAN), scores.column(FIXED, TYPE)
    gaps = {system: (span[system] - type_[system]) / span[system] for system in span}
    *_, narrow = wide, *_ = order(gaps)
    accuracy = scores.column(PILOT, TYPE_ACCURACY, "accuracy")
    above = [system for system in accuracy if accuracy[system] > accuracy[narrow]]
    return Claim(
        "We can also use the results from Figure 3 to understand the performance bottleneck of the systems [...] This "
        "information is not immediately clear from the other figures",
        "section 4.2",
        bool(above),
        f"wrong types cost {wide} most, {percent(gaps[wide])} % of its span F1, and {narrow} least, "
        f"{percent(gaps[narrow])} %; by type accuracy (Figure 1), {len(above)} of {len(accuracy)} systems are above "
        f"{narrow}",
    )


def _removed_false_alarms(scores: Scores, gold: Corpus, systems: Mapping[str, Corpus]) -> Claim:
    """Every system without the mentions that touch no gold mention."""
    regions = {document.id: [mention.span for mention in document.mentions] for document in gold}

    def clean(document: Document) -> Document:
        golds = regions.get(document.id, [])
        return restricted(document, lambda mention: any(shared(mention.span, region) for region in golds))

    rises: dict[str, float] = {}
    same = 0
    for name, system in systems.items():
        (result,) = corpora_scored(gold, MemoryCorpus(map(clean, system), name=name), PILOT)
        rises[name] = known(result, SPAN) - scores.value(PILOT, name, SPAN)
        same += all(known(result, id_, "accuracy") == scores.value(PILOT, name, id_, "accuracy") for id_ in ACCURACIES)
    most = order(rises)[0]
    return Claim(
        FALSE_ALARMS,
        "section 4.2",
        same == len(systems),
        f"without false alarms, the accuracies of {same} of {len(systems)} systems stay the same; span F1 rises by "
        f"up to {percent(rises[most])} points ({most})",
    )
