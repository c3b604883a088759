"""Cases: files and the command lines that read them, made from a seed and a run number."""

import gzip
import io
import re
import tarfile
import zipfile
from functools import cache
from random import Random
from typing import NamedTuple

from fuzz.checks import Arguments
from fuzz.corpora import Corpus, Files, corpora
from fuzz.damage import BYTES, NUMBERS, WORDS, damaged
from karat.cli.program import cli
from karat.families import MEASURES
from karat.formats import FORMATS
from karat.protocols import PROTOCOLS, resolve
from karat.studies.reproduction import PAPERS

CORPUS_COMMANDS = {
    "score {gold} {system} -f {report}": 10,
    "score {gold} {system} -p {protocol} -f {report}": 10,
    "compare {gold} a={system} b={gold} -f {table} --resamples 10": 2,
    "compare {gold} a={system} b={gold} -f json --resamples 10 -p {protocol} --sort-by {measure}": 1,
    "validate {damaged} --against {gold}": 2,
    "validate {damaged} -f json --types types.txt": 2,
    "describe {damaged} -f {describe}": 6,
    "convert {damaged} {out} --to {writable}": 2,
    "convert {damaged} {out} --to {writable} --lossy": 4,
    "simulate {damaged} --seed 7 --miss {rate} --split {rate} --boundary {rate}": 1,
    "simulate {damaged} --merge {rate} --attribute {attribute} -o out --to {writable}": 2,
    "simulate {damaged} --break {rate} --conflate {rate} --drop-link {rate} --spurious {rate} -o out --to jsonl": 1,
    "lab {family} --gold {damaged} --steps 3 --orders 1 -f {describe}": 1,
    "audit {damaged} -f {report} --threshold 0.1": 1,
    "baseline {baseline} {damaged} -o out --to {writable}": 1,
}
"""Commands on a damaged corpus, and how often each is run."""
SCORE_OPTIONS = (
    *("--details", "--errors", "--per-unit", "--per-document", "--strict", "--accept-faults", "--summary"),
    *("--by {field}", "-m {measure}", "--unit {unit}", "--gold-format {format}", "--system-format {format}"),
    *("--digits 15", "-o out", "--ci 95 --resamples 20", "-p {protocol}"),
)
BESIDE_COMMANDS = (
    *("score {gold} {system} --tokens tables -f json", "score {gold} {system} --tokens tables --unit token -f json"),
    *("validate {gold} --tokens tables -f json", "convert {gold} out --tokens tables --to {writable} --lossy"),
    *("score @gold.list {system} -f json", "validate @gold.list -f json"),
    *("score {gold} {system} --sources source -f json", "validate {gold} --sources source -f json"),
)
NAME_COMMANDS = (
    *("explain {word}", "explain {near}", "protocols {word}", "protocols {near}", "help {word}", "completion {near}"),
    *("score {gold} {system} -p {near}", "score {gold} {system} -m {near}", "score {gold} {system} -m {word}"),
    *("score {gold} {system} --by {word} -f json", "score {gold} {system} --topics {word}", "score {gold} {word}"),
    *("score {gold} {system} --digits {word}", "score {gold} {system} --gold-format {near}", "score {word} {system}"),
    *("score {gold} {system} --ci {word}", "compare {gold} {system} {word}", "validate {word} {gold}"),
    "compare {gold} {word}={system} {gold} --resamples 10",
    "compare {gold} {system} {gold} --resamples 10 --baseline {word}",
    *("validate {gold} --types {word}", "validate {gold} --against {word}", "describe {gold} --topics {word}"),
    *("describe {gold} --max-bytes {word}", "describe @{word}", "convert {gold} out/{word}"),
    *("convert {gold} {word} --to jsonl --lossy", "convert {gold} out --to {near}"),
    "convert {gold} out --to brat --lossy --coreference {word}",
    *("simulate {gold} --miss {word}", "simulate {gold} --attribute type={word}", "simulate {gold} --attribute {word}"),
    *("simulate {gold} --seed {word} -o out.jsonl", "lab {near} --gold {gold} --steps 2 --orders 1"),
    *("reproduce {near} {gold}", "reproduce {paper} {word}", "reproduce {paper} {gold}", "demo --into out"),
    *("{command} {gold} {system}", "{command} --help", "{near} {gold}", "{word}"),
)
"""Commands with names and numbers that nobody expects."""


