"""The template of a campaign (gold, options, and a folder for participants), and the file of options that it has."""

import re
import struct
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from karat import __version__
from karat.campaign.scoring import Conditions, layout_for
from karat.corpus.files import FileCorpus
from karat.corpus.opening import open_corpus
from karat.corpus.paths import files_in
from karat.decoding import explained, toml_problem
from karat.formats import FORMATS
from karat.inputs import read_bytes
from karat.model import Document
from karat.plugin import WriteOptions
from karat.problems import Findings, KaratError, Rule, UsageError, nearest
from karat.protocols import resolve_all
from karat.run.plan import Options
from karat.run.scoring import score

FILE = Rule("campaign-file", "fatal", "`karat campaign new DIR` writes a file to start from.")

PATHS = ("submissions", "gold", "output", "tokens", "sources")
"""Options that name files: relative to the folder of the file."""

DEMO_PROTOCOLS = ("tac-2017",)
DEMO_SYSTEMS = ("cautious", "eager", "literal")


def configuration(file: str, known: Mapping[str, str]) -> dict[str, Any]:
    """Read options from a file; `known` has the name of the parameter of each option."""
    path = Path(file)
    try:
        text = read_bytes(path).decode()
        content = tomllib.loads(text)
    except OSError as error:
        raise FILE.error(error.strerror or str(error), file=file) from None
    except UnicodeDecodeError as error:
        raise FILE.error(explained(error), file=file) from None
    except ValueError as error:
        message, line = toml_problem(error, text)
        raise FILE.error(message, file=file, line=line) from None
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in known:
            raise UsageError("unknown-option", f"{file}: there is no option {key!r}", nearest(key, known))
        if key in PATHS:
            value = str(path.parent / str(value))
        elif key == "protocol":
            names = map(str, value if isinstance(value, list) else [value])
            value = [str(path.parent / name) if name.endswith(".toml") else name for name in names]
        elif key == "set":
            if not isinstance(value, dict):
                raise FILE.error(f"{key} is not a table of parameters and values", file=file)
            value = _settings(value)
        values[known[key]] = value
    return values


def _settings(values: Mapping[str, Any]) -> list[str]:
    """Return parameters as `--set` takes them."""
    return [f"{name}={_setting(value)}" for name, value in values.items()]


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


class Column(NamedTuple):
    """A score of the leaderboard."""

    key: str
    protocol: str
    measure: str
    score: str

    @property
    def title(self) -> str:
        """Return its name on the leaderboard."""
        return f"{self.measure} {self.score} ({self.protocol})"


class Template:
    """The files of a new campaign; without `gold`, karat's demo corpus stands in its place."""

    def __init__(
        self, gold: str | None, protocols: Sequence[str], settings: dict[str, Any], *, title: str, image: str
    ) -> None:
        self._is_demo = gold is None
        self._demo = Path(str(files("karat") / "demo"))
        self._gold = Path(gold) if gold is not None else self._demo / "gold.jsonl"
        corpus = open_corpus(str(self._gold))
        self._documents = list(_bare_documents(corpus))
        names = tuple(protocols) or (DEMO_PROTOCOLS if gold is None else corpus.protocols)
        given = _settings(settings)
        layout = layout_for(str(self._gold), Conditions(names, tuple(given)))
        self._values: dict[str, Any] = {
            "title": title,
            "protocols": names,
            "settings": settings,
            "arguments": " ".join([f"-p {name}" for name in names] + [f"--set {setting}" for setting in given]),
            "settings_list": given,
            "columns": _columns(corpus, names, settings),
            "documents": len(self._documents),
            "format": corpus.format,
            "suffix": FORMATS.get(corpus.format).suffixes[0],
            "layout": "ace" if layout == "ace" else "plain",
            "is_demo": self._is_demo,
            "version": __version__,
            "image": image,
        }

    def campaign(self) -> dict[str, bytes]:
        """Return the files of a campaign that is run with `karat campaign --config campaign.toml`."""
        made = {
            "campaign.toml": self._rendered("campaign.toml"),
            "participants/README.md": self._rendered("participants.md"),
            "participants/documents.jsonl": self._bare(),
            "submissions/.keep": b"",
            **self._gold_files("gold"),
        }
        if self._is_demo:
            made["participants/training/gold.jsonl"] = read_bytes(self._gold)
            made["participants/output/output.jsonl"] = read_bytes(self._demo / "eager.jsonl")
            for system in DEMO_SYSTEMS:
                made[f"submissions/{system}/output.jsonl"] = read_bytes(self._demo / f"{system}.jsonl")
        return made

    def codabench(self) -> dict[str, bytes]:
        """Return the files of a competition bundle for Codabench: zip them, and upload the zip."""
        return {
            "competition.yaml": self._rendered("competition.yaml"),
            "logo.png": logo(),
            "pages/overview.md": self._rendered("overview.md"),
            "pages/evaluation.md": self._rendered("evaluation.md"),
            "pages/terms.md": self._rendered("terms.md"),
            "public_data/documents.jsonl": self._bare(),
            "scoring_program/metadata.yaml": self._rendered("metadata.yaml"),
            "scoring_program/score.py": self._rendered("score.py"),
            "scoring_program/Dockerfile": self._rendered("Dockerfile"),
            **self._gold_files("reference_data"),
        }

    def _rendered(self, name: str) -> bytes:
        made = Environment(  # these are no HTML: values are quoted as JSON, which TOML, YAML and Python read as well
            loader=PackageLoader("karat.campaign"),
            autoescape=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        return made.get_template(f"{name}.jinja").render(self._values).encode()

    def _bare(self) -> bytes:
        """Return the documents without annotations, for participants to validate against."""
        write = FORMATS.get("jsonl").write
        assert write is not None, "JSONL is written"
        pieces = [write(document, WriteOptions(), lambda _: None) for document in self._documents]
        return b"".join(piece for piece in pieces if isinstance(piece, bytes))

    def _gold_files(self, folder: str) -> dict[str, bytes]:
        if not self._gold.is_dir():
            return {f"{folder}/{self._gold.name}": read_bytes(self._gold)}
        paths = files_in(self._gold, _raise, lambda _: None)
        return {f"{folder}/{path.relative_to(self._gold).as_posix()}": read_bytes(path) for path in paths}


def _raise(error: KaratError) -> None:
    raise error


def _bare_documents(corpus: FileCorpus) -> Iterator[Document]:
    for document in corpus:
        yield Document(
            document.id,
            topic=document.topic,
            subtopic=document.subtopic,
            source=document.source,
            language=document.language,
            text=document.text,
            unit=document.unit,
            tokens=document.tokens,
        )


def _columns(corpus: FileCorpus, names: Sequence[str], settings: dict[str, Any]) -> list[Column]:
    """Return the scores to quote. Gold is scored against itself, which refuses a measure that it does not allow."""
    protocols = resolve_all(names, settings)
    results = score(corpus, corpus, protocols, Options(accept_faults=True), findings=Findings())
    columns = [
        Column("", result.protocol, id_, result.scores[id_].micro.main_name)
        for result in results
        for id_ in result.headline_ids()
    ]
    if not columns:
        raise UsageError("columns-none", "the protocol has nothing to score here", "Choose another one with -p.")
    form = "{0.protocol}_{0.measure}" if len(protocols) > 1 else "{0.measure}"
    return [column._replace(key=re.sub(r"\W", "_", form.format(column))) for column in columns]


def logo(size: int = 64) -> bytes:
    """Return the picture that every competition must have: a square of gold, to be replaced."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((0x8A, 0x61, 0x00)) * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
