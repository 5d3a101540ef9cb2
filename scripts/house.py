"""Count what the house is made of: lines, and private names that one module takes from another.

    uv run scripts/house.py                 the package's own lines, and its worst modules
    uv run scripts/house.py src/surefoot    the same of another tree

A private name is foreign where a module imports ``_name`` of another module, or writes
``thing._name`` and nowhere defines a ``_name`` itself, as function, class, variable, attribute or
slot. What ``self`` has from a base class in another module is counted apart. Modules whose own name
is private (``from surefoot import _exact``) are a package's own affair and do not count.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORST = 12


def private(name: str) -> bool:
    """Whether a name is its module's or class's own."""
    return name.startswith("_") and not name.startswith("__")


def defined(tree: ast.Module) -> set[str]:
    """The private names that a module defines, of whatever kind."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
                names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)  # a slot
    return {name for name in names if private(name)}


def foreign(tree: ast.Module, modules: set[str]) -> tuple[list[str], list[str]]:
    """The private names of others that a module uses, each time; those of base classes apart."""
    own, found = defined(tree), []
    inherited: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            found += [name for name in names if private(name) and name not in modules]
        elif isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in own:
            through_self = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            (inherited if through_self else found).append(node.attr)
    return found, inherited


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT / "src" / "surefoot")
    folder = parser.parse_args().tree
    paths = sorted(folder.rglob("*.py"))
    modules = {path.stem for path in paths} | {path.parent.name for path in paths}
    lines, uses, inherited = 0, Counter[str](), 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines += len(text.splitlines())
        found, of_bases = foreign(ast.parse(text), modules)
        inherited += len(of_bases)
        if found:
            uses[str(path.relative_to(folder))] = len(found)
    print(f"{len(paths)} files, {lines:,} lines")
    for name, count in (("foreign", uses.total()), ("of a base class", inherited)):
        print(f"{count} {name}: {1000 * count / max(lines, 1):.1f} private names per 1,000 lines")
    for name, count in uses.most_common(WORST):
        print(f"  {count:4}  {name}")


if __name__ == "__main__":
    main()
