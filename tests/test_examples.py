"""The examples of every help text, run as they stand there in a folder that has the files they name."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from msgspec.structs import replace

import karat
from karat.cli.program import cli
from karat.model import Document, Region
from karat.studies import pilot
from karat.studies.papers import upadhyay_2016
from tests import ace_files
from tests.corpora import as_jsonl
from tests.running import Run, run

SHELL = frozenset("|<>")
ECB = """\
<Document doc_name="{name}.xml">{tokens}
<Markables><ACTION_OCCURRENCE m_id="1"><token_anchor t_id="1"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="2"><token_anchor t_id="4"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="3" RELATED_TO="" TAG_DESCRIPTOR="t" instance_id="ACT{topic}"/></Markables>
<Relations><CROSS_DOC_COREF r_id="1" note="ACT{topic}"><source m_id="1"/><target m_id="3"/></CROSS_DOC_COREF>
</Relations></Document>
"""


def ecb(topic: int, number: int) -> str:
    """A document of ECB+ with two events, one of which its topic has in every document."""
    words = f"won Team{topic} {'again' * number} said {'yesterday' * number} {topic}".split()
    tokens = "".join(f'<token t_id="{at}" sentence="0">{word}</token>' for at, word in enumerate(words, 1))
    return ECB.format(name=f"{topic}_{number}ecb", topic=topic, tokens=tokens)


ERE = """\
<deft_ere doc_id="D1" source_type="newswire">
  <entities><entity id="ent-1" type="PER" specificity="specific">
    <entity_mention id="m-1" noun_type="NAM" offset="0" length="4"><mention_text>Anna</mention_text></entity_mention>
  </entity></entities>
  <hoppers><hopper id="h-1"><event_mention id="em-1" type="movement" subtype="transportperson" realis="actual">
    <trigger offset="5" length="4">left</trigger>
    <em_arg entity_id="ent-1" entity_mention_id="m-1" role="person" realis="true">Anna</em_arg>
  </event_mention></hopper></hoppers>
</deft_ere>
"""


class Example(NamedTuple):
    """A line of a help text, and the command whose help it is."""

    owner: str
    line: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.line}"

    @property
    def arguments(self) -> list[str]:
        """The arguments of karat itself: all up to a pipe or a redirection."""
        return shlex.split(re.split(r"[|<>]", self.line)[0])[1:]


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    """The names of a group's commands, and the group itself."""
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield *path, name


COMMANDS = list(commands(cli))


def examples(*path: str) -> list[Example]:
    """The examples in the help that a command prints."""
    lines = map(str.strip, run(*path, "--help").out.splitlines())
    return [Example(" ".join(("karat", *path)), line) for line in lines if line.startswith("karat ")]


LONG = frozenset(("campaign", "demo", "lab", "reproduce", "--plot", "--jobs", "html"))
"""Examples that take more than a second: many systems, figures, processes."""

EXAMPLES = [
    pytest.param(example, marks=() if LONG.isdisjoint(example.arguments) else pytest.mark.slow)
    for path in COMMANDS
    for example in examples(*path)
]


def done(*args: str) -> Run:
    result = run(*args)
    assert result.code == 0, result.err
    return result


def in_tokens(document: Document, text: str, tables: Path) -> Document:
    """A document that counts in words, whose table is put beside the others; what is no whole word grows to one."""
    words = list(re.finditer(r"\w+|[^\w\s]", text))
    rows = [f"t{row}\t{word[0]}\t{word.start()}\t{word.end() - 1}\n" for row, word in enumerate(words)]
    (tables / f"{document.id}.tab").write_text("".join(rows))

    def touched(span: Region) -> Region:
        row = [
            n for n, word in enumerate(words) if any(word.start() < end and begin < word.end() for begin, end in span)
        ]
        return ((row[0], row[-1] + 1),)

    mentions = tuple(replace(mention, span=touched(mention.span)) for mention in document.mentions)
    return replace(document, unit="token", text=None, mentions=mentions)


def write_tokens(corpus: str, out: Path, tables: Path) -> None:
    """A corpus as TBF in token ids."""
    aside = out.with_suffix(".jsonl")
    texts = {document.id: document.text or "" for document in karat.read("gold.jsonl")}
    documents = [in_tokens(document, texts[document.id], tables) for document in karat.read(corpus)]
    aside.write_bytes(as_jsonl(*documents))
    done("convert", str(aside), str(out), "--tokens", str(tables), "--lossy")


