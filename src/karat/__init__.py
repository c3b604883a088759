"""karat scores event understanding: it measures how much gold there is in a system's output."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.api import Result, coref, read, score
    from karat.errors import KaratError, UsageError

__version__ = "0.1.0"
__all__ = ["KaratError", "Result", "UsageError", "__version__", "coref", "read", "score"]

_HOMES = {"KaratError": "errors", "UsageError": "errors"} | dict.fromkeys(("Result", "coref", "read", "score"), "api")


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `karat --help` starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"karat.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
