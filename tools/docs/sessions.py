"""Terminal and Python sessions in a page: what the copy button copies of them.

mkdocs-material copies the attribute `data-copy` of a block, if it has one, instead of the block's text.
"""

import html
import re

SESSION = re.compile(r'<div class="language-(console|pycon) highlight">(.*?)</div>', re.DOTALL)
# What precedes the first line of a command, and its further lines.
PROMPTS = {"console": ("$ ", "> "), "pycon": (">>> ", "... ")}


def with_commands_to_copy(page: str) -> str:
    """An HTML page whose sessions are copied as commands, without prompts and output."""
    return SESSION.sub(_marked, page)


def _marked(block: re.Match[str]) -> str:
    language, inner = block[1], block[2]
    text = html.unescape(re.sub(r"<[^>]+>", "", inner))
    copied = html.escape(commands(text, language)).replace("\n", "&#10;")
    return f'<div class="language-{language} highlight" data-copy="{copied}">{inner}</div>'


def commands(session: str, language: str) -> str:
    """The commands of a session as they are typed, one per line."""
    first, further = PROMPTS[language]
    typed: list[str] = []
    in_command = False
    for line in session.splitlines():
        in_command = line.startswith(first) or (in_command and f"{line} ".startswith(further))
        if in_command:
            typed.append(line[len(first) :])
    return "\n".join(typed)
