"""Checks the laws that a measure, a format or a protocol promises on many small corpora.

    from karat.testing import check

    def test_my_plugins():
        check(my_package.measure)                 # a module that offers FAMILY or FORMAT, or one of these
        check(my_package.format, samples=["tests/one.pairs"])
        check("my-protocol.toml")                 # a protocol, by name or file

`karat.testing.suite` checks everything that is installed: `python -m pytest --pyargs karat.testing.suite`.

A broken law raises an AssertionError that names the law, says what differs, and shows the smallest corpora that break
it. This needs hypothesis (`pip install karat[testing]`).
"""

from karat.testing.checks import check

__all__ = ["check"]
