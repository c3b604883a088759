"""The template of a campaign (gold, options, and a folder for participants), and the file of options that it has."""

import json
import platform
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from karat import __version__
from karat.campaign.scoring import Conditions, layout_for
from karat.corpus.files import FileCorpus
from karat.corpus.opening import open_corpus
from karat.corpus.paths import files_in
from karat.decoding import explained, toml_problem
from karat.formats import FORMATS, read_options
from karat.inputs import read_bytes
from karat.model import Document
from karat.plugin import WriteOptions
from karat.problems import Findings, Rule, UsageError, nearest
from karat.protocols import Protocol, resolve_all
from karat.protocols.files import PROTOCOLS, is_own, lineage, source, written
from karat.run.plan import Options
from karat.run.scoring import score

FILE = Rule("campaign-file", "fatal", "`karat campaign new DIR` writes a file to start from.")
COPIES = Rule(
    "template-files", "fatal", "Put protocol files that extend each other into one folder; name each file once."
)

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
        elif key == "set" and not isinstance(value, dict):
            raise FILE.error(f"{key} is not a table of parameters and values", file=file)
        values[known[key]] = value
    if "set" in content:
        protocols: Iterable[str] = values.get(known["protocol"]) or PROTOCOLS.own
        values[known["set"]] = _settings(
            {
                name: str(path.parent / str(value)) if _is_file(name, value, protocols) else value
                for name, value in content["set"].items()
            }
        )
    return values


