"""What all tests share: where the shared data are, and documents made at random or in a few words."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared data, or a skip that says where they were looked for."""
    if not SHARED.is_dir():
        pytest.skip(f"shared data not found at {SHARED} (set KARAT_SHARED)")
    return SHARED
