"""The laws of every measure, protocol and format that is installed, as one suite of tests.

    python -m pytest --pyargs karat.testing.suite

The tests ask karat's registries, so plug-ins of other packages take part as soon as they are installed. Each test
checks the laws of one plug-in on many small corpora, and shows the smallest one that breaks a law. This needs pytest
and hypothesis (`pip install karat[testing]`).
"""

import pytest

from karat.families import MEASURES
from karat.formats import FORMATS
from karat.protocols import PROTOCOLS, resolve
from karat.testing.checks import check, takes_defaults

__all__ = [
    "test_every_family_is_used_or_has_defaults",
    "test_laws_of_families",
    "test_laws_of_formats",
    "test_laws_of_protocols",
]


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_laws_of_protocols(name: str) -> None:
    """Check the laws of every protocol, and those that this one promises."""
    check(name)


@pytest.mark.parametrize("name", MEASURES.names())
def test_laws_of_families(name: str) -> None:
    """Check the laws of a family on its own; a family without default parameters is checked by its protocols alone."""
    family = MEASURES.get(name)
    if not takes_defaults(family):
        pytest.skip(f"{name} needs the parameters of a protocol")
    check(family)


def test_every_family_is_used_or_has_defaults() -> None:
    """No family escapes both tests above."""
    used = {choice.name for name in PROTOCOLS.names() for choice in resolve(name).families}
    escaped = [name for name, family in MEASURES if name not in used and not takes_defaults(family)]
    assert not escaped, f"no protocol checks {', '.join(escaped)}"


@pytest.mark.parametrize("name", FORMATS.names())
def test_laws_of_formats(name: str) -> None:
    """A format reads or refuses anything, and reads back what it writes."""
    check(FORMATS.get(name))
