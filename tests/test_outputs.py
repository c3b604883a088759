"""Outputs: complete or not at all, never over an input, and never in place of what is not a file."""

import gzip
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from karat.cli._folders import replace_folder
from karat.cli._streams import Stopped, stopping_signals
from karat.problems import KaratError
from tests.running import command, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="devices, pipes and signals of Unix")

TBF = "#BeginOfDocument d1\ns\td1\tE1\t0,4\tAnna\tLife_Die\tActual\n#EndOfDocument\n"
TOKENS = "#BeginOfDocument d1\ns\td1\tE1\tt1\tAnna\tLife_Die\tActual\n#EndOfDocument\n"
JSONL = '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]], "attributes": {"type": "A"}}]}\n'
PROTOCOL = (
    "title = 'mine'\nextends = 'base.toml'\n[[measures]]\nfamily = 'nugget'\nalignment = 'a'\n[alignments.a]\n"
    "[parameters.types]\ndefault = ''\nhelp = ''\nfile = true\n[[filters]]\nname = 'types'\nfile = '{types}'\n"
)
APF = Path("src/karat/studies/data/ace").absolute()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "gold.tbf": TBF,
        "system.tbf": TBF,
        "tokens.tbf": TOKENS,
        "two.tbf": TOKENS + TOKENS.replace("d1", "d2"),
        "tables/d1.tab": "t1\tAnna\n",
        "types.txt": "Life_Die\n",
        "mine.toml": PROTOCOL,
        "base.toml": "title = 'base'\nmeasures = []\n",
        "folder/a.tbf": TBF,
        "folder/deep/b.tbf": TBF.replace("d1", "d2"),
        "files.list": "gold.tbf\n",
        "brat/d1.ann": "T1\tA 0 4\tAnna\n",
        "brat/d1.txt": "Anna\n",
        "gold.jsonl": JSONL,
        "clusters.json": '{"doc_key": "d1", "clusters": [["m1"]]}\n',
    }
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)
    Path("gold.jsonl.gz").write_bytes(gzip.compress(JSONL.encode()))
    Path("linked.tbf").symlink_to("gold.tbf")
    shutil.copytree(APF, "apf")
    return tmp_path


