"""Submissions for tests: small corpora, and archives as participants, or enemies, pack them."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, cast

DOCUMENTS = ("a", "b", "c", "d")
TEXT = "They attacked and he died."
TYPES = ("Conflict.Attack", "Life.Die")


def jsonl(
    *, wrong: int = 0, documents: tuple[str, ...] = DOCUMENTS, ids: str = "m", sources: tuple[str, ...] = ("nw", "wl")
) -> bytes:
    """Two events in each document; the first `wrong` ones have another type."""
    lines = []
    for number, document in enumerate(documents):
        mentions = [
            {
                "id": f"{ids}{event}",
                "span": [span],
                "attributes": {"type": TYPES[event] if 2 * number + event >= wrong else "Life.Injure"},
            }
            for event, span in enumerate([[5, 13], [21, 25]])
        ]
        source = sources[number % len(sources)]
        lines.append(json.dumps({"id": document, "source": source, "text": TEXT, "mentions": mentions}))
    return "".join(f"{line}\n" for line in lines).encode()


def folder(path: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def tar(path: Path, files: Mapping[str, bytes], *, change: Callable[[tarfile.TarInfo], None] | None = None) -> Path:
    """A tar, compressed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with packing(path) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if change is not None:
                change(info)
            archive.addfile(info, io.BytesIO(data))
    return path


def zipped(path: Path, files: Mapping[str, bytes], *, mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return path


def tar_header(name: bytes, size: int = 0, kind: bytes = b"0") -> bytes:
    header = bytearray(512)
    header[: len(name)] = name
    header[100:108] = b"0000644\0"
    header[124:136] = b"%011o\0" % size
    header[148:156] = b" " * 8
    header[156:157] = kind
    header[257:265] = b"ustar\x0000"
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def packing(path: Path) -> IO[bytes]:
    """Open a file to write, compressed as its name says."""
    suffix = path.name.rpartition(".")[2]
    if suffix == "gz":
        return cast("IO[bytes]", gzip.GzipFile(path, "wb", 1))
    if suffix == "bz2":
        return cast("IO[bytes]", bz2.BZ2File(path, "wb", compresslevel=1))
    return cast("IO[bytes]", lzma.LZMAFile(path, "wb", preset=0)) if suffix == "xz" else path.open("wb")


def bomb(path: Path, megabytes: int) -> Path:
    """A tar with one file of zeros, however it is packed."""
    with packing(path) as stream:
        stream.write(tar_header(b"out.jsonl", megabytes << 20))
        for _ in range(megabytes):
            stream.write(bytes(1 << 20))
    return path


def many_in_tar(path: Path, members: int) -> Path:
    """Pack that many empty members."""
    with packing(path) as stream:
        stream.write(b"".join(tar_header(b"%06d" % number) for number in range(members)))
    return path


def many_in_zip(path: Path, members: int) -> Path:
    """Pack that many empty members."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(zipfile.ZipInfo(f"{number:06}"), b"")
    return path
