"""Pack the synthetic cases of the recorded runs into tests/oracles, one compressed file per pack.

python tools/oracles/pack.py SHARED [FOLDER]       (default: tests/oracles)

SHARED/oracles/PACK/CASE/expected.json names the origin of a case. Only those that say `synthetic` are packed; the rest
belongs to third parties. The same cases give the same bytes, so that a file changes only when a case does.
"""

import io
import json
import lzma
import sys
import tarfile
from pathlib import Path

PACKS = (
    "ace",
    "ace-micro",
    "arg-maven",
    "arg-mini",
    "arg-native",
    "arg-omnievent",
    "arg-rams",
    "arg-templates",
    "arg-triggers",
    "arg-wikievents",
    "cdec",
    "conll",
    "crac",
    "nugget",
    "partial",
    "rel-awareness",
    "rel-causal",
    "rel-hieve",
    "rel-maven",
    "rel-mini",
    "rel-native",
    "rel-pairs",
)
TARGET = Path(__file__).parents[2] / "tests" / "oracles"


def synthetic(pack: Path) -> list[Path]:
    """The cases of a pack that were made for karat, in order of their names."""
    expected = sorted(pack.glob("*/expected.json"))
    return [path.parent for path in expected if json.loads(path.read_bytes())["origin"] == "synthetic"]


def packed(cases: list[Path]) -> bytes:
    """A compressed archive of the cases' files, without times, owners and modes."""
    files = [path for case in cases for path in case.rglob("*") if path.is_file()]
    files.sort(key=lambda path: (path.suffix, path))  # files of one format are neighbours and compress well
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in files:
            data = path.read_bytes()
            member = tarfile.TarInfo(path.relative_to(cases[0].parent).as_posix())
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    """Write every pack and print its size."""
    source = Path(sys.argv[1]) / "oracles"
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET
    target.mkdir(parents=True, exist_ok=True)
    for pack in PACKS:
        cases = synthetic(source / pack)
        data = packed(cases)
        (target / f"{pack}.tar.xz").write_bytes(data)
        print(f"{pack}: {len(cases)} cases, {len(data):,} bytes")


if __name__ == "__main__":
    main()
