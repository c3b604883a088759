"""Submissions of participants: layouts, archives, and everything that must be refused."""

import gzip
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.campaign.children import Children
from karat.campaign.packages import Limits
from karat.campaign.submissions import TASKS, Layout, Submission, description_owner, submissions_in, system_name
from karat.problems import KaratError
from tests.submissions import bomb, folder, jsonl, many_in_tar, many_in_zip, tar, tar_header, zipped

OUTPUT = {"out.jsonl": jsonl()}


USUAL = Limits()


def taken_in(path: Path, limits: Limits = USUAL, *, layout: Layout = "auto") -> list[Submission]:
    return submissions_in(str(path), limits, Children(), layout=layout)


def refusals(path: Path, *, layout: Layout = "auto") -> dict[str, str]:
    """The code for which each system is refused; empty: none."""
    return {one.system: " ".join(problem.code for problem in one.problems) for one in taken_in(path, layout=layout)}


def test_folders_archives_and_files_are_the_same_submission(tmp_path: Path) -> None:
    """However it is packed, the content has one hash, so it is scored once."""
    folder(tmp_path / "a", OUTPUT)
    for suffix in ("tar", "tar.gz", "tar.bz2", "tar.xz"):
        tar(tmp_path / f"{suffix.replace('.', '-')}.{suffix}", OUTPUT)
    zipped(tmp_path / "z.zip", OUTPUT)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "out.jsonl").write_bytes(jsonl())
    (tmp_path / "hidden" / ".DS_Store").write_bytes(b"\0")
    found = taken_in(tmp_path)
    assert [one.system for one in found] == ["a", "hidden", "tar", "tar-bz2", "tar-gz", "tar-xz", "z"]
    assert len({one.digest() for one in found}) == 1
    assert not any(one.problems for one in found)


def test_several_xz_streams_are_one_file(tmp_path: Path) -> None:
    """As `xz` and `pixz` write them."""
    whole = tar(tmp_path / "a.tar", OUTPUT).read_bytes()
    (tmp_path / "a.tar").unlink()
    (tmp_path / "a.tar.xz").write_bytes(lzma.compress(whole[:700]) + lzma.compress(whole[700:]) + bytes(8))
    (one,) = taken_in(tmp_path)
    assert [*one.members] == ["out.jsonl"]


