"""Measure how the source is built: files, lines, class names that occur twice, imports past a package's public names.

    python tests/support/house.py [CHECKOUT …]

Several checkouts, such as two versions, are shown side by side.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lines_of(node: ast.AST) -> int:
    """Return how many lines a statement takes."""
    return node.end_lineno - node.lineno + 1


def imported(path: Path, source: Path, tree: ast.Module) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (module, names) for each import from irisdp, with the dotted parts of the module."""
    package = list(path.relative_to(source).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            yield [*base, *(node.module.split(".") if node.module else [])], [alias.name for alias in node.names]


def measure(checkout: Path) -> dict[str, int]:
    """Return the numbers of one checkout, by what they count."""
    source = checkout / "src" / "irisdp"
    files = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    docstrings = imports = 0
    classes: Counter[str] = Counter()
    importers: dict[Path, set[Path]] = defaultdict(set)
    past, any_lines = 0, 0
    for path, tree in trees.items():
        any_lines += sum("Any" in line for line in files[path].splitlines())
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                docstrings += lines_of(body[0])
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports += lines_of(node)
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                imports += lines_of(node)
        classes.update(node.name for node in tree.body if isinstance(node, ast.ClassDef))
        own = path.relative_to(source).parts[0]
        for module, names in imported(path, source, tree):
            targets = [source.joinpath(*module).with_suffix(".py") if module else source]
            targets += [source.joinpath(*module, f"{name}.py") for name in names]
            for target in targets:
                if target in trees and path.name != "__init__.py":
                    importers[target].add(path)
            if len(module) > 1 and module[0] != own and not source.joinpath(*module, "__init__.py").is_file():
                past += 1
    return {
        "files": len(files),
        "lines": sum(text.count("\n") for text in files.values()),
        "lines of docstrings": docstrings,
        "lines of imports and __all__": imports,
        "class names that occur twice": sum(count > 1 for count in classes.values()),
        "imports past a package's names": past,
        "files with one importer": sum(len(found) == 1 for found in importers.values()),
        "lines with Any": any_lines,
        "files that spell weight_upper": sum(
            '"weight_upper"' in text or "weight_upper:" in text for text in files.values()
        ),
        "files that compare names nearly": sum("get_close_matches" in text for text in files.values()),
        "lines of tests": sum(
            path.read_text(encoding="utf-8").count("\n") for path in (checkout / "tests").rglob("*.py")
        ),
    }


if __name__ == "__main__":
    measured = [measure(Path(given)) for given in sys.argv[1:] or [ROOT]]
    for name in measured[0]:
        print(f"{name:34}", *(f"{numbers[name]:8,}" for numbers in measured))
