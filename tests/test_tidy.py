"""House style that no linter knows: sizes, packages, and nothing of one machine in a file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "surefoot"
RIGS = ROOT / "torture" / "src" / "surefoot_torture"
SOURCES = sorted([*PACKAGE.rglob("*.py"), *RIGS.rglob("*.py")])

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
BANNER = re.compile(r"^\s*#\s*([-=*#~_+])\1{3,}")

# Written in two parts, so that this file does not trip over itself.
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".", "debian" + ".org"]
WORKPLACE = "/work" + "/"


def test_no_source_file_is_too_long():
    assert [p for p in names(SOURCES) if len(lines(p)) > MAX_FILE_LINES] == []


def test_no_function_is_too_long():
    assert [
        f"{path}:{node.lineno} {node.name}"
        for path in names(SOURCES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    ] == []


def test_no_comment_is_a_banner():
    assert [
        f"{path}:{number}"
        for path in names([*SOURCES, *(ROOT / "tests").rglob("*.py")])
        for number, line in enumerate(lines(path), start=1)
        if BANNER.match(line)
    ] == []


def test_every_public_module_says_what_it_is():
    public = [p for p in SOURCES if p.name == "__init__.py" or not p.name.startswith("_")]
    assert [path for path in names(public) if not ast.get_docstring(tree(path))] == []


def test_every_folder_of_sources_is_a_package():
    """Without an `__init__.py` neither the layers contract nor a doctest sees the real module."""
    folders = {path.parent for path in SOURCES}
    assert names(sorted(f for f in folders if not (f / "__init__.py").exists())) == []


def test_no_line_of_the_changelog_stands_twice():
    """Merging by union keeps both where one side has moved an entry."""
    long = [line for line in (ROOT / "CHANGELOG.md").read_text().split("\n") if len(line) > 40]
    assert sorted(line for line in set(long) if long.count(line) > 1) == []


def test_no_file_names_a_package_registry_or_this_machine():
    assert [
        f"{path}:{number}: {word}"
        for path in names(text_files(ROOT))
        for number, line in enumerate(lines(path), start=1)
        for word in [*REGISTRIES, WORKPLACE]
        if word in line
    ] == []


def text_files(folder: Path) -> Iterator[Path]:
    """The text files a clean clone would hold. Asks no git: a user's copy may have none.

    In a worktree ``.git`` is a file, which names the place of the clone.
    """
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not is_made_by_tools(path):
            yield from text_files(path)
        elif path.is_file() and path.name not in {"uv.lock", ".git"} and is_text(path):
            yield path


def is_made_by_tools(folder: Path) -> bool:
    hidden = folder.name.startswith(".") and folder.name not in {".ci", ".github"}
    made = {"__pycache__", "build", "dist", "_build", "out"}
    return hidden or folder.name in made or (folder / "pyvenv.cfg").exists()


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()[:8192]


def names(paths: list[Path] | Iterator[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def lines(name: str) -> list[str]:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()


def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))
