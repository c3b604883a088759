"""Cases: files and the command lines that read them, made from a seed number and a run number."""

import gzip
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from io import BytesIO
from random import Random
from typing import NamedTuple

from fuzz.mutations import BYTES, NUMBERS, WORDS, mutated
from fuzz.seeds import Files, Seed, seeds
from karat.cli import cli
from karat.formats import FORMATS
from karat.measures import MEASURES
from karat.protocols import PROTOCOLS, resolve
from karat.studies.papers import PAPERS

Arguments = tuple[str, ...]


class Case(NamedTuple):
    """Files in an empty folder, and commands that run there one after the other."""

    kind: str
    """What was mutated: the name of a format, or what else a user gives."""
    edits: int
    files: Files
    commands: tuple[Arguments, ...]
    clean: Arguments | None = None
    """A `score` that must work if the first command, a `validate`, exits with 0."""
    shuffled: tuple[Files, Arguments] | None = None
    """Files with other documents first, and the last command on them, which must give the same scores."""


class _Known(NamedTuple):
    """Names that commands take."""

    seeds: list[Seed]
    formats: list[str]
    writable: list[str]
    protocols: list[str]
    files: tuple[bytes, ...]
    measures: list[str]


@cache
def _known() -> _Known:
    all_seeds = seeds()
    return _Known(
        all_seeds,
        FORMATS.names(),
        [name for name, format_ in FORMATS if format_.write is not None],
        PROTOCOLS.names(),
        tuple(data for seed in all_seeds for data in seed.gold.values()),
        [id_ for _, family in MEASURES for id_ in family.card.rows],
    )


def case(seed: int, number: int) -> Case:
    """The case of that number."""
    random = Random(f"{seed} {number}")
    make = random.choices(KINDS, WEIGHTS)[0]
    return make(random)


def _corpus(random: Random) -> Case:
    """A mutated corpus: validated, and then given to another command."""
    seed = random.choice(_known().seeds)
    sides = random.choice((["gold"], ["gold"], ["system"], ["system"], ["gold", "system"]))
    both = {"gold": dict(seed.gold), "system": dict(seed.system)}
    edits = 0
    for side in sides:
        name = random.choice(sorted(both[side]))
        both[side][name], made = mutated(both[side][name], random, _known().files)
        edits += made
    files = {f"{side}/{name}": data for side, chosen in both.items() for name, data in chosen.items()}
    gold, system = _path("gold", seed.gold), _path("system", seed.system)
    main = gold if "gold" in sides else system
    if main in files and random.random() < 0.05:
        files[f"{main}.gz"] = gzip.compress(files.pop(main), mtime=0)
        if random.random() < 0.5:
            files[f"{main}.gz"], _ = mutated(files[f"{main}.gz"], random, _known().files)
        gold, system = (f"{path}.gz" if path == main else path for path in (gold, system))
        main = f"{main}.gz"
    validate: Arguments = ("validate", main, "--format", "json")
    command = random.choices(COMMANDS, (20, 3, 4, 6, 6, 4, 1, 1, 1))[0]
    second, more = command(random, main, gold, system)
    return Case(
        seed.format, edits, {**files, **more}, (validate, second), ("score", main, main, "--format", "json"),
        _shuffled(random, files, second, gold),
    )  # fmt: skip


def _path(side: str, files: Files) -> str:
    """A corpus of one file is named by the file, and any other by its folder."""
    return f"{side}/{next(iter(files))}" if len(files) == 1 else side


