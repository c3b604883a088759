"""An audit as text, CSV or JSON, and a table of planted errors."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from karat.audit.planting import Planted
from karat.audit.suspicions import CLASSES, Audit, Quoted, Suspicion
from karat.report.csv import csv as as_csv
from karat.report.layout import PLAIN, Style, counted, table
from karat.report.tables import Page, Table

WIDTH = 118


PARTLY = ["document", "with events", "sentences", "probability"]


def text(audit: Audit, *, most: int | None = None, style: Style = PLAIN) -> str:
    """The most suspicious pairs with their sentences, then the documents."""
    blocks = [_summary(audit), table(["class", "what it is", "pairs"], _counts(audit), left=2, style=style)]
    shown = audit.suspicions[:most]
    blocks += [_suspicion(number, suspicion, style) for number, suspicion in enumerate(shown, 1)]
    if len(shown) < len(audit.suspicions):
        blocks.append(f"... and {len(audit.suspicions) - len(shown):,} more; --most 0 prints all, -f csv lists them.")
    if audit.partly:
        title = f"Documents that look only partly annotated: {_norm(audit)}"
        blocks.append(f"{title}\n{table(PARTLY, _partly(audit), style=style)}")
    blocks.append(f"signature  {audit.signature}")
    return "\n\n".join(blocks) + "\n"


def _summary(audit: Audit) -> str:
    return (
        f"{counted(audit.documents, 'document')}, {counted(audit.mentions, 'event mention')}, "
        f"{counted(audit.candidates, 'candidate pair')}; {counted(len(audit.suspicions), 'pair')} with an anchor "
        f"weight above {audit.threshold:g} (words: {audit.engine})"
    )


def _counts(audit: Audit) -> list[list[str]]:
    numbers = Counter(suspicion.kind for suspicion in audit.suspicions)
    return [[kind, what, f"{numbers[kind]:,}"] for kind, what in CLASSES.items()]


def _norm(audit: Audit) -> str:
    return f"of all sentences, {100 * audit.partly[0].norm:.0f} % have an event mention" if audit.partly else ""


def _partly(audit: Audit) -> list[list[str]]:
    return [
        [one.document, f"{one.annotated:,}", f"{one.sentences:,}", f"{one.probability:.2g}"] for one in audit.partly
    ]


def _suspicion(number: int, suspicion: Suspicion, style: Style) -> str:
    topic = "" if suspicion.topic is None else f", topic {suspicion.topic}"
    more = f", {suspicion.pairs:,} such pairs of these two" if suspicion.pairs > 1 else ""
    title = style.paint(f"{number}. {suspicion.kind}, weight {suspicion.weight:.3f}{topic}{more}", "bold")
    return "\n".join([title, *(_quotation(one) for one in (suspicion.first, suspicion.second))])


def _quotation(one: Quoted) -> str:
    """The sentence with the mention in double brackets."""
    sentence = f"{one.document} {one.mention}: {one.before} [[{one.text}]] {one.after}"
    return textwrap.fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def csv(audit: Audit) -> str:
    """One row per pair; then the documents, with their numbers of sentences in place of texts."""
    header = ["class", "weight", "topic", "pairs", "document", "mention", "before", "text", "after"]
    header += [f"{name} 2" for name in header[4:]]
    rows = [[*_fields(suspicion)] for suspicion in audit.suspicions]
    comments = [f"threshold {audit.threshold:g}", f"words {audit.engine}", f"signature {audit.signature}"]
    comments += [
        f"partly annotated: {one.document}, {one.annotated} of {one.sentences} sentences" for one in audit.partly
    ]
    return as_csv(Page([Table.of(header, rows)], comments))


def _fields(suspicion: Suspicion) -> Iterator[str]:
    yield from (suspicion.kind, f"{suspicion.weight:.6f}", suspicion.topic or "", str(suspicion.pairs))
    for one in (suspicion.first, suspicion.second):
        yield from (one.document, one.mention, one.before, one.text, one.after)


def json(audit: Audit) -> str:
    """Everything, unrounded."""
    return msgspec.json.format(msgspec.json.encode(audit), indent=2).decode() + "\n"


def html(audit: Audit, *, name: str) -> Iterator[str]:
    """A page of its own, in karat's style."""
    from karat import __version__
    from karat.report.html.page import rendered

    own = {kind: [one for one in audit.suspicions if one.kind == kind] for kind in CLASSES}
    return rendered(
        "audit.html",
        title=f"Audit of {name}",
        version=__version__,
        summary=_summary(audit),
        signature=audit.signature,
        counts=Table.of(["class", "what it is", "pairs"], _counts(audit), left=2),
        classes=[(kind, about, own[kind]) for kind, about in CLASSES.items()],
        norm=_norm(audit),
        partly=Table.of(PARTLY, _partly(audit)),
    )


def planted_text(results: Sequence[Planted], *, rate: float, seed: int, signature: str) -> str:
    """How well each order finds planted errors."""
    at = list(results[0].precision)
    header = ["errors in", "order", "planted", *(f"P@{k}" for k in at), *(f"R@{k}" for k in at)]
    rows = [
        [
            one.kind,
            one.order,
            f"{one.errors:,}",
            *(f"{100 * one.precision[k]:.1f}" for k in at),
            *(f"{100 * one.recall[k]:.1f}" for k in at),
        ]
        for one in sorted(results, key=lambda one: [*CLASSES, one.kind].index(one.kind))
    ]
    title = f"Planted errors (rate {rate:g}, seed {seed}): precision and recall in the first k pairs of each order"
    return f"{title}\n{table(header, rows, left=2)}\n\nsignature  {signature}\n"
