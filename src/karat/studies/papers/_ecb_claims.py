"""Claims of Upadhyay et al. (2016) about Tables 2 and 3, and contradictions between their numbers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from karat.model import Document
from karat.result import Result
from karat.studies.reproduction import Cell, Claim, Column, Numbers

METRICS = {"MUC": "muc", "B3": "b3", "CEAFe": "ceafe", "BLANC": "blanc"}
Row = Sequence[float]
"""Published scores: P, R and F of MUC, B3 and CEAFe, then PW, PWN, BLANC, the CoNLL average and the average of 4."""
CEAFE_P, CEAFE_R, BLANC, CONLL, AVERAGE_OF_4 = 6, 7, 11, 12, 13
F_SCORES = (2, 5, 8)


def points(result: Result, measure: str = "conll") -> float:
    """An F1 in points; these protocols define every one."""
    return 100 * (result[f"coref.{measure}"].f1 or 0.0)


def ranking_claims(
    settings: Mapping[str, Result], simple: Mapping[str, Result], pure: Mapping[str, Result]
) -> Iterator[Claim]:
    """Both tables: Lemma in all settings, and the order of the baselines."""
    conll = {name: points(result) for name, result in settings.items()}
    yield Claim(
        "Compared to SIMPLE-CDEC, all other settings assign the lemma baseline unrealistically high scores",
        "section 7.1",
        all(value > conll["SIMPLE-CDEC"] for name, value in conll.items() if name != "SIMPLE-CDEC"),
        f"CoNLL {_listed(conll)}",
    )
    in_simple, in_pure = ({name: points(result) for name, result in half.items()} for half in (simple, pure))
    listed = f"SIMPLE: {_listed(in_simple)}; PURE: {_listed(in_pure)}"
    yield Claim(
        "[Lemma-WD's] CoNLL score is slightly higher than Lemma-delta",
        "section 7.2, SIMPLE-CDEC",
        in_simple["Lemma-WD"] > in_simple["Lemma-delta"],
        f"CoNLL {listed}",
    )
    scores = {name: (points(result, "muc"), points(result, "blanc.links")) for name, result in pure.items()}
    yield Claim(
        "Lemma, Lemma-delta and SAC model are the only models which get non-zero MUC and Blanc-PW scores",
        "section 7.2, PURE-CDEC",
        all((value > 0) == (name != "Lemma-WD") for name, values in scores.items() for value in values),
        "MUC F and PW " + ", ".join(f"{name} {muc:.1f} and {pw:.1f}" for name, (muc, pw) in scores.items()),
    )
    yield Claim(
        "Lemma performs worse than Lemma-WD, even in the PURE-CDEC setting",
        "section 7.2",
        in_simple["Lemma"] < in_simple["Lemma-WD"] and in_pure["Lemma"] < in_pure["Lemma-WD"],
        f"CoNLL {listed}",
    )
    if "SAC" in simple:
        averages = [{name: points(result, "avg4") for name, result in half.items()} for half in (simple, pure)]
        yield Claim(
            "Overall, SAC and Lemma-delta are the two best models",
            "section 7.2",
            all(set(_best_two(scores)) == {"SAC", "Lemma-delta"} for scores in averages),
            f"by CoNLL ({listed}) it would fail under SIMPLE, as it does by the published numbers; average of 4 "
            f"SIMPLE: {_listed(averages[0])}; PURE: {_listed(averages[1])}",
        )


def _best_two(scores: Mapping[str, float]) -> list[str]:
    """The second best and the best."""
    return sorted(scores, key=scores.__getitem__)[-2:]


# Section 7.1


def setting_claims(
    lemma: Mapping[str, Result], lemma_wd: Mapping[str, Result], published: Mapping[str, Row]
) -> Iterator[Claim]:
    """Table 2, from the results of two baselines by setting."""
    conll = {name: points(result) for name, result in lemma.items()}
    printed = {name: row[CONLL] for name, row in published.items()}
    yield Claim(
        "the evaluation becomes more lenient from top to bottom, with SIMPLE-CDEC being the most strict",
        "Table 2",
        all(above <= below for above, below in pairwise(conll.values())),
        f"CoNLL {_listed(conll)}: ignoring singletons alone (I.S.) is stricter than sub-topics alone (S.T.), as in "
        f"print ({printed['I.S.']} and {printed['S.T.']})",
    )
    for says, setting, base in (
        ("[B&H:] the F-score of the lemma baseline across all metrics increases", "B&H", "SIMPLE-CDEC"),
        ("[S.T.] boosts the performance further", "S.T.", "B&H"),
        ("When ignoring singletons (I.S.), the F-score for all metrics improves", "I.S.", "SIMPLE-CDEC"),
        ("with YCF, which combines the assumptions of I.S. and S.T., the scores again improve", "YCF", "I.S."),
    ):
        gains = {name: points(lemma[setting], id_) - points(lemma[base], id_) for name, id_ in METRICS.items()}
        listed = ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
        yield Claim(says, "section 7.1", min(gains.values()) > 0, f"against {base}, {listed}")
    within = {name: points(lemma_wd[name]) for name in ("SIMPLE-CDEC", "B&H", "YCF")}
    yield Claim(
        "a system which exclusively predicts within document links can achieve such high scores under the B&H and YCF "
        "settings",
        "section 7.2",
        all(within[name] > conll[name] for name in within),
        f"CoNLL of Lemma-WD: {_listed(within)}; of Lemma: {_listed({name: conll[name] for name in within})}. Without "
        "singletons, a system that links nothing across documents has little left",
    )


def singleton_claim(documents: Iterable[Document]) -> Claim:
    """How many event mentions of the test topics are alone in their cluster, and where these are."""
    sizes: Counter[str] = Counter()
    mentions = []
    for document in documents:
        for mention in document.mentions:
            if mention.kind == "event":
                mentions.append((mention.cluster, mention.attributes.get("validated") is True))
                sizes.update([mention.cluster] if mention.cluster is not None else [])
    counts = Counter((cluster is None or sizes[cluster] == 1, validated) for cluster, validated in mentions)
    singletons = counts[True, True] + counts[True, False]
    validated = counts[True, True] + counts[False, True]
    where = "; without the list of validated sentences, it is not known where they are"
    if validated:
        where = (
            f". But {counts[True, False]:,} of them ({_share(counts[True, False], singletons)}) are in sentences whose "
            f"coreference nobody validated; in validated sentences, {counts[True, True]:,} of {validated:,} mentions "
            f"are singletons ({_share(counts[True, True], validated)})"
        )
    return Claim(
        "singletons constitute over 60% of the test mentions",
        "sections 4 and 7.1",
        singletons > 0.6 * len(mentions),
        f"{singletons:,} of {len(mentions):,} ({_share(singletons, len(mentions))}){where}",
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


# Section 7.2


def baseline_claims(
    simple: Mapping[str, Result], pure: Mapping[str, Mapping[str, Result]], published: Sequence[Mapping[str, Row]]
) -> Iterator[Claim]:
    """Table 3, from results by baseline, and under PURE-CDEC also by representative."""
    names = [name for name in ("Lemma-WD", "Lemma-delta", "SAC") if name in simple]
    drops = {
        which: {name: points(simple[name]) - points(pure[name][which]) for name in names} for which in pure["Lemma-WD"]
    }
    printed = {name: published[0][name][CONLL] - published[1][name][CONLL] for name in names}
    yield Claim(
        "the Lemma-WD average F-score drops considerably (by almost 10%) in comparison to the Lemma-delta and SAC "
        "model (around 6%)",
        "section 7.2",
        all(
            by_name["Lemma-WD"] > drop
            for by_name in drops.values()
            for name, drop in by_name.items()
            if name != "Lemma-WD"
        ),
        "holds only if Lemma-WD drops most whichever mention represents its cluster. Points of CoNLL, "
        + "; ".join(f"{which}: {_listed(by_name)}" for which, by_name in drops.items())
        + f"; in print: {_listed(printed)}",
    )
    halves = {"SIMPLE": simple, "PURE": {name: by_name["first"] for name, by_name in pure.items()}}
    high = {
        f"{setting} {name}": [points(results[system], METRICS[name]) for system in published[0] if system in results]
        for setting, results in halves.items()
        for name in ("B3", "CEAFe")
    }
    yield Claim(
        "Lemma-WD predicts lots of singletons [...] This results in high B3 and CEAF scores in both SIMPLE-CDEC and "
        "PURE-CDEC",
        "section 7.2",
        all(own > max(others) for own, *others in high.values()),
        "Lemma-WD, and the best of the other systems: "
        + ", ".join(f"{what} {own:.1f} and {max(others):.1f}" for what, (own, *others) in high.items()),
    )
    if "SAC" in simple:
        conll = {name: points(simple[name]) for name in published[0]}
        yield Claim(
            "For SIMPLE-CDEC, the lemma-WD baseline performs surprisingly well, second to the SAC model",
            "section 7.2",
            _best_two(conll) == ["Lemma-WD", "SAC"],
            f"CoNLL {_listed(conll)}",
        )
    stronger = [(points(results["Lemma-delta"]), points(results["Lemma"])) for results in halves.values()]
    yield Claim(
        "the SIMPLE-CDEC and PURE-CDEC evaluations show that Lemma-delta is a stronger baseline [than Lemma]",
        "section 7.2",
        all(delta > lemma for delta, lemma in stronger),
        "CoNLL of Lemma-delta and Lemma: SIMPLE {:.1f} and {:.1f}, PURE {:.1f} and {:.1f}".format(*sum(stronger, ())),
    )


def representative_remark(pure: Mapping[str, Mapping[str, Result]], other: str) -> str:
    """How far SAC is ahead of Lemma-delta at another threshold, by representative."""
    leads = {which: points(pure["SAC"][which]) - points(pure[other][which]) for which in pure["SAC"]}
    listed = ", ".join(f"{which} {lead:+.1f}" for which, lead in leads.items())
    return (
        f"Whether SAC is the best system under PURE-CDEC depends on the representative: its lead over {other}, in "
        f"points of CoNLL, is {listed}."
    )


# What the published numbers say about themselves


def implied_clusters(row: Row, gold: int) -> int:
    """How many system clusters a published row had: recall over precision of CEAFe is system over gold clusters."""
    return round(gold * row[CEAFE_R] / row[CEAFE_P])


def cluster_table(sizes: Mapping[str, int], gold: int, simple: Mapping[str, Row], pure: Mapping[str, Row]) -> Numbers:
    """The clusters of each baseline: those that print implies, and those that were found."""
    return Numbers(
        f"Clusters of each baseline: implied by the published CEAFe (R / P x {gold:,} gold clusters), and found",
        (Column("SIMPLE implies", "count"), Column("PURE implies", "count"), Column("found", "count")),
        {
            name: (
                *(Cell(implied_clusters(rows[name], gold) if name in rows else None) for rows in (simple, pure)),
                Cell(clusters),
            )
            for name, clusters in sizes.items()
        },
    )


def contradiction_remark(table: Numbers, other: str, printed: Row) -> str:
    """Why the row of Lemma-delta under PURE-CDEC cannot be one run; `other` has the clusters that it implies."""
    implied = [f"{cell.found:,.0f}" for cell in table.rows["Lemma-delta"][:2]]
    mean = sum(printed[at] for at in F_SCORES) / 3
    mean_of_4 = (3 * mean + printed[BLANC]) / 4
    return (
        "The published row Lemma-delta under PURE-CDEC contradicts itself. No collapse changes the number of clusters, "
        f"but its CEAFe implies {implied[0]} under SIMPLE-CDEC and {implied[1]} under PURE-CDEC; the other rows agree "
        f"with themselves, up to rounding. The mean of its three F is {mean:.1f}, printed {printed[CONLL]}; with BLANC "
        f"it is {mean_of_4:.2f}, printed {printed[AVERAGE_OF_4]}. So its cells seem to come from a run with a higher "
        f"threshold, and its averages from the run at 0.3. {other} is the threshold with the nearest number of "
        f"clusters ({table.rows[other][2].found:,.0f}); its scores had no part in the choice."
    )


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())