def tree(folder: Path = Path()) -> dict[str, bytes]:
    """Every file with its content."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


DESTROYING = [
    "score gold.tbf system.tbf -o gold.tbf",
    "score gold.tbf system.tbf -o system.tbf",
    "score gold.tbf system.tbf -o ./folder/../gold.tbf",
    "score linked.tbf system.tbf -o gold.tbf",
    "score gold.tbf system.tbf -o linked.tbf",
    "score folder folder -o folder/deep/b.tbf",
    "score @files.list system.tbf -o gold.tbf",
    "score @files.list system.tbf -o files.list",
    "score gold.jsonl.gz gold.jsonl -o gold.jsonl.gz",
    "score gold.tbf system.tbf -p mine.toml -o mine.toml",
    "score gold.tbf system.tbf -p mine.toml -o base.toml",
    "score gold.tbf system.tbf -p mine.toml --set types=types.txt -o types.txt",
    "score gold.tbf system.tbf -p tac-2017 --set types=types.txt -o types.txt",
    "score tokens.tbf tokens.tbf --tokens tables -o tables/d1.tab",
    "score brat brat -o brat/d1.txt",
    "score apf apf -p ace-2005 --accept-faults -o apf/norvik.sgm",
    "score apf apf -p ace-2005 --accept-faults --sources apf -o apf/norvik.sgm",
    "validate gold.tbf -o gold.tbf",
    "validate folder -o folder/a.tbf",
    "validate @files.list -o gold.tbf",
    "validate @files.list -o files.list",
    "validate gold.tbf --types types.txt -o types.txt",
    "validate tokens.tbf --tokens tables -o tables/d1.tab",
    "validate brat -o brat/d1.txt",
    "describe folder -o folder/a.tbf",
    "describe brat -o brat/d1.txt",
    "convert gold.tbf gold.tbf --to jsonl",
    "convert @files.list files.list --to jsonl",
    "convert folder folder/a.jsonl",
    "convert tokens.tbf tables/d1.tab --to jsonl --tokens tables",
    "convert brat brat/d1.txt --to jsonl",
    "simulate gold.tbf -o gold.tbf",
    "simulate @files.list -o files.list --to tbf",
    "simulate tokens.tbf --tokens tables --to tbf -o tables/d1.tab",
    "lab nugget.span --gold gold.tbf -p mine.toml --steps 2 --orders 1 -o mine.toml",
    "lab nugget.span --gold gold.tbf --steps 2 --orders 1 -o gold.tbf",
    "lab nugget.span --gold picture.svg --input-format tbf --steps 2 --orders 1 --plot picture.svg",
    "lab nugget.span --gold gold.tbf --steps 2 --orders 1 --plot picture.svg -o picture.svg",
    "score gold.tbf picture.svg --system-format tbf --plot picture.svg",
    "score gold.tbf picture.svg.csv --system-format tbf --plot picture.svg",
    "compare gold.tbf picture.svg --system-format tbf --plot picture.svg",
    # Nothing is written before everything has been read:
    "score gold.tbf system.tbf -p tac-2017 --set types=types.txt --plot scores=new.svg -o types.txt",
    "score gold.tbf system.tbf --plot scores=new.svg -o new.svg.csv",
    "score two.tbf two.tbf --tokens tables --jobs 2 -o tables/d1.tab",  # only other processes open the table
    "score gold.jsonl gold.jsonl -p wikievents-2021 --set clusters=clusters.json -o clusters.json",
    "reproduce upadhyay-2016 folder -o folder/a.tbf",
    "reproduce upadhyay-2016 gold.tbf -o gold.tbf",
    "campaign new folder --gold folder",
    "campaign new folder/new --gold folder",
]


@pytest.mark.parametrize("args", DESTROYING)
def test_no_output_replaces_an_input(args: str) -> None:
    for name in re.findall(r" (picture\S+) --\w+-format", args):
        Path(name).write_text(TBF)
    before = tree()
    done = run(*args.split())
    assert (done.code, done.out) == (1, "")
    assert "[output-unwritable]" in done.err
    assert tree() == before


def test_no_output_replaces_standard_input() -> None:
    with open("system.tbf", "rb") as stdin:
        done = subprocess.run([*KARAT, "score", "gold.tbf", "-", "-o", "system.tbf"], stdin=stdin, capture_output=True)
    assert (done.returncode, Path("system.tbf").read_text()) == (1, TBF)


def test_standard_output_is_not_appended_to_an_input() -> None:
    with open("system.tbf", "ab") as stdout:
        done = subprocess.run([*KARAT, "score", "gold.tbf", "system.tbf"], stdout=stdout, stderr=subprocess.PIPE)
    assert (done.returncode, Path("system.tbf").read_text()) == (1, TBF)
    assert b"standard output: " in done.stderr


def test_demo_replaces_nothing() -> None:
    Path("demo").mkdir()
    Path("demo/gold.jsonl").symlink_to("nowhere")
    assert run("demo", "--into", "demo").code == 1
    assert [path.name for path in Path("demo").iterdir()] == ["gold.jsonl"]
    assert not Path("demo/nowhere").exists()
    done = run("demo", "--into", "gold.tbf")
    assert (done.code, "output-unwritable" in done.err) == (1, True)


# What is not a file

KARAT = [shutil.which("karat", path=str(Path(sys.executable).parent)) or "karat"]
SCORE = ["score", "gold.tbf", "system.tbf", "-p", "tac-2017"]


def test_devices_are_written_to() -> None:
    if os.geteuid() == 0:
        null = "null"
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    else:
        null = "/dev/null"
    assert command(*SCORE, "-o", null).code == 0
    assert stat.S_ISCHR(Path(null).stat().st_mode)
    done = command(*SCORE, "-o", "/dev/full")
    assert (done.code, "/dev/full: No space left on device [output-unwritable]" in done.err) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name(place: str) -> None:
    wanted = run(*SCORE)
    assert command(*SCORE, "-o", place) == wanted
    with open("both.txt", "ab") as stdout:
        stdout.write(b"before\n")
        stdout.flush()
        subprocess.run([*KARAT, *SCORE, "-o", place], stdout=stdout, check=True, stderr=subprocess.DEVNULL)
    assert Path("both.txt").read_text() == "before\n" + wanted.out


def test_a_pipe_is_written_to() -> None:
    os.mkfifo("pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_bytes()))
    reader.start()
    assert command("convert", "gold.tbf", "pipe", "--to", "jsonl").code == 0
    reader.join()
    assert json.loads(received[0])["id"] == "d1"
    assert Path("pipe").is_fifo()


def test_links_are_followed() -> None:
    Path("real.txt").write_text("old\n")
    Path("link.txt").symlink_to("real.txt")
    Path("new.txt").symlink_to("folder/new.txt")
    Path("loop.txt").symlink_to("loop.txt")
    for name in ("link.txt", "new.txt"):
        assert run(*SCORE, "-o", name).code == 0
        assert Path(name).is_symlink()
    assert Path("real.txt").read_text() == Path("folder/new.txt").read_text() != "old\n"
    done = run(*SCORE, "-o", "loop.txt")
    assert (done.code, "[output-unwritable]" in done.err) == (1, True)
    Path("empty").mkdir()
    Path("to-empty").symlink_to("empty")
    assert run("convert", "brat", "to-empty", "--to", "brat").code == 0
    assert Path("empty/d1.ann").is_file()


def test_an_output_keeps_its_mode() -> None:
    Path("scores.txt").write_text("old\n")
    Path("scores.txt").chmod(0o640)
    assert run(*SCORE, "-o", "scores.txt").code == 0
    assert stat.S_IMODE(Path("scores.txt").stat().st_mode) == 0o640


# Faults: whatever happens, the old output is whole or the new one is, and the next run clears up

POINTS = """
import os, signal, sys
from karat.cli import main
point, calls = int(sys.argv.pop(1)), 0

