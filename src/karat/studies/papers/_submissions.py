"""Liu et al. (2015) on the files of a user: GOLD and the output of systems."""

from collections.abc import Iterator, Mapping

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
from karat.studies.papers._nugget_scores import (
    ACCURACIES,
    FALSE_ALARMS,
    FIGURES,
    FIXED,
    PILOT,
    REALIS,
    SPAN,
    TITLE,
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
    tables,
)
from karat.studies.properties import percent
from karat.studies.reproduction import Claim, Reproduction

NOT_A_PILOT = Rule(
    "pilot-data", "fatal", "Give gold with types and realis, as in TAC KBP, and systems that find some of its mentions."
)


def on_files(gold_path: str, *paths: str, progress: Progress | None) -> Reproduction:
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
        claims=(*_claims(scores, gold, systems), *comparison.claims()),
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
    if not result[SPAN].micro.values["f1"]:
        raise NOT_A_PILOT.error(f"{system} finds no event mention of gold", file=result.system.name)


def _faults(result: Result) -> int:
    codes = {finding.code for finding in result.warnings if finding.severity == "fault"}
    return sum(count for (code, _), count in result.warning_counts.items() if code in codes)


def _claims(scores: Scores, gold: Corpus, systems: Mapping[str, Corpus]) -> Iterator[Claim]:
    """The claims that need no system of known errors; two of them compare systems."""
    if len(systems) > 1:
        yield same_order(scores)
    yield _removed_false_alarms(scores, gold, systems)
    yield from combined(scores)
    if len(systems) > 1:
        yield _bottlenecks(scores)


def _bottlenecks(scores: Scores) -> Claim:
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
        found = regions.get(document.id, [])
        return restricted(document, lambda mention: any(shared(mention.span, region) for region in found))

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
