"""Golds: the reference of each track, its signature, and which of its units come from which source."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.campaign.layouts import TASKS, Track
from karat.campaign.scoring import Conditions, read_gold
from karat.corpus import Fingerprint
from karat.engine.plan import unit_of
from karat.errors import Finding, KaratError, Rule
from karat.opened import read_bytes
from karat.protocols import Protocol
from karat.protocols.signature import signature

NO_GOLD = Rule("gold-no-language", "fatal", "Give gold a folder of that name, or leave the submissions out.")
NO_FOLDER = Rule("gold-missing", "fatal", "Name the folder or file of the gold annotations.")


class Gold:
    """The gold of one or more tracks."""

    def __init__(self, path: str, conditions: Conditions) -> None:
        self.path = path
        reference, found = read_gold(path, conditions)
        fatal = [finding for finding in found.findings.kept if finding.severity == "fatal"]
        if fatal:
            raise KaratError(fatal[0]._replace(origin="gold"))
        self.corpus = reference.corpus
        self.protocols: Sequence[Protocol] = conditions.resolved(self.corpus)
        fingerprint, units = Fingerprint(), set[str]()
        sources: list[dict[str, set[str | None]]] = [{} for _ in self.protocols]
        for document in self.corpus:
            fingerprint.add(document)
            units.add(document.unit)
            for protocol, by_unit in zip(self.protocols, sources, strict=True):
                by_unit.setdefault(unit_of(document, protocol), set()).add(document.source)
        self.signatures = [
            signature(protocol, units=units, fingerprint=str(fingerprint), topics=None) for protocol in self.protocols
        ]
        self.sources = [_by_source(by_unit) for by_unit in sources]
        """For each protocol: the units of each source, if every unit is of one source and there are several."""
        self.digest = self._digest()

    def _digest(self) -> str:
        """The hash of its bytes: the fingerprint covers neither texts nor sources, which reports show."""
        hashes = [
            (path.name, hashlib.sha256(read_bytes(path)).hexdigest())
            for path in sorted(self.corpus.inputs())
            if path.is_file()
        ]
        return hashlib.sha256(repr(sorted(hashes)).encode()).hexdigest()

    @property
    def name(self) -> str:
        """What it is called in reports."""
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
    """What only those know who have gold: a hash of all its files."""
    paths = sorted(path for path in Path(root).rglob("*") if path.is_file()) if Path(root).is_dir() else [Path(root)]
    return hashlib.sha256(b"".join(hashlib.sha256(read_bytes(path)).digest() for path in paths)).hexdigest()


def gold_path(root: str, track: Track) -> str | Finding:
    """Where the gold of a track is: `DIR/language/task`, `DIR/language` or DIR; a finding if there is none."""
    folder = Path(root)
    if not folder.exists():
        raise NO_FOLDER.error("there is no such file or folder", file=root)
    names = {path.name.lower(): path for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else {}
    if not track.language or names.keys().isdisjoint(TASKS):
        return root
    if track.language not in names:
        return NO_GOLD.at(f"gold has no folder {track.language}", file=root)
    own = names[track.language]
    tasks = {path.name.lower(): path for path in own.iterdir() if path.is_dir()}
    return str(tasks.get(track.task, own))