def _is_file(parameter: str, value: Any, protocols: Iterable[str]) -> bool:
    """Return whether one of the protocols reads a file that this parameter names."""
    declared = (written(source(name)).parameters.get(parameter) for name in protocols)
    return any(found is not None and found.is_file(value) for found in declared)


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
        self,
        gold: str | None,
        protocols: Sequence[str],
        settings: dict[str, Any],
        *,
        tokens: str | None = None,
        title: str,
        image: str,
    ) -> None:
        self._is_demo = gold is None
        self._demo = Path(str(files("karat") / "demo"))
        self._gold = Path(gold) if gold is not None else self._demo / "gold.jsonl"
        corpus = open_corpus(str(self._gold), options=read_options(None, tokens))
        self._documents = list(_bare_documents(corpus))
        names = tuple(protocols) or (DEMO_PROTOCOLS if gold is None else corpus.protocols)
        resolved = resolve_all(names, settings)
        layout = layout_for(str(self._gold), Conditions(names, tuple(_settings(settings))))
        self._copies = Copies(resolved, settings, names, tokens)
        self._values: dict[str, Any] = {
            "title": title,
            "protocol_names": ", ".join(protocol.name for protocol in resolved),
            "protocols": self._copies.protocols,
            "settings": self._copies.settings,
            "parameters": self._copies.parameters,
            "has_tokens": tokens is not None,
            "arguments": self._copies.arguments(),
            "columns": _columns(corpus, resolved),
            "documents": len(self._documents),
            "format": corpus.format,
            "suffix": FORMATS.get(corpus.format).suffixes[0],
            "layout": "ace" if layout == "ace" else "plain",
            "is_demo": self._is_demo,
            "version": __version__,
            "python": platform.python_version(),
            "requirements": _requirements(),
            "image": image,
        }

    def campaign(self) -> dict[str, bytes]:
        """Return the files of a campaign that is run with `karat campaign --config campaign.toml`."""
        made = {
            "campaign.toml": self._rendered("campaign.toml"),
            "participants/README.md": self._rendered("participants.md"),
            "participants/documents.jsonl": self._bare(),
            "submissions/.keep": b"",
            **_below("gold", self._gold),
            **self._copies.files("participants"),
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
            "logo.png": (files("karat.campaign") / "templates" / "logo.png").read_bytes(),
            "pages/overview.md": self._rendered("overview.md"),
            "pages/evaluation.md": self._rendered("evaluation.md"),
            "pages/terms.md": self._rendered("terms.md"),
            "public_data/documents.jsonl": self._bare(),
            "scoring_program/metadata.yaml": self._rendered("metadata.yaml"),
            "scoring_program/score.py": self._rendered("score.py"),
            "scoring_program/Dockerfile": self._rendered("Dockerfile"),
            **_below("reference_data", self._gold),
            **self._copies.files("public_data"),
            **self._copies.files("scoring_program"),
        }

    def _rendered(self, name: str) -> bytes:
        made = Environment(  # not HTML: `quoted` values are JSON that TOML, YAML and Python read as well
            loader=PackageLoader("karat.campaign"),
            autoescape=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        made.filters |= {"quoted": quoted, "words": shlex.join}
        return made.get_template(f"{name}.jinja").render(self._values).encode()

    def _bare(self) -> bytes:
        """Return the documents without annotations, for participants to validate against."""
        write = FORMATS.get("jsonl").write
        assert write is not None, "JSONL is written"
        pieces = [write(document, WriteOptions(), lambda _: None) for document in self._documents]
        return b"".join(piece for piece in pieces if isinstance(piece, bytes))


class Copies:
    """Copies of the files that the protocols and their parameters name, and of token tables, with their new names."""

    def __init__(
        self, protocols: Sequence[Protocol], settings: Mapping[str, Any], names: Sequence[str], tokens: str | None
    ) -> None:
        self._files: dict[str, bytes] = {}
        self.protocols = [self._protocol(name) if name.endswith(".toml") else name for name in names]
        self.settings = dict(settings)
        self.parameters: list[str] = []
        """The parameters that name files."""
        for protocol in protocols:
            for key, value in protocol.values.items():
                if protocol.parameters[key].is_file(value):
                    if any(other.values.get(key, value) != value for other in protocols):
                        raise COPIES.error(f"the protocols have different values of {key}", file=value)
                    name = f"{key}{Path(value).suffix}"
                    self._files[name] = read_bytes(Path(value))
                    self.parameters.append(key)
                    self.settings[key] = name
        if tokens is not None:
            self._files |= _below("tokens", Path(tokens))
        self._tokens = ["--tokens", "tokens"] if tokens is not None else []

    def _protocol(self, name: str) -> str:
        """Copy a protocol file and those that it extends; return where it is."""
        paths = [path for path in lineage(Path(name)) if not is_own(path)]
        for path, base in pairwise(paths):
            if base.resolve().parent != path.resolve().parent:
                message = f"it extends {base}, which is in another folder; a template copies only its own"
                raise COPIES.error(message, file=str(path))
        folder = f"protocols/{Path(name).stem}"
        self._files |= {f"{folder}/{path.name}": read_bytes(path) for path in paths}
        return f"{folder}/{Path(name).name}"

    def files(self, folder: str) -> dict[str, bytes]:
        return {f"{folder}/{name}": content for name, content in self._files.items()}

    def arguments(self) -> list[str]:
        """Return the arguments of commands that are run in that folder."""
        settings = _settings(self.settings)
        return [
            *chain(*(("-p", name) for name in self.protocols), *(("--set", setting) for setting in settings)),
            *self._tokens,
        ]


def _below(folder: str, path: Path) -> dict[str, bytes]:
    """Return the content of a file, or of all files of a folder, by its name in another folder."""
    if not path.is_dir():
        return {f"{folder}/{path.name}": read_bytes(path)}
    paths = files_in(path)
    return {f"{folder}/{file.relative_to(path).as_posix()}": read_bytes(file) for file in paths}


def quoted(value: Any) -> str:
    """Return a value as JSON that is TOML, YAML and Python, too: characters are written as they are, if they show."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"\\u{code:04x}"


def _requirements() -> list[str]:
    """Return karat and what it needs, in the versions that are installed here."""
    from importlib.metadata import PackageNotFoundError, requires, version

    found, waiting = dict[str, str](), ["karat"]
    while waiting:
        name = waiting.pop()
        with suppress(PackageNotFoundError):  # needed on another system only
            found[name] = version(name)
            needed = [line for line in requires(name) or () if ";" not in line]
            waiting += {re.split(r"[^\w.-]", line)[0].lower() for line in needed} - found.keys()
    return [f"{name}=={number}" for name, number in sorted(found.items())]


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


def _columns(corpus: FileCorpus, protocols: Sequence[Protocol]) -> list[Column]:
    """Return the scores to quote. Gold is scored against itself, which refuses a measure that it does not allow."""
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
