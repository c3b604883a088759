"""Notebooks run, and show what karat prints today. KARAT_RENEW=1 writes the new outputs."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbclient and ipykernel (karat[dev])")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient and ipykernel (karat[dev])")
pytest.importorskip("ipykernel", reason="notebooks need nbclient and ipykernel (karat[dev])")
pytest.importorskip("matplotlib", reason="figures need matplotlib (karat[plots])")

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def executed(notebook: Any, folder: Path) -> Any:
    """The notebook after a run in an empty folder, without what depends on the machine."""
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def shown(cell: Any) -> list[dict[str, Any]]:
    """The outputs of a cell. Of a picture, its text: another version of matplotlib may draw other paths."""
    found = []
    for output in cell.get("outputs", []):
        data = {key: "".join(value) for key, value in output.get("data", {}).items()}
        if "image/svg+xml" in data:
            data["image/svg+xml"] = " ".join(re.findall(r"<text[^>]*>([^<]*)", data["image/svg+xml"]))
            assert data["image/svg+xml"]
        found.append({"kind": output["output_type"], "text": "".join(output.get("text", "")), **data})
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_karat_prints(path: Path, tmp_path: Path) -> None:
    before = nbformat.read(path, as_version=4)
    after = executed(nbformat.read(path, as_version=4), tmp_path)
    if os.environ.get("KARAT_RENEW"):
        path.write_text(nbformat.writes(after) + "\n", encoding="utf-8")
    assert not list(tmp_path.iterdir())
    for one, other in zip(before.cells, after.cells, strict=True):
        assert shown(one) == shown(other), one.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_outputs_and_no_trace_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert re.findall(r"/(?:home|root|tmp|usr|work|Users)/", text) == []
    assert "image/svg+xml" in text
    assert '"output_type": "error"' not in text


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
