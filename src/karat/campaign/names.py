"""Names of the members of a submission: relative paths that mean the same everywhere, or a refusal."""

import re

from karat.errors import KaratError, Rule, quoted

PATH = Rule("archive-path", "fatal", "Pack only relative paths that stay below the folder of the submission.")
NAME = Rule("archive-name", "fatal", "Rename it: names are UTF-8, without control characters, backslashes and drives.")

_WRONG = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]|^[A-Za-z]:")
LONGEST = 1000
"""Characters of a name."""


def member_name(raw: str, file: str) -> str:
    """The name with its parts joined by `/`; empty for the folder itself. `raw` has surrogates for bytes not UTF-8."""
    shown = quoted(raw.encode("utf-8", "backslashreplace").decode())
    if raw.startswith("/") or ".." in raw.split("/"):
        raise PATH.error(f"member {shown} leads out of the archive", file=file)
    if _WRONG.search(raw) or len(raw) > LONGEST:
        raise _bad_name(shown, raw, file)
    return "/".join(part for part in raw.split("/") if part not in ("", "."))


def _bad_name(shown: str, raw: str, file: str) -> KaratError:
    if re.search(r"[\ud800-\udfff]", raw):
        return NAME.error(f"the name of member {shown} is not UTF-8", file=file)
    if len(raw) > LONGEST:
        return NAME.error(f"the name of member {shown} has more than {LONGEST:,} characters", file=file)
    return NAME.error(f"member {shown} has a name that other systems read as something else", file=file)


def is_hidden(name: str) -> bool:
    """Whether a member is no part of a submission: hidden files, and what some programs add to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))
