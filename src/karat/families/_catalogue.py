"""The registry of families, and the error classes of each kind of item."""

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
    own=lambda: modules_of(sys.modules["karat.families"], "FAMILY"),
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
    kind: ErrorKind = import_module(f"karat.families.{_ERRORS[errors_of]}").ERRORS
    return kind