class Case(NamedTuple):
    """Files in an empty folder, and commands that run there one after the other."""

    kind: str
    """The damaged input: a format's name, or another kind of input."""
    files: Files
    commands: tuple[Arguments, ...]
    clean: Arguments | None = None
    """The last command, a `score`, if it must work when the first one, a `validate`, exits with 0."""


@cache
def _choices() -> dict[str, list[str]]:
    """Return the values of placeholders in commands."""
    names: dict[str, list[str]] = {
        "protocol": PROTOCOLS.names(),
        "measure": [*(id_ for _, family in MEASURES for id_ in family.card.rows), "coref", "nugget"],
        "format": FORMATS.names(),
        "writable": [name for name, format_ in FORMATS if format_.write is not None],
        "paper": PAPERS.names(),
        "command": sorted(cli.commands),
    }
    words = {
        "report": "json json json text csv html",
        "table": "json text csv markdown latex",
        "describe": "text json",
        "out": "out out -",
        "rate": "0.2 0.5 1",
        "attribute": "type=0.5 realis=1 x=1",
        "family": "nugget coref.b3 coref.muc coref.blanc hierarchy sequence ace muc",
        "baseline": "lemma lemma lemma-wd lemma-delta sac",
        "field": "type realis kind document topic source x",
        "unit": "char token",
    }
    return {**names, **{name: listed.split() for name, listed in words.items()}}


@cache
def _pieces() -> tuple[bytes, ...]:
    return tuple(data for corpus in corpora() for data in corpus.gold.values())


def case(seed: int, number: int) -> Case:
    """Return the case of that number."""
    random = Random(f"{seed} {number}")
    make = random.choices((_corpus, _protocol, _setting, _names, _beside, _submissions), (80, 7, 5, 4, 4, 1))[0]
    return make(random, random.choice(corpora()))