def count(event, args):
    global calls
    if event in ("open", "os.rename", "os.chmod", "tempfile.mkstemp", "tempfile.mkdtemp", "os.mkdir", "os.remove"):
        if "karat-" in str(args) or "out" in os.path.basename(str(args[0])):
            calls += 1
            if calls == point:
                os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
main()
"""


def leftovers(temporary: Path) -> list[str]:
    return [str(path) for path in [*Path().rglob(".karat-*"), *temporary.iterdir()]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "output"),
    [("score gold.jsonl.gz gold.jsonl -p tac-2017 -o out.txt", "out.txt"), ("convert brat out --to brat", "out")],
)
def test_a_killed_process_leaves_the_old_output_or_the_new_one(
    args: str, output: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def content() -> object:
        path = Path(output)
        return tree(path) if path.is_dir() else path.read_bytes() if path.exists() else None

    assert run(*args.split()).code == 0
    new = content()
    shutil.rmtree(output) if Path(output).is_dir() else Path(output).unlink()
    if output.endswith(".txt"):
        Path(output).write_bytes(b"old\n")
    old, left, killed = content(), 0, 0
    for point in range(1, 16):
        done = subprocess.run([sys.executable, "-c", POINTS, str(point), *args.split()], env=environment)
        killed += done.returncode == -signal.SIGKILL
        assert content() in (old, new)
        left += bool(leftovers(temporary))
        if done.returncode == 0 or content() == new:
            break
    assert killed >= 5
    assert left
    shutil.rmtree(output) if Path(output).is_dir() else Path(output).unlink(missing_ok=True)
    subprocess.run([*KARAT, *args.split()], check=True, env=environment, stderr=subprocess.DEVNULL)
    assert (content(), leftovers(temporary)) == (new, [])


IMPORTING = """
import os, sys
number = int(sys.argv.pop(1))