def test_the_layout_of_the_plan(tmp_path: Path) -> None:
    """3.7.1, as folders, as an archive of a site, and as a folder of a site."""
    folder(tmp_path / "english" / "edr" / "NIST1_primary", OUTPUT)
    tar(
        tmp_path / "bbn.tgz",
        {f"english/edr/BBN{n}_{kind}/o.jsonl": jsonl() for n, kind in ((1, "primary"), (2, "contrastive1"))},
    )
    folder(tmp_path / "sri" / "chinese" / "tern" / "SRI1_primary", OUTPUT)
    found = taken_in(tmp_path)
    assert [(str(one.track), one.system, one.site, one.condition) for one in found] == [
        ("chinese/tern", "SRI1_primary", "SRI", "primary"),
        ("english/edr", "BBN1_primary", "BBN", "primary"),
        ("english/edr", "BBN2_contrastive1", "BBN", "contrastive"),
        ("english/edr", "NIST1_primary", "NIST", "primary"),
    ]
    assert not any(one.problems for one in found)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("arabic/vdr/NIST1_primary", "ace-task"),  # Table 8
        ("arabic/val/NIST1_primary", "ace-task"),
        ("arabic/tern/NIST1_primary", "ace-task"),
        ("english/ner/NIST1_primary", "ace-task"),
        ("english/edr/NIST1", "ace-system"),
        ("english/edr/NIST1_secondary", "ace-system"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_what_the_plan_does_not_have_is_refused(tmp_path: Path, path: str, code: str, packed: bool) -> None:
    folder(tmp_path / "english" / "rdr" / "GOOD1_primary", OUTPUT)
    if packed:
        tar(tmp_path / "n.tar.gz", {f"{path}/out.jsonl": jsonl()})
    else:
        folder(tmp_path / path, OUTPUT)
    bad, good = sorted(taken_in(tmp_path), key=lambda one: one.site == "GOOD")
    assert [problem.code for problem in bad.problems] == [code]
    assert not good.problems


def test_table_8() -> None:
    assert TASKS["arabic"] == {"edr", "rdr", "emd", "rmd"}
    assert TASKS["english"] == TASKS["chinese"] == {"edr", "val", "tern", "rdr", "vdr", "emd", "rmd", "vmd"}


def test_names_of_systems() -> None:
    for name, numbered, site, condition in (
        ("NIST2_contrastive1", "NIST2", "NIST", "contrastive"),
        ("team-3b1_primary", "team-3b1", "team-3b", "primary"),
        ("12_Primary3", "12", "1", "primary"),
    ):
        named = system_name(name)
        assert named == (numbered, condition)
        assert named.site == site
    for name in ("NIST1", "_primary", "NIST1_primary_", "NIST1_primaries"):
        assert system_name(name) is None


def test_one_primary_system_for_each_site_and_task(tmp_path: Path) -> None:
    for name in ("NIST1_primary", "NIST2_primary", "BBN1_primary"):
        folder(tmp_path / "english" / "edr" / name, OUTPUT)
    assert [[problem.code for problem in one.problems] for one in taken_in(tmp_path)] == [
        [],
        ["primary-twice"],
        ["primary-twice"],
    ]


def test_nobody_submits_in_the_name_of_another_site(tmp_path: Path) -> None:
    """In an archive, participants choose the names of systems, and nobody has checked them."""
    names = ("NIST1_primary", "BBN1_primary", "BBN9_contrastive1", "SRI1_primary", "EVIL1_primary")
    tar(tmp_path / "evil.tar.gz", {f"english/edr/{name}/out.jsonl": jsonl() for name in names})
    folder(tmp_path / "english" / "edr" / "NIST1_primary", OUTPUT)
    tar(tmp_path / "BBN-late.tgz", {"bbn/english/edr/BBN1_primary/out.jsonl": jsonl()})
    foreign = dict.fromkeys(("BBN1_primary (1)", "BBN9_contrastive1", "NIST1_primary (1)"), "ace-site")
    fine = dict.fromkeys(("BBN1_primary", "EVIL1_primary", "NIST1_primary", "SRI1_primary"), "")
    assert refusals(tmp_path, layout="ace") == {**fine, **foreign}


def test_layouts_are_not_mixed(tmp_path: Path) -> None:
    folder(tmp_path / "english" / "edr" / "NIST1_primary", OUTPUT)
    folder(tmp_path / "stray", OUTPUT)
    stray = [one for one in taken_in(tmp_path) if one.system == "stray"]
    assert [problem.code for problem in stray[0].problems] == ["layout-other"]
    assert [one.system for one in taken_in(tmp_path, layout="plain")] == ["english", "stray"]


@pytest.mark.parametrize(("layout", "evil"), [("plain", "evil"), ("auto", "EVIL1_primary")])
def test_one_submission_in_another_layout_changes_no_other(tmp_path: Path, layout: Layout, evil: str) -> None:
    """Plain under most protocols; where both are possible, that of most entries that can be read."""
    for name in "abc":
        folder(tmp_path / name, OUTPUT)
    tar(tmp_path / "evil.tar.gz", {"english/edr/EVIL1_primary/out.jsonl": jsonl()})
    for name in "xyz":
        tar(tmp_path / f"{name}.tar.gz", {"../evil": b"evil"})
    expected = {**dict.fromkeys("abc", ""), evil: "layout-other", **dict.fromkeys("xyz", "archive-path")}
    assert refusals(tmp_path, layout=layout) == expected


def test_every_entry_is_taken_in_or_refused_by_name(tmp_path: Path) -> None:
    """A language's folder without tasks, a task's without systems, and files beside them."""
    folder(tmp_path / "fine", {"english/edr/FINE1_primary/out.jsonl": jsonl(), "notes/a.txt": b"", "description": b""})
    folder(tmp_path / "zed", {"english/output.jsonl": jsonl()})
    (tmp_path / "empty" / "english").mkdir(parents=True)
    (tmp_path / "val" / "english" / "val").mkdir(parents=True)
    tar(tmp_path / "packed.tar", {"english/output.jsonl": jsonl()})
    odd = dict.fromkeys(("empty", "fine", "packed", "val", "zed"), "layout-other")
    assert refusals(tmp_path, layout="ace") == {"FINE1_primary": "", **odd}
    taken = {**dict.fromkeys(("fine", "packed", "zed"), ""), **dict.fromkeys(("empty", "val"), "submission-empty")}
    assert refusals(tmp_path, layout="plain") == taken


def test_two_submissions_of_one_name_are_both_refused(tmp_path: Path) -> None:
    folder(tmp_path / "a", OUTPUT)
    zipped(tmp_path / "a.zip", OUTPUT)
    found = taken_in(tmp_path)
    assert [one.system for one in found] == ["a (1)", "a (2)"]
    problems = [problem for one in found for problem in one.problems]
    assert [problem.code for problem in problems] == ["submission-twice"] * 2
    assert {problem.message for problem in problems} == {"there are 2 submissions called a: a, a.zip"}


def test_names_are_unique(tmp_path: Path) -> None:
    """Also where one is called as another would be; one that is refused for its own reason takes no name away."""
    for name in ("x", "x (1)", "NIST", "nist", "y", "z (1)"):
        folder(tmp_path / name, OUTPUT)
    zipped(tmp_path / "x.zip", OUTPUT)
    tar(tmp_path / "y.tar", {"../evil": b""})
    twice = dict.fromkeys(("x (2)", "x (3)"), "submission-twice")
    fine = dict.fromkeys(("NIST", "nist", "x (1)", "y", "z (1)"), "")
    assert refusals(tmp_path) == {**fine, **twice, "y (1)": "archive-path"}


def test_digits_are_part_of_a_name_but_in_the_layout_of_the_plan(tmp_path: Path) -> None:
    for name in ("Team7_primary", "Team8_primary", "Team8_contrastive1"):
        folder(tmp_path / name, OUTPUT)
    assert [one.site for one in taken_in(tmp_path)] == ["Team7", "Team8", "Team8"]


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("description.txt", ""),
        ("System_Description.pdf", ""),
        ("NIST_description.md", "NIST"),
        ("NIST-system-description.tar.gz", "NIST"),
        ("mysystem_description.txt", "mysystem"),
        ("systemdescription", ""),
        ("_description", None),
        ("mydescription", None),
        ("descriptions.txt", None),
        ("out.jsonl", None),
    ],
)
def test_descriptions_by_their_names(name: str, owner: str | None) -> None:
    assert description_owner(name) == owner