def _command(random: Random, template: str, corpus: Corpus, **values: str) -> Arguments:
    """Fill in the placeholders of a command, each with a new choice."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in ("gold", "system"):
            return values.get(name, corpus.path(name))
        if name == "word":
            return _word(random)
        if name == "near":
            known = random.choice([*_choices()["protocol"], *_choices()["measure"], *_choices()["format"]])
            return _text(damaged(known.encode(), random, (b"x",)))
        return values.get(name) or random.choice(_choices()[name])

    return tuple(re.sub(r"\{(\w+)\}", value, word) for word in template.split())


def _corpus(random: Random, corpus: Corpus) -> Case:
    """Damage a corpus: it is validated, given to another command, and scored if it is valid."""
    sides = random.choice((["gold"], ["gold"], ["system"], ["system"], ["gold", "system"]))
    files = corpus.files
    for side in sides:
        name = random.choice(sorted(name for name in files if name.startswith(f"{side}/")))
        files[name] = damaged(files[name], random, _pieces())
    paths = {side: corpus.path(side) for side in ("gold", "system")}
    if paths[sides[0]] in files and random.random() < 0.05:
        data = gzip.compress(files.pop(paths[sides[0]]), mtime=0)
        paths[sides[0]] += ".gz"
        files[paths[sides[0]]] = data if random.random() < 0.5 else damaged(data, random, _pieces())
    template = random.choices((*CORPUS_COMMANDS,), (*CORPUS_COMMANDS.values(),))[0]
    if template.startswith("score"):
        template = " ".join((template, *(option for option in SCORE_OPTIONS if random.random() < 0.08)))
    if "types.txt" in template:
        files["types.txt"] = damaged(b"Conflict_Attack\nLife_Die\nConflict_Demonstrate\n", random, _pieces())
    main = paths[sides[0]]
    command = _command(random, template, corpus, damaged=main, **paths)
    clean = ("score", main, main, "-f", "json")
    return Case(corpus.format, files, (("validate", main, "-f", "json"), command, clean), clean)


def _protocol(random: Random, corpus: Corpus) -> Case:
    """Damage a protocol file."""
    text = PROTOCOLS.get(random.choice(PROTOCOLS.names())).read_bytes()
    files = {**corpus.files, "own.toml": damaged(text, random, _pieces())}
    score = _command(random, "score {gold} {system} -p own.toml -f json", corpus)
    return Case("protocol file", files, (score, ("protocols", "own.toml")))


def _setting(random: Random, corpus: Corpus) -> Case:
    """Give a parameter a value that it may not take."""
    protocol = random.choice(PROTOCOLS.names())
    parameters = resolve(protocol).parameters
    key = random.choice(sorted(parameters)) if parameters and random.random() < 0.9 else _word(random)
    choices = (parameters[key].choices if key in parameters else None) or ("0.5", "0", "1", "true", "type", "all", "[]")
    value = _word(random) if random.random() < 0.3 else str(random.choice(list(choices)))
    score = _command(random, f"score {{gold}} {{system}} -p {protocol} -f json", corpus)
    return Case("--set", corpus.files, ((*score, "--set", f"{key}={value}" if random.random() < 0.97 else key),))


def _names(random: Random, corpus: Corpus) -> Case:
    """Give names and numbers on the command line that nobody expects."""
    return Case("names", corpus.files, (_command(random, random.choice(NAME_COMMANDS), corpus),))


def _beside(random: Random, corpus: Corpus) -> Case:
    """Damage files beside a corpus: token tables, lists of files, source texts."""
    rows = b"".join(b"%d,%d\tword\t%d\t%d\n" % (n, n + 3, n, n + 3) for n in range(0, 300, 4))
    table = damaged(rows, random, _pieces())
    listed = damaged("\n".join(f"gold/{name}" for name in corpus.gold).encode(), random, (b"x",))
    # No path leads out of the working folder: `/` would be read as a corpus.
    listed = b"gold/".join(piece.replace(b"/", b"_") for piece in listed.replace(b"..", b"_").split(b"gold/"))
    files = {**corpus.files, "tables/norhaven-1.tab": table, "gold.list": listed, "source/D1.sgm": table}
    return Case("files beside", files, (_command(random, random.choice(BESIDE_COMMANDS), corpus),))


def _submissions(random: Random, corpus: Corpus) -> Case:
    """Damage a submission to a shared task: a file in a folder or archive, or the archive."""
    name = random.choice(sorted(corpus.system))
    spoiled = damaged(corpus.system[name], random, _pieces())
    files = {**corpus.files, **{f"tasks/a/{member}": data for member, data in corpus.system.items()}}
    archive = random.choice(("b.tar", "b.tar.gz", "b.zip"))
    how = random.random()
    if how < 0.5:
        files |= {f"tasks/a/{name}": spoiled, f"tasks/{archive}": _packed(archive, corpus.system)}
    elif how < 0.75:
        files[f"tasks/{archive}"] = _packed(archive, {**corpus.system, name: spoiled})
    else:
        member = random.choice(("../out", "/x", "a/../../b", "a\nb", "x" * 300, "a/b"))
        packed = _packed(archive, {**corpus.system, member: spoiled})
        files[f"tasks/{archive}"] = damaged(packed, random, _pieces())
    option = random.choice(("", "--anonymous", "--layout ace", "--layout plain", "--accept-faults"))
    template = f"campaign tasks --gold {{gold}} --jobs 1 --resamples 10 -o out {option}"
    return Case("submissions", files, (_command(random, template, corpus),))


def _packed(name: str, members: Files) -> bytes:
    data = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
            for member, content in members.items():
                packed.writestr(zipfile.ZipInfo(member), content)
        return data.getvalue()
    with tarfile.open(fileobj=data, mode="w:gz" if name.endswith(".gz") else "w:") as archive:
        for member, content in members.items():
            about = tarfile.TarInfo(member)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return data.getvalue()


def _word(random: Random) -> str:
    """Return a word that a shell can pass on, without slashes, which would lead out of the working folder."""
    pieces = random.choices((*BYTES, *WORDS, *NUMBERS, b"a", b"tac", b"type"), k=random.choice((1, 1, 2, 3)))
    return _text(b"".join(pieces)).replace("/", "_").replace("..", "_")


def _text(data: bytes) -> str:
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
