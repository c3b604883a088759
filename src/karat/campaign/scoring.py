"""Scoring: gold, and jobs that check, score and explain one submission each, in child processes."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace as replace_fields

from karat.campaign.children import Children
from karat.campaign.packages import Limits
from karat.campaign.pseudonyms import NamelessCorpus, Naming
from karat.campaign.store import Check, Outcome, Store, StoredFinding, StoredResult, kept
from karat.campaign.submissions import TASKS, Layout, Submission, Track
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.interface import Corpus, Progress
from karat.corpus.opening import open_corpus
from karat.inputs import read_bytes
from karat.plugin import ReadOptions
from karat.problems import Finding, Findings, KaratError, Rule, UsageError
from karat.protocols import Protocol, parse_setting, resolve_all
from karat.protocols.protocol import conditions as conditions_of
from karat.report.html.gather import Gathered
from karat.report.html.report import default_fields, score_report
from karat.result import Result
from karat.run.plan import Options, unit_of
from karat.run.scoring import score
from karat.run.validation import Validation, reference, validate_files

NO_GOLD = Rule("gold-no-language", "fatal", "Add a folder of that name to gold, or remove the submissions.")
NO_FOLDER = Rule("gold-missing", "fatal", "Name the folder or file of the gold annotations.")


class Conditions(NamedTuple):
    """Settings for scoring that all submissions of a campaign share."""

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
        return resolve_all(self.protocols or gold.protocols, dict(map(parse_setting, self.settings)))

    def run_options(self, measures: tuple[str, ...]) -> Options:
        """Return the options of a run that keeps the counts of each unit."""
        return Options(measures, accept_faults=self.accept_faults, keep_rows=True)


class Gold:
    """The gold of one or more tracks. It is read once: its documents are kept for all submissions, up to a limit."""

    def __init__(self, path: str, conditions: Conditions) -> None:
        self.path = path
        self.reference, validation = reference(
            path, conditions.resolved, format=conditions.gold_format, options=conditions.reading
        )
        fatal = [finding for finding in validation.findings.kept if finding.severity == "fatal"]
        if fatal:
            raise KaratError(fatal[0]._replace(origin="gold"))
        self.corpus = self.reference.corpus
        self.corpus.keep_documents()
        self.protocols: Sequence[Protocol] = conditions.resolved(self.corpus)
        fingerprint, units = Fingerprint(), set[str]()
        sources: list[dict[str, set[str | None]]] = [{} for _ in self.protocols]
        for document in self.corpus:
            fingerprint.add(document, in_order=True)
            units.add(document.unit)
            for protocol, by_unit in zip(self.protocols, sources, strict=True):
                by_unit.setdefault(unit_of(document, protocol), set()).add(document.source)
        self.signatures = [
            f"{conditions_of(protocol, units=units, topics=None, link_order=fingerprint.link_order)}|gold={fingerprint}"
            for protocol in self.protocols
        ]
        self.sources = [_by_source(by_unit) for by_unit in sources]
        """For each protocol: the units of each source, if every unit is of one source and there are several."""
        self.digest = self._digest()

    def _digest(self) -> str:
        """Hash the bytes of its files: the fingerprint covers neither texts nor sources, which reports show."""
        hashes = [
            (path.name, hashlib.sha256(read_bytes(path)).hexdigest())
            for path in sorted(self.corpus.inputs())
            if path.is_file()
        ]
        return hashlib.sha256(repr(sorted(hashes)).encode()).hexdigest()

    @property
    def name(self) -> str:
        """Its name in reports."""
        return Path(self.path).resolve().name


def _by_source(by_unit: Mapping[str, set[str | None]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for unit, sources in sorted(by_unit.items()):
        source = next(iter(sources))
        if source is None or len(sources) > 1:
            return {}
        found.setdefault(source, []).append(unit)
    return dict(sorted(found.items())) if len(found) > 1 else {}


def secret(root: str) -> str:
    """Return a hash of all files of gold, which only those know who have it."""
    paths = sorted(path for path in Path(root).rglob("*") if path.is_file()) if Path(root).is_dir() else [Path(root)]
    return hashlib.sha256(b"".join(hashlib.sha256(read_bytes(path)).digest() for path in paths)).hexdigest()


def gold_path(root: str, track: Track) -> str | Finding:
    """Return the path of a track's gold: `DIR/language/task`, `DIR/language` or DIR; a finding if there is none."""
    folder = Path(root)
    if not folder.exists():
        raise NO_FOLDER.error("there is no such file or folder", file=root)
    languages = _languages(folder)
    if not track.language or not languages:
        return root
    if track.language not in languages:
        return NO_GOLD.at(f"gold has no folder {track.language}", file=root)
    language = languages[track.language]
    tasks = {path.name.lower(): path for path in language.iterdir() if path.is_dir()}
    return str(tasks.get(track.task, language))


def _languages(gold: Path) -> dict[str, Path]:
    """Return the folders of gold by their names, if some are languages of the ACE 2005 plan."""
    folders = {path.name.lower(): path for path in gold.iterdir() if path.is_dir()} if gold.is_dir() else {}
    return {} if folders.keys().isdisjoint(TASKS) else folders


