"""`karat campaign new`."""

from pathlib import Path

import click

from karat.cli._folders import copy_new
from karat.cli._options import settings_option
from karat.cli._output import refuse_overwriting
from karat.cli._parameters import FILE
from karat.cli._scoring import protocol_option
from karat.problems import UsageError

EPILOG = """\b
Examples:
  karat campaign new my-task/
  karat campaign new my-task/ --gold gold/ -p tac-2017 --title "Event nuggets 2027"
  karat campaign new bundle/ --gold gold/ -p tac-2017 --codabench --docker-image me/karat:1

Without --gold, the template has karat's demo corpus and three submissions, and runs as it is.
"""


@click.command(epilog=EPILOG)
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--gold", metavar="PATH", type=FILE, help="Gold to copy: a folder or a file.")
@protocol_option
@settings_option
@click.option("--tokens", metavar="DIR", type=FILE, help="Folder of token tables (ID.tab) to copy.")
@click.option("--title", metavar="TEXT", help="Title of the shared task. Default: the name of DIR.")
@click.option("--codabench", is_flag=True, help="Write a competition bundle for Codabench instead.")
@click.option(
    "--docker-image", metavar="NAME", help="With --codabench: Docker image to score in; it must contain karat."
)
def new(
    folder: str,
    gold: str | None,
    protocols: tuple[str, ...],
    settings: tuple[str, ...],
    tokens: str | None,
    title: str | None,
    codabench: bool,
    docker_image: str | None,
) -> None:
    """Write a template for a shared task to DIR.

    Never overwrites a file. The template has gold, campaign.toml with the options of `karat campaign`, and a folder for
    participants: a page with the commands to validate and score locally, and the documents without annotations.
    """
    from karat import __version__
    from karat.campaign.template import Template
    from karat.protocols import parse_setting, resolve_all

    if docker_image is not None and not codabench:
        raise UsageError("image-codabench", "--docker-image is for --codabench", "Use both or none.")
    values = dict(map(parse_setting, settings))
    resolve_all(protocols, values if protocols else {})
    refuse_overwriting(folder, folder=gold)
    name = title or Path(folder).resolve().name
    image = docker_image or f"karat:{__version__}"
    template = Template(gold, protocols, values, tokens=tokens, title=name, image=image)
    files = template.codabench() if codabench else template.campaign()
    copy_new({Path(folder, path): content for path, content in files.items()})
    for path in files:
        click.echo(Path(folder, path))
    if codabench:
        click.echo(f"Zip the files of {folder} and upload the zip to Codabench.", err=True)
    else:
        click.echo(f"Next: karat campaign --config {Path(folder, 'campaign.toml')}", err=True)