def _score(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del main
    known, options = _known(), list[str]()
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        options += ["-p", random.choice(known.protocols)]
    options += ["-f", random.choice(("json", "json", "json", "json", "text", "csv", "markdown", "latex", "html"))]
    for flag in ("--details", "--errors", "--per-unit", "--per-document", "--strict", "--accept-faults", "--summary"):
        if random.random() < 0.12:
            options.append(flag)
    for option, values in (
        ("--by", ["type", "realis", "kind", "document", "topic", "source", "x"]),
        ("-m", [*known.measures, "coref", "nugget"]),
        ("--unit", ["char", "token"]),
        ("--gold-format", known.formats),
        ("--system-format", known.formats),
        ("--digits", ["0", "15"]),
        ("-o", ["out"]),
        ("--ci", ["0.95", "50"]),
    ):
        if random.random() < 0.06:
            options += [option, random.choice(values)]
    if "--ci" in options:
        options += ["--resamples", "20"]
    return ("score", gold, system, *options), {}


def _compare(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del main
    known, options = _known(), list[str]()
    if random.random() < 0.5:
        options += ["-p", random.choice(known.protocols)]
    for option, values in (
        ("--baseline", ["a", "b", "c"]),
        ("--sort-by", [*known.measures, "coref.b3"]),
        ("--seed", ["7"]),
        ("-o", ["out"]),
    ):
        if random.random() < 0.15:
            options += [option, random.choice(values)]
    form = random.choice(("json", "json", "text", "csv", "markdown", "latex"))
    return ("compare", gold, f"a={system}", f"b={gold}", "-f", form, "--resamples", "10", *options), {}


def _validate(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    options = random.choice(([], ["-f", "json"]))
    if main == system:
        options = [*options, "--against", gold]
    if random.random() < 0.3:
        options = [*options, "--types", "types.txt"]
    types, _ = mutated(b"Conflict_Attack\nLife_Die\nConflict_Demonstrate\n", random, _known().files)
    return ("validate", main, *options), {"types.txt": types}


def _describe(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    return ("describe", main, *random.choice(([], ["-f", "json"], ["-f", "json", "-o", "out"], ["--most", "0"]))), {}


def _convert(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    to = random.choice(_known().writable)
    lossy = ["--lossy"] if random.random() < 0.7 else []
    return ("convert", main, random.choice(("out", "out", "-")), "--to", to, *lossy), {}


def _simulate(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    output = ["-o", "out", "--to", random.choice(_known().writable)] if random.random() < 0.8 else []
    options: list[str] = []
    for rate in ("miss", "split", "merge", "boundary", "break", "conflate", "drop-link", "reverse-link", "spurious"):
        if random.random() < 0.4:
            options += [f"--{rate}", random.choice(("0.2", "0.5", "1"))]
    if random.random() < 0.3:
        options += ["--attribute", random.choice(("type=0.5", "realis=1", "x=1"))]
    return ("simulate", main, "--seed", str(random.randint(0, 9)), *options, *output), {}


def _lab(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    measure = random.choice(("nugget", "coref.b3", "coref.muc", "coref.blanc", "hierarchy", "sequence", "ace", "muc"))
    form = random.choice(([], ["-f", "json"], ["-f", "csv"]))
    return ("lab", measure, "--gold", main, "--steps", "3", "--orders", "1", *form), {}


def _audit(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    plant = ["--plant", "0.5"] if random.random() < 0.3 else []
    return ("audit", main, "-f", random.choice(("json", "text", "csv", "html")), "--threshold", "0.1", *plant), {}


def _baseline(random: Random, main: str, gold: str, system: str) -> tuple[Arguments, Files]:
    del gold, system
    name = random.choice(("lemma", "lemma", "lemma-wd", "lemma-delta", "sac"))
    output = ["-o", "out", "--to", random.choice(_known().writable)] if random.random() < 0.5 else []
    return ("baseline", name, main, *output), {}


COMMANDS: tuple[Callable[[Random, str, str, str], tuple[Arguments, Files]], ...] = (
    _score,
    _compare,
    _validate,
    _describe,
    _convert,
    _simulate,
    _lab,
    _audit,
    _baseline,
)


def _shuffled(random: Random, files: Files, command: Arguments, gold: str) -> tuple[Files, Arguments] | None:
    """Sometimes: the same `score` of JSON, with the files of both sides listed in another order."""
    if command[0] != "score" or "json" not in command or {"--details", "-o"} & {*command} or random.random() > 0.2:
        return None
    if gold != "gold":
        return None  # repeats.py shuffles the documents of a single file
    lists: Files = {}
    for side in ("gold", "system"):
        names = [name for name in files if name.startswith(f"{side}/")]
        random.shuffle(names)
        lists[f"{side}.list"] = "\n".join(names).encode()
    return {**files, **lists}, ("score", "@gold.list", "@system.list", *command[3:])


def _protocol(random: Random) -> Case:
    """A mutated protocol file."""
    name = random.choice(_known().protocols)
    text, edits = mutated(PROTOCOLS.get(name).read_bytes(), random, _known().files)
    seed = random.choice(_known().seeds)
    gold, system = _path("gold", seed.gold), _path("system", seed.system)
    score = ("score", gold, system, "-p", "own.toml", "-f", "json")
    return Case("protocol file", edits, {**_sides(seed), "own.toml": text}, (score, ("protocols", "own.toml")))


def _setting(random: Random) -> Case:
    """A parameter with a value that it may not take."""
    seed = random.choice(_known().seeds)
    protocol = random.choice(_known().protocols)
    keys = sorted(resolve(protocol).parameters)
    settings: list[str] = []
    for _ in range(random.choice((1, 1, 2))):
        key = random.choice(keys) if keys and random.random() < 0.9 else _word(random)
        value = random.choice((_word(random), _choice(random, protocol, key), _choice(random, protocol, key)))
        settings += ["--set", f"{key}={value}" if random.random() < 0.97 else key]
    gold, system = _path("gold", seed.gold), _path("system", seed.system)
    score = ("score", gold, system, "-p", protocol, "-f", "json", *settings)
    return Case("--set", 1, _sides(seed), (score,))


def _choice(random: Random, protocol: str, key: str) -> str:
    parameter = resolve(protocol).parameters.get(key)
    choices = (parameter.choices if parameter is not None else None) or ["0.5", "0", "1", "true", "type", "all", "[]"]
    return str(random.choice(list(choices)))


def _names(random: Random) -> Case:
    """Names and numbers of the command line that nobody expects."""
    seed = random.choice(_known().seeds)
    gold, system = _path("gold", seed.gold), _path("system", seed.system)
    word = _word(random)
    near = random.choice([*_known().protocols, *_known().measures, *_known().formats])
    near, _ = _text(mutated(near.encode(), random, (b"x",)))
    command = random.choice(
        (
            ("explain", word),
            ("explain", near),
            ("protocols", word),
            ("protocols", near),
            ("help", word),
            ("score", gold, system, "-p", near),
            ("score", gold, system, "-m", random.choice((near, word))),
            ("score", gold, system, "--by", word, "-f", "json"),
            ("score", gold, system, "--topics", word),
            ("score", gold, system, "--digits", word),
            ("score", gold, system, "--gold-format", near),
            ("score", gold, word),
            ("score", word, system),
            ("score", gold, system, "--ci", word),
            ("compare", gold, system, word),
            ("compare", gold, f"{word}={system}", gold, "--resamples", "10"),
            ("compare", gold, system, gold, "--resamples", "10", "--baseline", word),
            ("validate", word, gold),
            ("validate", gold, "--types", word),
            ("validate", gold, "--against", word),
            ("describe", gold, "--topics", word),
            ("describe", gold, "--max-bytes", word),
            ("describe", f"@{word}"),
            ("convert", gold, f"out/{word}"),
            ("convert", gold, word.replace("..", "_") or "out", "--to", "jsonl", "--lossy"),
            ("convert", gold, "out", "--to", near),
            ("convert", gold, "out", "--to", "brat", "--lossy", "--coreference", word),
            ("simulate", gold, "--miss", word),
            ("simulate", gold, "--attribute", f"type={word}"),
            ("simulate", gold, "--attribute", word),
            ("simulate", gold, "--seed", word, "-o", "out.jsonl"),
            ("lab", near, "--gold", gold, "--steps", "2", "--orders", "1"),
            ("reproduce", near, gold),
            ("reproduce", random.choice(PAPERS.names()), random.choice((word, gold))),
            ("demo", "--to", "out"),
            ("completion", near),
            (random.choice(sorted(cli.commands)), gold, system),
            (random.choice(sorted(cli.commands)), "--help"),
            (near, gold),
            (word,),
        )
    )
    return Case("names", 1, _sides(seed), (command,))


def _beside(random: Random) -> Case:
    """Files beside a corpus: token tables, lists of files, source texts."""
    known = _known()
    seed = random.choice(known.seeds)
    files, gold, system = _sides(seed), _path("gold", seed.gold), _path("system", seed.system)
    rows = b"".join(b"%d,%d\tword\t%d\t%d\n" % (n, n + 3, n, n + 3) for n in range(0, 300, 4))
    table, edits = mutated(rows, random, known.files)
    listed, _ = mutated("\n".join(name for name in files if name.startswith("gold/")).encode(), random, (b"x",))
    # No path leads out of the working folder: `/` would be read as a corpus.
    listed = b"gold/".join(piece.replace(b"/", b"_") for piece in listed.replace(b"..", b"_").split(b"gold/"))
    more = {"tables/norhaven-1.tab": table, "gold.list": listed, "source/D1.sgm": table}
    command = random.choice(
        (
            ("score", gold, system, "--tokens", "tables", "-f", "json"),
            ("score", gold, system, "--tokens", "tables", "--unit", "token", "-f", "json"),
            ("validate", gold, "--tokens", "tables", "-f", "json"),
            ("convert", gold, "out", "--tokens", "tables", "--to", random.choice(known.writable), "--lossy"),
            ("score", "@gold.list", system, "-f", "json"),
            ("validate", "@gold.list", "-f", "json"),
            ("score", gold, system, "--sources", "source", "-f", "json"),
            ("validate", gold, "--sources", "source", "-f", "json"),
        )
    )
    return Case("files beside", edits, {**files, **more}, (command,))


def _submissions(random: Random) -> Case:
    """The folder of a shared task: submissions as folders and archives, one of them damaged."""
    seed = random.choice(_known().seeds)
    name = random.choice(sorted(seed.system))
    damaged, edits = mutated(seed.system[name], random, _known().files)
    files = {**_sides(seed), **{f"tasks/a/{one}": data for one, data in seed.system.items()}}
    archive = random.choice(("b.tar", "b.tar.gz", "b.zip"))
    if random.random() < 0.5:
        files[f"tasks/a/{name}"] = damaged
        files[f"tasks/{archive}"] = _archive(archive, seed.system)
    elif random.random() < 0.5:
        files[f"tasks/{archive}"] = _archive(archive, {**seed.system, name: damaged})
    else:
        members = {**seed.system, random.choice(("../out", "/x", "a/../../b", "a\nb", "x" * 300, "a/b")): damaged}
        files[f"tasks/{archive}"], edits = mutated(_archive(archive, members), random, _known().files)
    form = random.choice(([], ["--anonymous"], ["--layout", "ace"], ["--layout", "plain"], ["--accept-faults"]))
    gold = _path("gold", seed.gold)
    campaign = ("campaign", "tasks", "--gold", gold, "--jobs", "1", "--resamples", "10", "-o", "out", *form)
    return Case("submissions", edits, files, (campaign,))


def _archive(name: str, members: Files) -> bytes:
    data = BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
            for member, content in members.items():
                packed.writestr(zipfile.ZipInfo(member), content)
    else:
        with tarfile.open(fileobj=data, mode="w:gz" if name.endswith(".gz") else "w:") as archive:
            for member, content in members.items():
                about = tarfile.TarInfo(member)
                about.size = len(content)
                archive.addfile(about, BytesIO(content))
    return data.getvalue()


def _sides(seed: Seed) -> Files:
    gold = {f"gold/{name}": data for name, data in seed.gold.items()}
    return {**gold, **{f"system/{name}": data for name, data in seed.system.items()}}


def _word(random: Random) -> str:
    """A word that a shell can pass on, which excludes zero bytes. A slash would lead out of the working folder."""
    pieces = random.choices((*BYTES, *WORDS, *NUMBERS, b"a", b"tac", b"type"), k=random.choice((1, 1, 2, 3)))
    return _text((b"".join(pieces), 0))[0].replace("/", "_")


def _text(given: tuple[bytes, int]) -> tuple[str, int]:
    return given[0].replace(b"\0", b"").decode("utf-8", "surrogateescape"), given[1]


KINDS: tuple[Callable[[Random], Case], ...] = (_corpus, _protocol, _setting, _names, _beside, _submissions)
WEIGHTS = (80, 7, 5, 4, 4, 1)