def test_descriptions_are_found_and_are_no_output(tmp_path: Path) -> None:
    folder(tmp_path / "a", {**OUTPUT, "description.txt": b"A lemma baseline."})
    zipped(tmp_path / "b.zip", OUTPUT)
    (tmp_path / "b_description.pdf").write_bytes(b"%PDF")
    tar(tmp_path / "c.tar.gz", OUTPUT)
    found = taken_in(tmp_path)
    assert [(one.system, one.described) for one in found] == [("a", True), ("b", True), ("c", False)]
    assert [*found[0].members] == ["out.jsonl"]


def test_a_site_describes_all_its_systems(tmp_path: Path) -> None:
    names = ("english/edr/X1_primary/o.jsonl", "english/rdr/X1_primary/o.jsonl", "X_description.txt")
    tar(tmp_path / "x.tar.gz", dict.fromkeys(names, jsonl()))
    assert [one.described for one in taken_in(tmp_path)] == [True, True]


def test_a_folder_without_submissions_is_refused(tmp_path: Path) -> None:
    for path, code in ((tmp_path, "submissions-none"), (tmp_path / "none", "submissions-missing")):
        with pytest.raises(KaratError) as error:
            taken_in(path)
        assert error.value.finding.code == code


def link(kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname, info.size = kind, "/etc/passwd", 0

    return change


def kind(kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.size = kind, 0

    return change


def _raw(path: Path, *headers: bytes) -> None:
    with gzip.open(path, "wb", 1) as stream:
        stream.write(b"".join(headers) + bytes(1024))


def renamed(path: Path, name: bytes, other: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(name, other))


HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "parent": ("archive-path", lambda d: tar(d / "x.tar.gz", {"../../etc/passwd": b"root"})),
    "parent in the middle": ("archive-path", lambda d: tar(d / "x.tar.xz", {"a/../../b": b"root"})),
    "parent in a zip": ("archive-path", lambda d: zipped(d / "x.zip", {"../b": b"root"})),
    "absolute": ("archive-path", lambda d: tar(d / "x.tar.bz2", {"/etc/passwd": b"root"})),
    "absolute in a zip": ("archive-path", lambda d: zipped(d / "x.zip", {"/etc/passwd": b"root"})),
    "no name in a zip": ("archive-name", lambda d: renamed(zipped(d / "x.zip", {"a.js": b"1"}), b"a.js", b"\0.js")),
    "drive": ("archive-name", lambda d: zipped(d / "x.zip", {"C:evil.jsonl": b"root"})),
    "backslash": ("archive-name", lambda d: tar(d / "x.tar", {"..\\evil.jsonl": b"root"})),
    "symbolic link": ("archive-link", lambda d: tar(d / "x.tar.gz", {"a": b""}, change=link(tarfile.SYMTYPE))),
    "hard link": ("archive-link", lambda d: tar(d / "x.tar.gz", {"a": b""}, change=link(tarfile.LNKTYPE))),
    "link in a zip": ("archive-link", lambda d: zipped(d / "x.zip", {"a": b"/etc/passwd"}, mode=0o120777)),
    "device": ("archive-special", lambda d: tar(d / "x.tar.gz", {"a": b""}, change=kind(tarfile.CHRTYPE))),
    "block device": ("archive-special", lambda d: tar(d / "x.tar.gz", {"a": b""}, change=kind(tarfile.BLKTYPE))),
    "pipe": ("archive-special", lambda d: tar(d / "x.tar.gz", {"a": b""}, change=kind(tarfile.FIFOTYPE))),
    "device in a zip": ("archive-special", lambda d: zipped(d / "x.zip", {"a": b""}, mode=0o020644)),
    "sparse": ("archive-special", lambda d: _raw(d / "x.tar.gz", tar_header(b"a", 0, b"S"))),
    "one name twice": ("archive-duplicate", lambda d: _raw(d / "x.tar.gz", *[tar_header(b"a")] * 2)),
    "one name in two forms": ("archive-duplicate", lambda d: tar(d / "x.tar.gz", {"a": b"1", "./a": b"2"})),
    "file and folder": ("archive-duplicate", lambda d: tar(d / "x.tar.gz", {"a": b"1", "a/b": b"2"})),
    "not UTF-8": ("archive-name", lambda d: _raw(d / "x.tar.gz", tar_header(b"\xff\xfe.jsonl"))),
    "control characters": ("archive-name", lambda d: tar(d / "x.tar.gz", {"a\x1b[2J": b"1"})),
    "huge header": ("archive-damaged", lambda d: _raw(d / "x.tar.gz", tar_header(b"a", 1 << 30, b"L"), bytes(2 << 20))),
    "huge file": ("archive-bytes", lambda d: _raw(d / "x.tar.gz", tar_header(b"a", 5 << 30), bytes(1 << 20))),
    "bomb": ("archive-ratio", lambda d: bomb(d / "x.tar.gz", 40)),
    "bomb in xz": ("archive-ratio", lambda d: bomb(d / "x.tar.xz", 40)),
    "bomb in a zip": ("archive-ratio", lambda d: zipped(d / "x.zip", {"a.jsonl": bytes(40 << 20)})),
    "truncated": ("archive-damaged", lambda d: (d / "x.tar.gz").write_bytes(gzip.compress(tar_header(b"a", 900))[:-9])),
    "no archive": ("archive-damaged", lambda d: (d / "x.zip").write_bytes(b"PK\3\4 and nothing else")),
    "no tar": ("archive-damaged", lambda d: (d / "x.tar.gz").write_bytes(b"not a tar")),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_archives_are_refused_and_spoil_no_other(tmp_path: Path, what: str) -> None:
    code, make = HOSTILE[what]
    make(tmp_path)
    folder(tmp_path / "good", OUTPUT)
    good, hostile = taken_in(tmp_path)
    assert [problem.code for problem in hostile.problems] == [code]
    assert not hostile.members
    assert not good.problems


def test_names_of_zips_that_are_not_utf8(tmp_path: Path) -> None:
    """Without the mark of UTF-8, as old programs write them, and with the mark, but wrong."""
    whole = zipped(tmp_path / "x.zip", {"ab.jsonl": b"1"}).read_bytes()
    (tmp_path / "x.zip").write_bytes(whole.replace(b"ab.jsonl", b"\xff\xfe.jsonl"))
    marked = zipped(tmp_path / "y.zip", {"é.jsonl": b"1"}).read_bytes()
    (tmp_path / "y.zip").write_bytes(marked.replace("é".encode(), b"\xff\xfe"))
    assert [[problem.code for problem in one.problems] for one in taken_in(tmp_path)] == [["archive-name"]] * 2


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    whole = bytearray(zipped(tmp_path / "x.zip", {"a": b"1"}).read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        whole[whole.index(mark) + place] |= 1
    (tmp_path / "x.zip").write_bytes(whole)
    assert taken_in(tmp_path)[0].problems[0].code == "archive-method"


def test_a_member_of_a_method_that_needs_much_memory_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"1")
    assert taken_in(tmp_path)[0].problems[0].code == "archive-method"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(members=1), "archive-members"),
        (Limits(member_bytes=100), "archive-bytes"),
        (Limits(bytes=600), "archive-bytes"),
    ],
)
def test_each_limit(tmp_path: Path, limits: Limits, code: str) -> None:
    files = {"a.jsonl": bytes(400), "b.jsonl": bytes(400)}
    folder(tmp_path / "a", files)
    tar(tmp_path / "b.tar.gz", files)
    zipped(tmp_path / "c.zip", files)
    assert [[problem.code for problem in one.problems] for one in taken_in(tmp_path, limits)] == [[code]] * 3


