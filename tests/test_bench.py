"""The benchmark: nobody runs it often, so that it would break unnoticed."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.mark.slow
def test_the_table_has_each_family_at_three_sizes() -> None:
    command = [sys.executable, str(BENCH / "run.py"), "--quick", "--rounds", "1", "--family", "hierarchies"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    table, _, small = done.stdout.partition("\n\n| small")
    assert small
    _, _, head, _, *rows = table.splitlines()
    assert [len(row.split("|")) for row in rows] == [len(head.split("|"))] * 3
    assert [row.split("|")[2].strip() for row in rows] == ["5 documents", "50 documents", "500 documents"]
    assert float(rows[-1].split("|")[-2]) > 0  # how time grows
