"""Recorded runs of the reference scorers: one folder per case, with `expected.json` beside the two sides.

Synthetic cases are packed in tests/oracles (by `tools/oracles/pack.py`), those of third parties are in the shared data.
"""

import tarfile
from functools import cache
from pathlib import Path

from tests.conftest import SHARED, shared_path

FOLDER = Path(__file__).parent / "oracles"
PACKS = tuple(sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.iterdir()))
THIRD_PARTY = {
    "conll": [f"case_{number:03}" for number in range(36)],
    "nugget": [f"case_{number}" for number in (*range(200, 223), 287) if number not in (211, 215, 220)],
}


@cache
def _files(pack: str) -> dict[str, dict[str, bytes]]:
    """The files of each case of a pack, by their paths within the case."""
    cases: dict[str, dict[str, bytes]] = {}
    with tarfile.open(FOLDER / f"{pack}.tar.xz") as archive:
        for member in archive:
            case, _, path = member.name.partition("/")
            stream = archive.extractfile(member)
            assert stream is not None
            cases.setdefault(case, {})[path] = stream.read()
    return cases


def packed(*packs: str) -> list[str]:
    """The cases that the repository has, as pack/case."""
    return [f"{pack}/{case}" for pack in packs or PACKS for case in sorted(_files(pack))]


def not_packed(*packs: str) -> list[str]:
    """The cases that only the shared data have; without these data, the ones that we know of."""
    known = {f"{pack}/{case}" for pack in packs or PACKS for case in THIRD_PARTY.get(pack, ())}
    found = (path for pack in packs or PACKS for path in (SHARED / "oracles" / pack).glob("*/expected.json"))
    return sorted((known | {f"{path.parts[-3]}/{path.parts[-2]}" for path in found}) - set(packed(*packs)))


def folder(case: str, temporary: Path) -> Path:
    """The folder of a case: unpacked below `temporary`, or in the shared data, or else the test is skipped."""
    pack, _, name = case.partition("/")
    if name not in _files(pack):
        return shared_path("oracles", pack, name)
    for path, data in _files(pack)[name].items():
        target = temporary / pack / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return temporary / pack / name
