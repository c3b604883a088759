"""Adds the generated pages to the site, none of which is ever a file, and checks what the built site loads."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import declared
import reference
from formulas import formula
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from sessions import with_commands_to_copy

FORMULA = re.compile(r"^```formula\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    """Fill in the generated tables of a written page, and set its formulas."""
    return FORMULA.sub(lambda block: formula(block[1]), declared.filled(markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Let the copy button of a terminal session copy its commands alone."""
    return with_commands_to_copy(html)


def on_post_build(config: Any) -> None:
    """Refuse a site that makes a browser load anything from another server."""
    elsewhere = re.compile(r"\s*['\"]?(https?:)?//")
    for path in Path(config.site_dir).rglob("*.*"):
        if path.suffix == ".html":
            page = LoadedFiles()
            page.feed(path.read_text(encoding="utf-8"))
            loaded = page.urls
        elif path.suffix == ".css":
            found = re.findall(r"url\(([^)]*)\)|@import\s+([^;]*)", path.read_text(encoding="utf-8"))
            loaded = [url for pair in found for url in pair]
        else:
            continue
        if foreign := [url for url in loaded if elsewhere.match(url)]:
            raise PluginError(f"{path.name} loads {', '.join(foreign)}")


class LoadedFiles(HTMLParser):
    """URLs that a browser loads by itself to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the URLs of a tag."""
        values = {name: value or "" for name, value in attrs}
        self.urls += [values[name] for name in ("src", "srcset", "poster", "data") if name in values]
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            self.urls.append(values.get("href", ""))
        self.urls += re.findall(r"url\(([^)]*)\)", values.get("style", ""))