def layout_for(root: str, conditions: Conditions) -> Layout:
    """Return the layout of submissions for this gold: that of the plan is only for tasks of ACE."""
    corpus = open_corpus(root, format=conditions.gold_format, options=conditions.reading)
    families = {choice.name for protocol in conditions.resolved(corpus) for choice in protocol.families}
    if "ace" not in families:
        return "plain"
    return "ace" if _languages(Path(root)) else "auto"


class Job(NamedTuple):
    """A submission to score against gold, or to explain in an error report."""

    key: str
    submission: Submission
    gold: Gold
    measures: tuple[str, ...]
    name: str = ""
    """Its name in the error report."""
    digits: int = 2
    naming: Naming = Naming()


def job_key(kind: str, job: Job, conditions: Conditions) -> str:
    """Hash all that a result depends on: what is known under the same key need not be computed again."""
    reading = conditions.reading
    parts = (
        kind,
        job.gold.signatures,
        job.gold.digest,
        job.measures,
        (conditions.gold_format, conditions.system_format, reading.unit, reading.coreference),
        conditions.accept_faults,
        job.submission.digest(),
        (job.name, job.gold.name, job.digits, job.naming.is_blind) if kind == "report" else (),
    )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def run_jobs(
    kind: Literal["score", "report"],
    jobs: Sequence[Job],
    conditions: Conditions,
    store: Store,
    children: Children,
    *,
    progress: Progress | None = None,
) -> tuple[int, dict[str, Finding]]:
    """Run the jobs whose keys are not known; return their number, and by key why some have no result.

    A result is kept at once, so that an interrupted run resumes where it stopped. A job without one is tried again.
    """
    known = store.keys(kind)
    new = [*{job.key: job for job in jobs if job.key not in known}.values()]
    failures: dict[str, Finding] = {}
    function = partial(_score if kind == "score" else _report, conditions)
    for job, content in children.map(function, new, progress):
        if isinstance(content, Finding):
            failures[job.key] = content
        else:
            store.put(kind, [(job.key, content)])
    return len(new), failures


def _validated(conditions: Conditions, job: Job) -> tuple[Validation, FileCorpus | None]:
    """Open a submission as a corpus, with the findings on it."""
    job.gold.corpus.close()  # a file that the parent has open would be read from one place by all
    submission = job.submission
    return validate_files(
        lambda: submission.package.files(submission.members, conditions.limits, submission.prefix),
        submission.package.name,
        job.gold.reference,
        job.gold.protocols,
        format=conditions.system_format,
        options=conditions.reading,
    )


def _score(conditions: Conditions, job: Job) -> bytes:
    """Check and score a submission; return its outcome as JSON."""
    validation, corpus = _validated(conditions, job)
    (compared,) = validation.submissions
    place = job.submission.package.name
    counts = validation.findings.by_severity()
    has_faults = counts["fault"] > len(compared.missing)
    accepted = not counts["fatal"] and not compared.missing and (conditions.accept_faults or not has_faults)
    findings = kept(validation.findings, place)
    results: Sequence[StoredResult] = ()
    if accepted and corpus is not None:
        try:
            results = _results(conditions, job, corpus)
        except UsageError:
            raise
        except KaratError as error:
            findings = (StoredFinding.of(error.finding, place), *findings)
            counts["fatal"] += 1
    content = compared.to_dict()
    check = Check(
        bool(results),
        validation.total.documents,
        validation.total.mentions,
        tuple(content["missing"]),
        tuple(content["others"]),
        findings,
        counts,
    )
    return Outcome(check, tuple(results)).encoded()


def _results(conditions: Conditions, job: Job, system: FileCorpus) -> list[StoredResult]:
    gold, options = job.gold, conditions.run_options(job.measures)
    results = score(gold.corpus, system, gold.protocols, options, findings=Findings())
    kinds = sorted(system.facts().kinds)
    return [StoredResult.of(result, kinds, job.submission.package.name) for result in results]


def _report(conditions: Conditions, job: Job) -> bytes | Finding:
    """Return the error report of a submission that was scored, as HTML, or the limit that it meets."""
    try:
        return _report_page(conditions, job)
    except KaratError as error:
        return error.finding


def _report_page(conditions: Conditions, job: Job) -> bytes:
    _, corpus = _validated(conditions, job)
    assert corpus is not None, "only submissions that were scored have reports"
    gold, protocols = job.gold.corpus, job.gold.protocols
    hide = partial(job.naming.hidden, job.submission)
    system: Corpus = NamelessCorpus(corpus, gold, hide) if job.naming.is_blind else corpus
    fields = default_fields(gold, protocols)
    options = conditions.run_options(job.measures)
    options = replace_fields(options, by=fields, details=True, errors=True, keep_rows=False)
    results = score(gold, system, protocols, options, findings=Findings())
    named = [_named(result, job) for result in results]
    documents = Gathered(gold)
    documents.add(job.name, system, named)
    return "".join(score_report(named, documents, digits=job.digits)).encode()


def _named(result: Result, job: Job) -> Result:
    """Return the result with names as the campaign shows them."""
    stored = [StoredFinding.of(finding, job.submission.package.name) for finding in result.warnings]
    shown = [finding.concealed() for finding in stored] if job.naming.is_blind else stored
    return replace_fields(
        result,
        gold=replace_fields(result.gold, name=job.gold.name),
        system=replace_fields(result.system, name=job.name),
        warnings=[finding.finding() for finding in shown],
    )