def test_a_single_file_has_the_limits_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(bytes(400))
    for limits in (Limits(member_bytes=100), Limits(bytes=100)):
        assert [problem.code for problem in taken_in(tmp_path, limits)[0].problems] == ["archive-bytes"]


def test_folders_have_the_rules_of_archives(tmp_path: Path) -> None:
    folder(tmp_path / "a", OUTPUT)
    (tmp_path / "a" / "link.jsonl").symlink_to("/etc/passwd")
    folder(tmp_path / "b", OUTPUT)
    os.mkfifo(tmp_path / "b" / "pipe")
    found = taken_in(tmp_path)
    assert [one.problems[0].code for one in found] == ["archive-link", "archive-special"]


def test_links_in_the_layout_of_the_plan_are_refused(tmp_path: Path) -> None:
    folder(tmp_path / "english" / "edr" / "GOOD1_primary", OUTPUT)
    good = tmp_path / "english" / "edr" / "GOOD1_primary"
    (good.parent / "BAD1_primary").symlink_to(good)
    (tmp_path / "english" / "rdr").symlink_to(good.parent)
    (tmp_path / "chinese").symlink_to(tmp_path / "english")
    links = dict.fromkeys(("BAD1_primary", "chinese"), "archive-link")
    assert refusals(tmp_path, layout="ace") == {"GOOD1_primary": "", "english": "layout-other", **links}


