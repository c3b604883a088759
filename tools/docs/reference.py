"""The generated pages: one per measure family, protocol and format, the commands, the errors by code.

They come from what the code declares, so a new measure, protocol, format, command or rule has its page or its row
without an edit here. The functions return Markdown and do not depend on the program that builds the site.
"""

from pathlib import Path

import catalogue
import errors
import interface

from karat.families import MEASURES
from karat.formats import FORMATS
from karat.protocols import PROTOCOLS

ROOT = Path(__file__).parents[2]


def pages() -> dict[str, str]:
    """Every generated page: its path and its Markdown."""
    return {
        "measures/index.md": catalogue.measure_index(),
        **{f"measures/{name}.md": catalogue.measure_page(name) for name in MEASURES.names()},
        "protocols/index.md": catalogue.protocol_index(),
        **{f"protocols/{name}.md": catalogue.protocol_page(name) for name in PROTOCOLS.names()},
        "formats/index.md": catalogue.format_index(),
        **{f"formats/{name}.md": catalogue.format_page(name) for name in FORMATS.names()},
        **interface.command_pages(),
        "errors.md": errors.errors_page(),
        "concepts/glossary.md": (ROOT / "src/karat/cli/glossary.md").read_text(encoding="utf-8"),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "]("),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }


def listed(section: str) -> list[str | dict[str, str]]:
    """A generated section of the navigation: its index, then its pages by name."""
    if section == "commands":
        pages = [path for path in interface.command_pages() if path != "commands/index.md"]
        return ["commands/index.md", *({f"karat {Path(path).stem.replace('-', ' ')}": path} for path in pages)]
    names = {"measures": MEASURES.names, "protocols": PROTOCOLS.names, "formats": FORMATS.names}[section]()
    return [f"{section}/index.md", *({name: f"{section}/{name}.md"} for name in names)]
