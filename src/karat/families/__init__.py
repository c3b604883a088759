"""Measures: one module per family, with formulas in the notation of the papers.

A family is a `karat.plugin.Family` that its module offers as `FAMILY`: what `karat explain` says about it, the
parameters that a protocol may give, and `measures(parameters, setting)`, the entries of a result. Another package
offers one through the entry-point group `karat.measures`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat.plugin import ErrorsOf, Family
from karat.registry import Registry, instance_of, modules_of

if TYPE_CHECKING:
    from karat.insight.units import ErrorKind

MEASURES: Registry[Family[Any]] = Registry(
    "karat.measures",
    "measure",
    own=lambda: modules_of(sys.modules[__name__], "FAMILY"),
    accept=instance_of(Family),
    listed_by="karat measures",
)

_ERRORS: dict[ErrorsOf, str] = {
    "mentions": "nugget.errors",
    "clusters": "coref.errors",
    "anaphors": "coref.zero_errors",
    "links": "hierarchy.errors",
    "elements": "ace.errors",
    "arguments": "arg.errors",
    "relations": "relation.errors",
}


def error_kind(errors_of: ErrorsOf) -> "ErrorKind":
    """Load the error classes of one kind of item."""
    kind: ErrorKind = import_module(f"{__name__}.{_ERRORS[errors_of]}").ERRORS
    return kind