def test_odd_entries_of_the_folder_stop_nothing(tmp_path: Path) -> None:
    """A pipe, which would never end; links, to nowhere or to another's output; a name of no line, or not UTF-8."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "file.jsonl").symlink_to(tmp_path / "single.jsonl")
    folder(Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xff")), OUTPUT)
    folder(tmp_path / "a\n1 ranked", OUTPUT)
    (tmp_path / "single.jsonl").write_bytes(jsonl())
    assert refusals(tmp_path) == {
        "a\\u000a1 ranked": "",
        "dangling": "archive-link",
        "file": "archive-link",
        "folder": "archive-link",
        "n\ufffd": "",
        "pipe": "archive-special",
        "single": "",
    }


MEASURED = """
import resource, sys
from karat.cli import main
sys.argv[:] = ["karat", "campaign", *sys.argv[1:]]
try:
    main()
finally:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    (peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]  # not the parent's
    print(seconds, max(int(peak), used[1].ru_maxrss), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
@pytest.mark.slow
def test_many_members_and_a_large_bomb_take_seconds_and_little_memory(tmp_path: Path) -> None:
    """The whole command with its processes: at most 10 s of CPU time and 300 MB."""
    submissions = tmp_path / "submissions"
    folder(submissions / "good", OUTPUT)
    many_in_tar(submissions / "many.tar.gz", 20_000)
    many_in_zip(submissions / "many-zip.zip", 20_000)
    bomb(submissions / "bomb.tar.gz", 100)
    nested = gzip.compress(bytes(100 << 20), 1)
    tar(submissions / "nested.tar.gz", {"out.jsonl.gz": nested})
    zipped(submissions / "digits.zip", {f"{number:04}{'1' * 900}_primary": b"" for number in range(2000)})
    (tmp_path / "gold.jsonl").write_bytes(jsonl())
    arguments = [str(submissions), "--gold", str(tmp_path / "gold.jsonl"), "-o", str(tmp_path / "out"), "--jobs", "1"]
    done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, encoding="utf-8")
    assert "6 submissions: 1 ranked, 5 refused" in done.stdout, done.stderr
    assert done.stdout.count("archive-members") == done.stdout.count("archive-ratio") == 2
    seconds, kilobytes = map(float, done.stderr.split()[-2:])
    assert seconds < 10
    assert kilobytes < 300_000