class Finder:
    def find_spec(self, name, *rest):
        if name == "karat.cli.program":
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Finder())
from karat.cli import main
main()
"""


@pytest.mark.parametrize(("number", "code", "err"), [(signal.SIGINT, 1, "error: stopped\n"), (signal.SIGTERM, -15, "")])
def test_a_signal_while_karat_is_imported(number: signal.Signals, code: int, err: str) -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTING, str(number.value)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_cleans_up(number: signal.Signals, tmp_path_factory: pytest.TempPathFactory) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run where this signal is ignored, as in the background, and so is it by karat")
    temporary = tmp_path_factory.mktemp("temporary")
    os.mkfifo("pipe")
    Path("both.list").write_text("gold.jsonl.gz\npipe\n")
    process = subprocess.Popen(
        [*KARAT, "convert", "@both.list", "out.jsonl"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
    )
    with open("pipe", "wb"):  # karat has unpacked the first file and waits for the second
        assert list(temporary.iterdir())
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == (1 if number == signal.SIGINT else -number)
    assert b"Traceback" not in err
    assert not list(temporary.iterdir())
    assert not Path("out.jsonl").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB, where the tests may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mount.returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def many(path: str, documents: int = 2000) -> None:
    lines = (JSONL.replace('"d1"', f'"d{number}"') for number in range(documents))
    Path(path).write_text("".join(lines))


def test_a_full_disk_keeps_the_old_output(small_disk: Path) -> None:
    many("many.jsonl")
    output = small_disk / "out.jsonl"
    output.write_text("old\n")
    done = command("convert", "many.jsonl", str(output))
    assert (done.code, output.read_text(), len(list(small_disk.iterdir()))) == (1, "old\n", 1)
    assert f"{output}: No space left on device [output-unwritable]" in done.err


@pytest.mark.slow
def test_a_full_disk_has_neither_a_figure_nor_a_part_of_a_folder(small_disk: Path) -> None:
    """A figure comes with its data; a folder with all of its files."""
    plot = ("compare", "gold.tbf", "system.tbf", "gold.tbf", "-p", "tac-2017", "--plot")
    assert command(*plot, "a.svg").code == 0
    pages = -(-Path("a.svg").stat().st_size // 4096)
    (small_disk / "filler").write_bytes(bytes(65_536 - 4096 * pages))  # so that the figure fits without its data
    done = command(*plot, str(small_disk / "a.svg"))
    assert (done.code, "a.svg.csv: No space left on device [output-unwritable]" in done.err) == (1, True), done.err
    assert [path.name for path in small_disk.iterdir()] == ["filler"]
    for args in (("demo", "--to", str(small_disk / "a" / "b")), ("campaign", "new", str(small_disk / "c"))):
        done = command(*args)
        assert (done.code, "No space left on device [output-unwritable]" in done.err) == (1, True), done.err
        assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_full_disk_keeps_the_old_web_site(small_disk: Path) -> None:
    """The message names the page as it would be called."""
    site = small_disk / "site"
    replace_folder(str(site), [("index.html", "old")], Path.is_dir)
    with pytest.raises(KaratError) as error:
        replace_folder(str(site), [("index.html", "new"), ("systems/a.html", "x" * 100_000)], Path.is_dir)
    assert (error.value.finding.code, error.value.finding.file) == ("output-unwritable", f"{site}/systems/a.html")
    assert {str(path.relative_to(small_disk)) for path in small_disk.rglob("*")} == {"site", "site/index.html"}
    assert (site / "index.html").read_text() == "old"


@pytest.mark.parametrize(("owner", "name", "call", "kept"), [(Path, "replace", 2, "old"), (shutil, "rmtree", 1, "new")])
def test_a_signal_while_a_web_site_is_replaced(
    owner: Any, name: str, call: int, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two moves, and while the old site is removed: one of the sites is there, and no part of the other."""
    replace_folder("site/results", [("index.html", "old")], Path.is_dir)
    function, calls = getattr(owner, name), 0

    def interrupted(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise Stopped(signal.SIGTERM)
        return function(*args, **options)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(Stopped):
        replace_folder("site/results", [("index.html", "new")], Path.is_dir)
    assert [path.name for path in Path("site").iterdir()] == ["results"]
    assert Path("site/results/index.html").read_text() == kept


def test_a_signal_that_python_ignores_ends_the_run_all_the_same() -> None:
    """Where an exception is not raised, such as in `__del__`, while something is imported or collected."""

    def stopped() -> None:
        with stopping_signals(), suppress(Stopped):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

    with pytest.raises(Stopped):
        stopped()


def test_a_full_disk_for_copies(small_disk: Path) -> None:
    many("many.jsonl")
    Path("many.jsonl.gz").write_bytes(gzip.compress(Path("many.jsonl").read_bytes()))
    done = command("describe", "many.jsonl.gz", TMPDIR=str(small_disk))
    assert (done.code, list(small_disk.iterdir())) == (1, [])
    assert "many.jsonl.gz: no space for an unpacked copy" in done.err
    assert "[spool-full]" in done.err
    done = command("describe", "-", stdin=Path("many.jsonl").read_bytes(), TMPDIR=str(small_disk))
    assert (done.code, "standard input: no space" in done.err) == (1, True)


@pytest.mark.parametrize("change", ["shrinks", "grows", "vanishes", "rewritten"])
def test_a_file_that_changes_while_it_is_read(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its documents were found, and before the last ones of them are read."""
    from karat.corpus.files import FileCorpus

    many("many.jsonl", 200)
    content = Path("many.jsonl").read_bytes()
    Path("same.jsonl").write_bytes(content)
    Path("out.txt").write_text("old\n")
    surveyed = FileCorpus.facts
    changed = False

    def survey(corpus: FileCorpus, first: int | None = None) -> object:
        nonlocal changed
        found = surveyed(corpus, first)
        if not changed:
            changed = True
            if change == "vanishes":
                Path("many.jsonl").unlink()
            else:
                new = {"shrinks": content[: len(content) // 2], "grows": content * 2, "rewritten": content[::-1]}
                Path("many.jsonl").write_bytes(new[change])
                os.utime("many.jsonl", ns=(1, 1))
        return found

    monkeypatch.setattr(FileCorpus, "facts", survey)
    done = run("score", "many.jsonl", "same.jsonl", "-p", "tac-2017", "-o", "out.txt")
    assert (done.code, Path("out.txt").read_text()) == (1, "old\n")
    assert "many.jsonl: " in done.err
    assert "[file-changed]" in done.err
