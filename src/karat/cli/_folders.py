"""Writing corpora and folders: all of their files, or none."""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from karat.cli._atomic import output_stream, umask
from karat.cli._output import STANDARD_OUTPUT, UNWRITABLE, Content, encoded, refused
from karat.inputs import has_inputs, record
from karat.problems import Rule, UsageError

NOT_EMPTY = Rule("folder-not-empty", "fatal", "Choose a new folder, or empty this one first.")


def output_format(to: str | None, output: str | None, *, fallback: str | None = None) -> str | None:
    """The output format: `to`, else by the suffix of the file; without one, `fallback`."""
    from karat.formats import FORMATS

    if to is not None:
        return writable(to)
    if output is None:
        return fallback and writable(fallback)
    bare = output.lower().removesuffix(".gz")
    suffixes = {
        suffix: name
        for name, format_ in FORMATS
        if format_.write and not format_.writes_folder(None)
        for suffix in format_.suffixes
    }
    for suffix, name in suffixes.items():
        if bare.endswith(suffix):
            return name
    if fallback is not None and not Path(bare).suffix.strip(".0123456789"):  # a rate, as in `miss-0.2`, is no suffix
        return writable(fallback)
    hint = f"Choose one with --to, or a file name that ends in {', '.join(suffixes)}."
    raise UsageError("output-format", f"cannot tell the output format from the name {output!r}", hint)


def writable(name: str) -> str:
    """Return the name of a format that karat can write; refuse any other."""
    from karat.formats import FORMATS

    if FORMATS.get(name).write is None:
        known = ", ".join(other for other, format_ in FORMATS if format_.write is not None)
        raise UsageError(
            "format-only-read", f"karat reads {name} but does not write it", f"Choose another with --to: {known}."
        )
    return name


class Sink:
    """Receives documents in the bytes of a format; once it is finished, they are all at `place`."""

    def __init__(self, output: str, place: str, stream: IO[bytes] | None = None, *, packed: bool = False) -> None:
        self.place = place
        self._output = output
        self._stream = stream
        self._packed = None
        if packed and stream is not None:
            import gzip

            # No name and no time in the header: the same documents always compress to the same bytes.
            self._packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0)

    def add(self, piece: bytes | Mapping[str, bytes]) -> None:
        """Add one document: bytes of a file, or files of a folder."""
        if isinstance(piece, Mapping):
            for name, data in piece.items():
                with refused(str(Path(self._output, name))), open(Path(self.place, name), "xb") as file:
                    file.write(data)
        else:
            assert self._stream is not None, "documents of a folder come as files"
            with refused(self._output):
                (self._packed or self._stream).write(piece)

    def finish(self) -> None:
        """Flush, so that all documents can be read back."""
        with refused(self._output):
            if self._packed is not None:
                self._packed.close()
            if self._stream is not None:
                self._stream.flush()


@contextlib.contextmanager
def documents_to(output: str | None, format_: str) -> Iterator[Sink]:
    """A sink for documents. The output file or folder appears only when all of them are written."""
    from karat.formats import FORMATS

    packed = output is not None and output.lower().endswith(".gz")
    if FORMATS.get(format_).writes_folder(output):
        if output is None or packed:
            place = STANDARD_OUTPUT if output is None else repr(output)
            raise UsageError("folder-needed", f"{format_} is written to a folder, not to {place}", "Name a new folder.")
        with _folder(output) as folder:
            yield Sink(output, str(folder))
        return
    with output_stream(output) as stream:
        sink = Sink(output or STANDARD_OUTPUT, stream.name, stream, packed=packed)
        yield sink
        sink.finish()


def copy_new(files: Mapping[Path, bytes]) -> None:
    """Write new files, all or none, with their folders; a file that is already there is never replaced."""
    written: list[Path] = []
    made: list[Path] = []
    try:
        for path, data in files.items():
            missing = [folder for folder in path.parents if not folder.exists()]
            with refused(str(path)):
                made += reversed(missing)
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "xb") as stream:
                    written.append(path)
                    stream.write(data)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        for folder in reversed(made):
            with contextlib.suppress(OSError):  # not made yet, or somebody else uses it
                folder.rmdir()
        raise


def refuse_folder(output: str, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a folder to be filled that has inputs: `inputs`, or files that have been read."""
    record(map(str, inputs))
    if Path(output).exists() and has_inputs(Path(output)):
        raise UNWRITABLE.error(
            "there are inputs of this run in the folder, which karat does not overwrite", file=output
        )


@contextlib.contextmanager
def _folder(output: str) -> Iterator[Path]:
    """A temporary folder that becomes `output` once all files are written."""
    from karat import scratch

    with contextlib.ExitStack() as stack:
        with refused(output):
            path = Path(output).resolve()
            if path.is_dir() and any(path.iterdir()):
                raise NOT_EMPTY.error("the folder is not empty", file=output)
            if path.exists() and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            temporary = stack.enter_context(scratch.folder_in(path.parent))
        yield temporary
        with refused(output):
            temporary.chmod(0o777 & ~umask())
            temporary.replace(path)


def own_folder(output: str, mark: str) -> Path:
    """A folder that a command fills again and again; one that has files, but none called `mark`, is refused.

    So is one with inputs of this run: nothing is written there before it is known that nothing is overwritten.
    """
    path = Path(output)
    refuse_folder(output)
    with refused(output):
        path.mkdir(exist_ok=True)
        if any(path.iterdir()) and not (path / mark).exists():
            raise NOT_EMPTY.error(f"the folder is not empty, and has no {mark} of an earlier run", file=output)
    return path


def replace_folder(output: str, files: Iterable[tuple[str, Content]], is_own: Callable[[Path], bool]) -> None:
    """Write files by their relative paths into a folder that then replaces `output`, so that no old file stays.

    A folder that is not `is_own`, or has inputs of this run, is not replaced.
    """
    from karat import scratch

    path = Path(output)
    refuse_folder(output)
    if path.exists() and not is_own(path):
        raise UNWRITABLE.error("this folder exists, and karat did not create it", file=output)
    with contextlib.ExitStack() as stack:
        with refused(output):
            path.parent.mkdir(parents=True, exist_ok=True)
            new, old = (stack.enter_context(scratch.folder_in(path.parent)) for _ in range(2))
        for name, content in files:
            with refused(f"{output}/{name}"):
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                with open(new / name, "xb") as stream:
                    stream.writelines(encoded(content))
        now = time.time_ns()
        with refused(output):
            for written in new.rglob("*"):  # a published folder does not say in which order it was made
                os.utime(written, ns=(now, now))
            new.chmod(0o777 & ~umask())
            replaced = old / "replaced"
            try:
                if path.exists():
                    path.replace(replaced)
                new.replace(path)
            except BaseException:  # a signal, too
                if replaced.exists() and not path.exists():
                    replaced.replace(path)
                raise
