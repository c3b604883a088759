"""Layouts of submissions: `system/files`, and that of the ACE 2005 plan, `language/task/SITEn_primary/files`."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from karat.campaign.archives import SUFFIXES
from karat.campaign.packages import Package
from karat.corpus.folders import shown
from karat.errors import Finding, Rule, nearest, quoted

LANGUAGE = Rule("ace-language", "fatal", "Name the folder arabic, chinese or english (ACE 2005 plan, 3.7.1).")
TASK = Rule("ace-task", "fatal", "Submit only tasks that the evaluation supports (ACE 2005 plan, Table 8).")
SYSTEM = Rule("ace-system", "fatal", "Name the folder SITEn_primary or SITEn_contrastiveM (ACE 2005 plan, 3.7.1).")
LAYOUT = Rule("layout-other", "fatal", "Pack language/task/SITEn_primary/files, as the others here, or use --layout.")
NO_FILES = Rule("submission-empty", "fatal", "Submit at least one file of system output.")

Condition = Literal["primary", "contrastive"]
Layout = Literal["auto", "ace", "plain"]

_BOTH = frozenset({"edr", "rdr", "emd", "rmd"})
_ALL = _BOTH | {"val", "tern", "vdr", "vmd"}
TASKS: Mapping[str, frozenset[str]] = {"arabic": _BOTH, "chinese": _ALL, "english": _ALL}
"""Table 8: the tasks of each language."""

_NAMED = re.compile(r"(?i)(?P<site>.+?)(?P<number>\d*)_(?P<condition>primary|contrastive)(?P<other>\d*)")
_DESCRIPTION = re.compile(r"(?i)(?:(?P<owner>.+?)[ _.-])??(?:system[ _-]?)?description")


class Track(NamedTuple):
    """What systems are ranked in together: a task in a language; without either, there is one for all."""

    language: str = ""
    task: str = ""

    def __str__(self) -> str:
        return f"{self.language}/{self.task}" if self.language else "all"


class Submission(NamedTuple):
    """The output of one system for one track."""

    package: Package
    track: Track
    system: str
    site: str
    condition: Condition = "primary"
    members: Mapping[str, str] = {}
    """The names of its files in the package, with their hashes."""
    prefix: str = ""
    """What the names of its files begin with."""
    described: bool = False
    """Whether there is a description of the system (ACE 2005 plan, 3.7.2)."""
    problems: tuple[Finding, ...] = ()
    """Why it is refused before its files are read."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is sorted by, and the same for no other."""
        return self.track.language, self.track.task, self.system

    def digest(self) -> str:
        """The hash of its files and their names, wherever they are."""
        listed = sorted((name.removeprefix(self.prefix), digest) for name, digest in self.members.items())
        return hashlib.sha256(repr(listed).encode()).hexdigest()


class SystemName(NamedTuple):
    """What the name of a system says."""

    site: str
    condition: Condition


def system_name(name: str) -> SystemName | None:
    """The site and the condition in a name such as `NIST2_contrastive1`; None if it has no such form."""
    named = _NAMED.fullmatch(name)
    if named is None:
        return None
    return SystemName(named["site"], "primary" if named["condition"].lower() == "primary" else "contrastive")


def bare(path: Path) -> str:
    """The name of a package without the suffix of its kind; of a name that is not UTF-8, with replacement marks."""
    name = shown(Path(path.name))
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def description_owner(name: str) -> str | None:
    """Whose description a file is, by its name: a site or system, or empty if it does not say; None: it is none."""
    found = _DESCRIPTION.fullmatch(name.rpartition("/")[2].partition(".")[0])
    return None if found is None else found["owner"] or ""


def is_language(name: str) -> bool:
    """Whether a folder is that of a language."""
    return name.lower() in TASKS


def plain(package: Package, name: str, members: Mapping[str, str]) -> Submission:
    """A package that is one system; a name of the plan's form says whose it is, and whether it is contrastive."""
    named = system_name(name) or SystemName(name, "primary")
    submission = Submission(package, Track(), name, named.site, named.condition)
    return with_files(submission, members)


def with_files(submission: Submission, members: Mapping[str, str]) -> Submission:
    """The submission with its files. A description among them is not part of the output."""
    output = {name: digest for name, digest in members.items() if description_owner(name) is None}
    problems = () if output else (NO_FILES.at("there is no file in it", file=submission.package.name),)
    return submission._replace(members=output, described=len(output) < len(members), problems=problems)


def ace(package: Package, language: str, task: str, name: str, members: Mapping[str, str], prefix: str) -> Submission:
    """A system in the plan's layout, refused if the plan does not have its language, its task or its name."""
    track = Track(language.lower(), task.lower())
    named = system_name(name) or SystemName(name, "primary")
    submission = with_files(Submission(package, track, name, named.site, named.condition, prefix=prefix), members)
    problems = _ace_problems(track, name, prefix or package.name)
    return submission._replace(problems=(*problems, *submission.problems))


def _ace_problems(track: Track, name: str, place: str) -> Sequence[Finding]:
    if track.language not in TASKS:
        message = f"{quoted(track.language)} is no language of ACE 2005. {nearest(track.language, TASKS)}"
        return [LANGUAGE.at(message, file=place)]
    if track.task not in TASKS["english"]:
        known = nearest(track.task, sorted(TASKS[track.language]))
        return [TASK.at(f"{quoted(track.task)} is no task of ACE 2005. {known}", file=place)]
    if track.task not in TASKS[track.language]:
        has = ", ".join(sorted(TASKS[track.language]))
        language = track.language.capitalize()
        return [TASK.at(f"ACE 2005 has no {track.task.upper()} in {language}; it has {has}", file=place)]
    if system_name(name) is None:
        return [SYSTEM.at(f"{quoted(name)} does not say whether the system is primary or contrastive", file=place)]
    return []


def ace_depth(names: Sequence[str]) -> int | None:
    """How many folders an archive has around those of languages, none or one; None if it has no such folders."""
    parts = [name.split("/") for name in names if description_owner(name) is None]
    for depth in (0, 1):
        if any(len(one) > depth + 1 and is_language(one[depth]) for one in parts):
            return depth
    return None


def ace_archive(package: Package, members: Mapping[str, str], depth: int) -> list[Submission]:
    """The systems of an archive in the plan's layout; `depth` folders are around those of languages."""
    systems: dict[tuple[str, ...], dict[str, str]] = {}
    descriptions: dict[str, str] = {}
    for name, digest in members.items():
        parts = tuple(name.split("/"))
        if len(parts) > depth + 3:
            systems.setdefault(parts[: depth + 3], {})[name] = digest
        elif description_owner(name) is not None:
            descriptions[name] = digest
        else:
            systems.setdefault((*parts, *[""] * 3)[: depth + 3], {})[name] = digest
    found = []
    for parts, own in systems.items():
        language, task, system = parts[depth:]
        if system:
            submission = ace(package, language, task, system, own, "/".join(parts) + "/")
        else:  # a file in a folder of a language or a task
            (name,) = [*own][:1]
            problem = LAYOUT.at(f"{quoted(name)} is not in language/task/system/", file=package.name)
            lost = bare(package.path)
            submission = Submission(package, Track(), lost, lost, problems=(problem,))
        found.append(submission._replace(described=submission.described or bool(descriptions)))
    return found