def few(corpus: str) -> str:
    """Three documents of a TBF file: a campaign and its pages take long enough."""
    begin = "#BeginOfDocument"
    return "".join(begin + block for block in Path(corpus).read_text().split(begin)[1:4])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples name; in `tokens/` those that are others where offsets count tokens."""
    folder = tmp_path_factory.mktemp("desk")
    with as_file(files("karat") / "demo") as demo, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copy(demo / "gold.jsonl", "gold.jsonl")
        shutil.copy(demo / "literal.jsonl", "system.jsonl")
        for name in ("old", "new", "run1", "run2", "run3"):
            shutil.copy(demo / ("literal.jsonl" if name in ("old", "run1") else "eager.jsonl"), f"{name}.jsonl")
        done("convert", "gold.jsonl", "gold.jsonl.gz")
        shutil.copy("gold.jsonl.gz", "corpus.jsonl.gz")
        for side in ("gold", "system"):
            done("convert", f"{side}.jsonl", f"{side}.tbf", "--lossy")
        for name in ("baseline.tbf", "mine.tbf", "run1.tbf", "run2.tbf"):
            shutil.copy("system.tbf", name)
        for name in ("annotations", "gold", "submissions"):
            Path(name).mkdir()
        shutil.copy("gold.tbf", "annotations/all.tbf")
        Path("gold/all.tbf").write_text(few("gold.tbf"))
        for name in ("lemma", "NIST"):
            Path(f"submissions/{name}.tbf").write_text(few("system.tbf"))
        Path("annotations/README").write_text("How we annotated.\n")
        Path("files.txt").write_text("gold/all.tbf\n")
        done("convert", "gold.jsonl", "litbank", "--to", "brat", "--lossy")
        done("convert", "litbank", "litbank.jsonl")
        Path("ere").mkdir()
        Path("ere/D1.rich_ere.xml").write_text(ERE)
        for topic in (1, 2, 23, 26):
            Path(f"ecbplus/{topic}").mkdir(parents=True)
            for number in (1, 2):
                Path(f"ecbplus/{topic}/{topic}_{number}ecb.xml").write_text(ecb(topic, number))
        validated = [f"{topic},{number}ecb,0\n" for topic in (1, 2, 23, 26) for number in (1, 2)]
        Path("ecbplus/ECBplus_coreference_sentences.csv").write_text(
            "".join(("Topic,File,Sentence Number\n", *validated))
        )
        done("convert", "ecbplus", "sac.jsonl", "--topics", "26-45")
        for name, text in {"apf/D1.apf.xml": ace_files.apf(), "sgm/D1.sgm": ace_files.SGM}.items():
            Path(name).parent.mkdir()
            Path(name).write_text(text)
        shutil.copytree("apf", "ace/english/edr/NIST1_primary")
        Path("campaign.toml").write_text('submissions = "submissions"\ngold = "gold"\n')
        mentions = [m for side in ("gold", "system") for d in karat.read(f"{side}.jsonl") for m in d.mentions]
        Path("types.txt").write_text(
            "".join(f"{type_}\n" for type_ in sorted({m.attributes["type"] for m in mentions}))
        )
        Path("tables").mkdir()
        Path("tokens/gold").mkdir(parents=True)
        for side in ("gold", "system"):
            write_tokens(f"{side}.jsonl", Path(f"tokens/{side}.tbf"), Path("tables"))
        shutil.copy("tokens/gold.tbf", "tokens/gold/all.tbf")
    return folder


@pytest.fixture
def own_desk(desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to work on, where the simulated pilot of 2015 is small and ECB+ has the eight documents of the desk."""
    monkeypatch.setattr(pilot, "gold", lambda gold=pilot.gold: gold()[:20])
    monkeypatch.setitem(upadhyay_2016.TABLE_1, "documents", (4, 2, 2, 8))
    monkeypatch.chdir(shutil.copytree(desk, tmp_path / "desk"))
    return tmp_path / "desk"


def in_shell(line: str) -> Run:
    """Run by bash, in a process of its own."""
    place = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, env={**os.environ, "PATH": place}
    )
    return Run(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def promised(example: Example) -> list[Path]:
    """The outputs that an example names: after -o, as OUT, as a folder for copies, or behind a redirection."""
    command: click.Command = cli
    arguments = example.arguments
    while isinstance(command, click.Group):
        command = command.commands[arguments.pop(0)]
    with command.make_context(None, list(arguments)) as context:
        named = [context.params.get("output"), context.params.get("out")]
        if command.name == "demo" and context.params["into"] is not None:
            named = [context.params["into"]]
    named += re.findall(r">\s*(\S+)", example.line)
    return [Path(name) for name in named if name not in (None, "-")]


def removed(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(("karat", *path)))
def test_every_command_has_an_example(path: tuple[str, ...]) -> None:
    own = [example.arguments[: len(path)] for example in examples(*path)]
    assert list(path) in own


@pytest.mark.slow
@pytest.mark.usefixtures("own_desk")
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples_do_what_they_say(example: Example) -> None:
    if "--tokens" in example.arguments:
        shutil.copytree("tokens", ".", dirs_exist_ok=True)
    for path in promised(example):
        removed(path)
    result = in_shell(example.line) if SHELL & set(example.line) else run(*example.arguments)
    assert result.code == 0, result.err
    assert "Traceback" not in result.err
    assert "[token-" not in result.out + result.err, "the token tables are those of these files"
    written = promised(example)
    for path in written:
        assert any(path.iterdir()) if path.is_dir() else path.stat().st_size
    if not written:
        assert result.out
    if "json" in example.arguments:
        json.loads(written[0].read_text() if written else result.out)
