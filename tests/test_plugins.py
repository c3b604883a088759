"""A third party's measure, format and protocol, from a tiny package that karat has never seen."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

PACKAGE = {
    "shiny/__init__.py": "",
    "shiny/measure.py": '''
"""Does the system find as many mentions as gold has? A ratio of sums, nothing more."""
from typing import ClassVar
from msgspec import Struct
from karat.counts import Counts, Ratio
from karat.measures import Card, Outcome
from karat.tables.aligned import Alignment, CandidatePairs

class Sizes(Counts, frozen=True):
    system: int
    gold: int
    def ratios(self):
        return {"score": Ratio(self.system, self.gold)}

class Parameters(Struct, frozen=True):
    alignment: str

class Volume(Struct, frozen=True):
    kind: ClassVar = Sizes
    id: ClassVar = "shiny.volume"
    artefact: Alignment
    def count(self, table):
        return Sizes(len(table.system), len(table.gold))
    def outcomes(self, table):
        yield from (Outcome(mention, None, Sizes(0, 1)) for mention in table.gold)
        yield from (Outcome(None, mention, Sizes(1, 0)) for mention in table.system)

CARD = Card("Volume", {"shiny.volume": "how much was said"}, "N_S / N_G", "nobody, never")

def measures(parameters, setting):
    choice = setting.alignments[parameters.alignment]
    candidates = CandidatePairs(choice.similarity, (), setting.comparison)
    return [Volume(Alignment(candidates, (), choice.method, choice.threshold))]
''',
    "shiny/format.py": '''
"""One document a file, one `begin end` a line."""
from karat.formats import Block
from karat.model import Document, Mention

TITLE, SUFFIXES, PROTOCOLS, write = "pairs of numbers", (".pairs",), ("shiny-2027",), None

def sniff(head):
    return False

def blocks(stream, file):
    yield Block("only", 0, len(stream.read()), 1)

def parse(data, block, options, file, report):
    spans = [tuple(map(int, line.split())) for line in data.decode().splitlines()]
    return Document(block.id, mentions=tuple(Mention(f"m{n}", (span,)) for n, span in enumerate(spans)))
''',
    "shiny/protocol.py": "from pathlib import Path\nPATH = Path(__file__).with_name('shiny-2027.toml')\n",
    "shiny/shiny-2027.toml": """
title = "The shiny task of 2027"
[alignments.any]
[[measures]]
family = "shiny"
alignment = "any"
""",
    "shiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shiny\nVersion: 1.0\n",
    "shiny-1.0.dist-info/entry_points.txt": """
[karat.measures]
shiny = shiny.measure
[karat.formats]
pairs = shiny.format
[karat.protocols]
shiny-2027 = shiny.protocol:PATH
""",
    "gold.pairs": "0 4\n6 9\n",
    "system.pairs": "0 4\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("third-party")
    for name, text in PACKAGE.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def karat(folder: Path, *args: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "karat", *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_all_three_are_listed(folder: Path) -> None:
    assert "pairs" in karat(folder, "formats")
    assert "shiny.volume" in karat(folder, "measures")
    assert "The shiny task of 2027" in karat(folder, "protocols")
    assert "how much was said" in karat(folder, "explain", "shiny.volume")


def test_all_three_work_together(folder: Path) -> None:
    """The format is known by its suffix and chooses the protocol, which names the measure."""
    result = msgspec.json.decode(karat(folder, "score", "gold.pairs", "system.pairs", "--by", "kind", "-f", "json"))
    assert result["protocol"] == "shiny-2027"
    assert result["scores"] == {"shiny.volume": {"micro": {"score": 0.5, "counts": {"system": 1, "gold": 2}}}}
    assert result["by"]["kind"]["event"] == result["scores"]
    assert "protocol=shiny-2027@sha256:" in result["signature"]
