"""Measures: one module per family, each formula in one place, in the paper's words.

A family is a `karat.plugin.Family` that its module offers as `FAMILY`: what `karat explain` says about it, the
parameters that a protocol may give, and `measures(parameters, setting)`, the rows of one run. Another package offers
one through the entry-point group `karat.measures`.
"""

import sys
from typing import Any

from karat.plugin import Family
from karat.registry import Registry, instance_of, modules_of

MEASURES: Registry[Family[Any]] = Registry(
    __name__,
    "measure",
    own=lambda: modules_of(sys.modules[__name__], "FAMILY"),
    accept=instance_of(Family),
    listed_by="karat measures",
)
