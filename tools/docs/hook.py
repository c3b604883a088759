"""Adds the generated pages to the site while it is built; none of them is ever a file."""

from typing import Any

import declared
import reference
from mkdocs.structure.files import File, Files
from sessions import with_commands_to_copy


def on_config(config: Any) -> Any:
    """Replace a folder in the navigation, such as `measures/`, by its pages."""
    config.nav = [_expanded(entry) for entry in config.nav]
    return config


def _expanded(entry: Any) -> Any:
    if isinstance(entry, dict):
        return {title: _expanded(inner) for title, inner in entry.items()}
    if isinstance(entry, list):
        return [_expanded(inner) for inner in entry]
    return reference.listed(entry.removesuffix("/")) if entry.endswith("/") else entry


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for path, markdown in reference.pages().items():
        files.append(File.generated(config, path, content=markdown))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the generated tables of a written page."""
    return declared.filled(markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Let the copy button of a terminal session copy its commands alone."""
    return with_commands_to_copy(html)
