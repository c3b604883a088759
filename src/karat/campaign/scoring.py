"""Checks and scores one submission, in whatever process: the files are opened, validated and scored there."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import NamedTuple

from karat.campaign.archives import Limits
from karat.campaign.layouts import Submission
from karat.campaign.naming import Naming
from karat.campaign.stored import Check, Outcome, StoredFinding, StoredResult, kept
from karat.corpus import FileCorpus
from karat.engine.against import Reference
from karat.engine.plan import Options
from karat.engine.scoring import score
from karat.engine.validation import Validation, reference, validate_files
from karat.errors import Findings, KaratError, UsageError
from karat.plugin import ReadOptions
from karat.protocols import Protocol, parse_setting, resolve_all


class Conditions(NamedTuple):
    """How all submissions of a campaign are scored."""

    protocols: tuple[str, ...] = ()
    """Empty: those that the format of gold chooses."""
    settings: tuple[str, ...] = ()
    """As `--set` gives them: key=value."""
    measures: tuple[str, ...] = ()
    gold_format: str | None = None
    system_format: str | None = None
    reading: ReadOptions = ReadOptions()
    accept_faults: bool = False
    limits: Limits = Limits()

    def resolved(self, gold: FileCorpus) -> list[Protocol]:
        """The protocols."""
        return resolve_all(self.protocols or gold.protocols, dict(map(parse_setting, self.settings)))

    def run_options(self, measures: tuple[str, ...]) -> Options:
        """What to score; the counts of each unit are kept."""
        return Options(measures, accept_faults=self.accept_faults, keep_rows=True)


class Job(NamedTuple):
    """A submission to score against this gold."""

    key: str
    submission: Submission
    gold: str
    measures: tuple[str, ...]
    name: str = ""
    """What it is called in its error report."""
    gold_name: str = ""
    digits: int = 2
    naming: Naming = Naming()

    def hidden(self, text: str) -> str:
        """Text about the submission as reports may show it."""
        return self.naming.hidden(self.submission, text)


@lru_cache(maxsize=1)
def opened_gold(path: str, conditions: Conditions) -> Reference:
    """Gold, as submissions are compared with it. Its documents are kept, up to a limit; jobs come by their golds."""
    gold, _ = read_gold(path, conditions)
    gold.corpus.keep_documents()
    return gold


def read_gold(path: str, conditions: Conditions) -> tuple[Reference, Validation]:
    """Gold and what was found in it."""
    return reference(path, conditions.resolved, format=conditions.gold_format, options=conditions.reading)


def scored(conditions: Conditions, job: Job) -> bytes | None:
    """What became of a submission, as JSON; None if it needs more memory or deeper nesting than there is."""
    try:
        with opened_submission(conditions, job) as (validation, corpus):
            return _outcome(conditions, job, validation, corpus).encoded()
    except (MemoryError, RecursionError):
        return None


@contextmanager
def opened_submission(conditions: Conditions, job: Job) -> Iterator[tuple[Validation, FileCorpus | None]]:
    """The submission as a corpus, and what was found in it."""
    submission = job.submission
    gold = opened_gold(job.gold, conditions)
    with closing(gold.corpus):
        yield validate_files(
            lambda: submission.package.files(submission.members, conditions.limits),
            submission.package.name,
            gold,
            conditions.resolved(gold.corpus),
            format=conditions.system_format,
            options=conditions.reading,
        )


def _outcome(conditions: Conditions, job: Job, validation: Validation, corpus: FileCorpus | None) -> Outcome:
    (compared,) = validation.submissions
    place = job.submission.package.name
    counts = validation.findings.by_severity()
    has_faults = counts["fault"] > len(compared.missing)
    accepted = not counts["fatal"] and not compared.missing and (conditions.accept_faults or not has_faults)
    findings = kept(validation.findings, place)
    results: Sequence[StoredResult] = ()
    if accepted and corpus is not None:
        try:
            results = _results(conditions, job, corpus, place)
        except UsageError:
            raise
        except KaratError as error:
            accepted, findings = False, (StoredFinding.of(error.finding, place), *findings)
            counts["fatal"] += 1
    content = compared.to_dict()
    check = Check(
        accepted and bool(results),
        validation.total.documents,
        validation.total.mentions,
        tuple(content["missing"]),
        tuple(content["others"]),
        findings,
        counts,
    )
    return Outcome(check, tuple(results))


def _results(conditions: Conditions, job: Job, corpus: FileCorpus, place: str) -> list[StoredResult]:
    gold = opened_gold(job.gold, conditions).corpus
    results = score(gold, corpus, conditions.resolved(gold), conditions.run_options(job.measures), findings=Findings())
    kinds = sorted(corpus.survey().kinds)
    return [StoredResult.of(result, kinds, place) for result in results]
