"""Options of the Python API: values of a wrong kind are refused in a sentence, before anything is read."""

from collections.abc import Callable
from functools import wraps
from os import PathLike, fspath
from types import UnionType
from typing import Any, ParamSpec, TypeVar, get_args

import msgspec

from karat.decoding import UNUSABLE, builtins, choices, explained
from karat.problems import UsageError

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check keyword arguments by their annotations; numbers of numpy become Python's."""
    kinds = {name: function.__annotations__[name] for name in getattr(function, "__kwdefaults__", None) or ()}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name, value in options.items():
            if name in kinds:
                options[name] = argument(name, value, kinds[name])
        return function(*args, **options)

    return call


def argument(name: str, value: object, kind: Any) -> Any:
    """Return an argument as the kind of value that it must be."""
    if type(value) in (get_args(kind) if isinstance(kind, UnionType) else (kind,)):
        return value  # nearly always, and msgspec takes ten microseconds to look at a kind
    try:
        return msgspec.convert(builtins(fspath(value) if isinstance(value, PathLike) else value), kind)
    except UNUSABLE as error:
        allowed = choices(kind)
        hint = f"Choose one of {', '.join(allowed)}." if allowed else "Call help() on the function for its arguments."
        raise UsageError("argument-kind", explained(error, name), hint) from None
