"""An audit as text, CSV or JSON, and a table of planted errors."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from karat.audit.suspicions import CLASSES, Audit, Planted, Quoted, Suspicion
from karat.report.layout import PLAIN, Style, counted, table
from karat.report.markup import csv as as_csv
from karat.report.tables import Table

WIDTH = 118


PARTLY = ["document", "with events", "sentences", "probability"]


def text(audit: Audit, *, most: int | None = None, style: Style = PLAIN) -> str:
    """The most suspicious pairs with their sentences, then the documents."""
    blocks = [_summary(audit), table(["class", "what it is", "pairs"], _counts(audit), left=2, style=style)]
    shown = audit.suspicions[:most]
    blocks += [_suspicion(rank, suspicion, style) for rank, suspicion in enumerate(shown, 1)]
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
    return [[kind, what, f"{numbers[kind]:,}"] for kind, what in audit.classes.items()]


def _norm(audit: Audit) -> str:
    return f"of all sentences, {100 * audit.partly[0].norm:.0f} % have an event mention" if audit.partly else ""


def _partly(audit: Audit) -> list[list[str]]:
    return [
        [partly.document, f"{partly.annotated:,}", f"{partly.sentences:,}", f"{partly.probability:.2g}"]
        for partly in audit.partly
    ]


def _suspicion(rank: int, suspicion: Suspicion, style: Style) -> str:
    topic = "" if suspicion.topic is None else f", topic {suspicion.topic}"
    more = f", {suspicion.pairs:,} such pairs of these two" if suspicion.pairs > 1 else ""
    title = style.paint(f"{rank}. {suspicion.kind}, weight {suspicion.weight:.3f}{topic}{more}", "bold")
    return "\n".join([title, _quotation(suspicion.first), _quotation(suspicion.second)])


def _quotation(quoted: Quoted) -> str:
    """The sentence with the mention in double brackets."""
    sentence = f"{quoted.document} {quoted.mention}: {quoted.before} [[{quoted.text}]] {quoted.after}"
    return textwrap.fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def csv(audit: Audit) -> str:
    """Return one row per pair, then the documents, with their numbers of sentences in place of texts."""
    header = ["class", "weight", "topic", "pairs", "document", "mention", "before", "text", "after"]
    header += [f"{name} 2" for name in header[4:]]
    rows = [[*_fields(suspicion)] for suspicion in audit.suspicions]
    for partly in audit.partly:
        row = dict.fromkeys(header, "") | {"class": "partly-annotated", "document": partly.document}
        rows.append([*(row | {"text": f"{partly.annotated} of {partly.sentences} sentences"}).values()])
    return as_csv([*header, "signature"], [[*row, audit.signature] for row in rows])


def _fields(suspicion: Suspicion) -> Iterator[str]:
    yield from (suspicion.kind, f"{suspicion.weight:.6f}", suspicion.topic or "", str(suspicion.pairs))
    for quoted in (suspicion.first, suspicion.second):
        yield from (quoted.document, quoted.mention, quoted.before, quoted.text, quoted.after)


def html(audit: Audit, *, name: str) -> Iterator[str]:
    """A page of its own, in karat's style."""
    from karat import __version__
    from karat.report.html.page import rendered

    by_class = {kind: [suspicion for suspicion in audit.suspicions if suspicion.kind == kind] for kind in audit.classes}
    return rendered(
        "audit.html",
        title=f"Audit of {name}",
        version=__version__,
        summary=_summary(audit),
        signature=audit.signature,
        counts=Table.of(["class", "what it is", "pairs"], _counts(audit), left=2),
        classes=[(kind, about, by_class[kind]) for kind, about in audit.classes.items()],
        norm=_norm(audit),
        partly=Table.of(PARTLY, _partly(audit)),
    )


def planted_text(results: Sequence[Planted], *, rate: float, seed: int, signature: str) -> str:
    """Precision and recall of each order for planted errors."""
    at = list(results[0].precision)
    header = ["errors in", "order", "planted", *(f"P@{k}" for k in at), *(f"R@{k}" for k in at)]
    rows = [
        [
            planted.kind,
            planted.order,
            f"{planted.errors:,}",
            *(f"{100 * planted.precision[k]:.1f}" for k in at),
            *(f"{100 * planted.recall[k]:.1f}" for k in at),
        ]
        for planted in sorted(results, key=lambda planted: [*CLASSES, planted.kind].index(planted.kind))
    ]
    title = f"Planted errors (rate {rate:g}, seed {seed}): precision and recall in the first k pairs of each order"
    return f"{title}\n{table(header, rows, left=2)}\n\nsignature  {signature}\n"
