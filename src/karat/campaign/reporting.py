"""The error report of one submission: the HTML report, made in whatever process."""

from collections.abc import Iterator

from msgspec.structs import replace as replace_fields

from karat.campaign.nameless import Nameless
from karat.campaign.scoring import Conditions, Job, opened_gold, opened_submission
from karat.campaign.stored import StoredFinding
from karat.corpus import Corpus
from karat.errors import Findings
from karat.insight import score_with_errors
from karat.report.html.gather import Gathered
from karat.report.html.report import default_fields, score_report
from karat.results import Result
from karat.stats.confidence import changed


def reported(conditions: Conditions, job: Job) -> bytes | None:
    """The report as HTML; None if it needs more memory or deeper nesting than there is."""
    try:
        with opened_submission(conditions, job) as (_, corpus):
            assert corpus is not None, "only submissions that were scored have reports"
            system: Corpus = Nameless(corpus) if job.naming.is_blind else corpus
            return "".join(_report(conditions, job, system)).encode()
    except (MemoryError, RecursionError):
        return None


def _report(conditions: Conditions, job: Job, system: Corpus) -> Iterator[str]:
    gold = opened_gold(job.gold, conditions).corpus
    protocols = conditions.resolved(gold)
    fields = default_fields(gold, protocols)
    options = replace_fields(conditions.run_options(job.measures), by=fields, details=True, keep_rows=False)
    results = score_with_errors(gold, system, protocols, options, findings=Findings())
    named = [_named(result, job) for result in results]
    documents = Gathered(gold)
    documents.add(job.name, system, named)
    return score_report(named, documents, digits=job.digits)


def _named(result: Result, job: Job) -> Result:
    """The result with names as the campaign shows them."""
    place = job.submission.package.name
    return changed(
        result,
        gold=replace_fields(result.gold, name=job.gold_name),
        system=replace_fields(result.system, name=job.name),
        warnings=[StoredFinding.of(finding, place).changed(job.hidden).finding() for finding in result.warnings],
    )
