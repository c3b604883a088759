"""Scores every run against gold: in parallel if there are enough runs, else one after another, each in parallel.

Gold is read once to see what it holds, and a process that scores whole runs keeps its documents, up to a limit.

A run that cannot be scored stops the comparison, but only after all others have been tried: organisers of a shared task
learn at once which submissions are broken.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus, Executor
from karat.problems import CombinedError, Finding, Findings, KaratError, Report, Rule, UsageError, nearest, quoted
from karat.protocols import resolve_all
from karat.result import Result
from karat.run.plan import Options
from karat.run.scoring import score

REFUSED = Rule("systems-refused", "fatal", "Correct or remove them, then compare again.")

OnRun = Callable[[int, int], None]
"""Called after each run with the number done and the total."""


class Run(NamedTuple):
    """One output of a system, and what was found when it was opened."""

    system: str
    corpus: Corpus | KaratError
    """An error, if it cannot be opened."""
    findings: Sequence[Finding] = ()


Keep = Callable[[Run, list[Result]], list[Result]]
"""Selects what is kept of the results of a run: the outcomes of forty systems at once would need much memory."""


def scored(shared: tuple[Corpus, Options], run: Run, executor: Executor | None = None) -> list[Result] | KaratError:
    """The results of a run, one per protocol, or why it cannot be scored. Without an executor, gold is kept."""
    (gold, options), findings = shared, Findings()
    for finding in run.findings:
        findings.add(finding)
    if isinstance(run.corpus, KaratError):
        return run.corpus
    if executor is None and isinstance(gold, FileCorpus):
        gold.keep_documents()
    protocols = resolve_all(options.protocols, options.settings)
    try:
        return score(gold, run.corpus, protocols, options, findings=findings, executor=executor)
    except UsageError:
        raise
    except KaratError as error:
        # What was in memory is released.
        return error.with_traceback(None)


def scored_runs(
    gold: Corpus, options: Options, runs: Sequence[Run], executor: Executor, on_run: OnRun | None = None
) -> Iterator[tuple[Run, list[Result]]]:
    """Each run with its results. If runs are refused, all of them are named at the end."""
    refused: list[tuple[str, KaratError]] = []
    shared = gold, options
    every: Iterator[list[Result] | KaratError]
    if isinstance(gold, FileCorpus) and len(runs) >= executor.width(size([gold, *(run.corpus for run in runs)])):
        gold.facts()  # once, for all processes
        every = executor.map(scored, shared, runs)
    else:
        every = (scored(shared, run, executor) for run in runs)
    for done, (run, results) in enumerate(zip(runs, every, strict=True), 1):
        if on_run is not None:
            on_run(done, len(runs))
        if isinstance(results, KaratError):
            if any(results.finding == error.finding for _, error in refused):
                raise results  # what is wrong with two systems in the same place is wrong with gold or the options
            refused.append((run.system, results))
        elif not refused:
            yield run, results
    if refused:
        raise refusal(refused, runs)


def size(corpora: Iterable[Corpus | KaratError]) -> int:
    """Return how many bytes are read."""
    return sum(corpus.size() for corpus in corpora if isinstance(corpus, FileCorpus))


def refusal(refused: Sequence[tuple[str, KaratError]], runs: Sequence[Run]) -> KaratError:
    """One error for all runs that are refused."""
    if len(refused) == 1:
        return refused[0][1]
    bad, systems = ({name for name, _ in refused}, {run.system for run in runs})
    return CombinedError(REFUSED.at(f"{len(bad):,} of {len(systems):,} systems cannot be scored"), refused)


Paths = tuple[str, ...]

NOT_A_SYSTEM = Rule("system-skipped", "note", "No action needed if it is not the output of a system.")
GOLD_AS_SYSTEM = Rule("system-is-gold", "note", "Remove it if this is not what you want.")
NO_SYSTEMS = Rule("systems-none", "fatal", "Name a folder with one file or folder per system, or name the systems.")


class NamedSystems(NamedTuple):
    """The paths of the runs of each system by its name."""

    paths: dict[str, Paths]
    folder: str | None = None
    """The folder that has all of them, if only a folder was named."""
    notes: Sequence[Finding] = ()

    def opened(self, open_: Callable[[str, Report], Corpus], known: Sequence[Finding]) -> list[Run]:
        """Every run as a corpus; `known` are findings that concern all of them.

        A file of the folder whose format is not recognised is skipped, with a note. Other errors of the folder are kept
        until its other files have been read; an argument that cannot be opened is refused at once.
        """
        everywhere = [*known, *self.notes]
        runs: list[Run] = []
        for name, paths in self.paths.items():
            for path in paths:
                findings: list[Finding] = []
                try:
                    runs.append(Run(name, open_(path, findings.append), findings))
                except KaratError as error:
                    if self.folder is not None and error.finding.code == "format-unknown":
                        everywhere.append(NOT_A_SYSTEM.at("skipped: the format is not recognised", file=path))
                    else:
                        runs.append(Run(name, error.with_traceback(None)))
        refused = [(run.system, run.corpus) for run in runs if isinstance(run.corpus, KaratError)]
        if refused and self.folder is None:
            raise refusal(refused, runs)
        if not runs:
            raise NO_SYSTEMS.error("no file in this folder has a format that karat recognises", file=self.folder)
        return [run._replace(findings=[*everywhere, *run.findings]) for run in runs]


def chosen_baseline(name: str | None, runs: Sequence[Run]) -> str:
    """The baseline of this name; without one, the first system."""
    names = list(dict.fromkeys(run.system for run in runs))
    if name is None:
        return names[0]
    if name not in names:
        hint = f"{nearest(name, names)} Systems: {', '.join(names)}."
        raise UsageError("unknown-system", f"--baseline: there is no system {name!r}", hint)
    return name


def named_systems(arguments: Sequence[str], gold: str) -> NamedSystems:
    """The systems that arguments name.

    An existing path is a path, whatever characters it has. A single folder has one file or folder per system, unless
    its files are named as gold's are: then it is the output of one system.
    """
    if len(arguments) == 1 and Path(arguments[0]).is_dir() and not _is_one_system(Path(arguments[0]), Path(gold)):
        entries = [entry for entry in sorted(Path(arguments[0]).iterdir()) if not entry.name.startswith(".")]
        around_gold = (Path(gold).resolve(), *Path(gold).resolve().parents)
        files = [str(entry) for entry in entries if entry.resolve() not in around_gold]
        if not files:
            raise NO_SYSTEMS.error("the folder has no system output", file=arguments[0])
        return NamedSystems({name: (path,) for name, path in zip(_names(files), files, strict=True)}, arguments[0])
    given = [_named(argument) for argument in arguments]
    unnamed = iter(_names([paths[0] for name, paths in given if name is None]))
    systems: dict[str, Paths] = {}
    for name, paths in given:
        name = next(unnamed) if name is None else name
        if systems.get(name) == paths:
            hint = "Remove one of them, or name both: NAME=PATH."
            raise UsageError("system-twice", f"{', '.join(map(quoted, paths))} is given twice", hint)
        if name in systems:
            raise UsageError("system-twice", f"two systems are called {name!r}", "Name them: NAME=PATH.")
        systems[name] = paths
    if [gold, *(path for paths in systems.values() for path in paths)].count("-") > 1:
        raise UsageError("standard-input-twice", "standard input can only be given once", "Use files for the others.")
    notes = [
        GOLD_AS_SYSTEM.at("gold is also compared as a system", file=path)
        for paths in systems.values()
        for path in paths
        if path != "-" and Path(path).exists() and Path(path).resolve() == Path(gold).resolve()
    ]
    return NamedSystems(systems, notes=notes)


def _is_one_system(folder: Path, gold: Path) -> bool:
    names = {entry.name for entry in gold.iterdir()} if gold.is_dir() else set()
    return any(entry.name in names for entry in folder.iterdir())


def _named(argument: str) -> tuple[str | None, Paths]:
    name, equals, paths = argument.partition("=")
    if Path(argument).exists() or argument.startswith("@") or not (equals and name and paths):
        return None, (argument,)
    if Path(paths).exists():
        return name, (paths,)
    return name, tuple(path for path in paths.split(",") if path)


def _names(paths: Sequence[str]) -> list[str]:
    """A short name for each path: without folders and suffixes, as far as names stay different."""
    # A name is text, even if that of a file is not valid UTF-8.
    paths = [path.encode("utf-8", "backslashreplace").decode() for path in paths]
    short = [_stem(Path(path).name) or path for path in paths]
    full = [Path(path).name or path for path in paths]
    return [
        stem if short.count(stem) == 1 else name if full.count(name) == 1 else path
        for stem, name, path in zip(short, full, paths, strict=True)
    ]


def _stem(name: str) -> str:
    return name.removesuffix(".gz").partition(".")[0] if not name.startswith(".") else name
