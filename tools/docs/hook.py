"""Puts the generated pages into the site while it is built; none of them is ever a file."""

from typing import Any

import reference
from mkdocs.structure.files import File, Files


def on_config(config: Any) -> Any:
    """A section of the navigation that is just a folder, `measures/`, becomes the pages that there are."""
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
    for place, markdown in reference.pages().items():
        files.append(File.generated(config, place, content=markdown))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the tables that a written page asks for."""
    return reference.filled(markdown)
