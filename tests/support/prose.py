"""Count words, long sentences and house words in everything that people read.

`python tests/support/prose.py` prints one row a page; `--long` and `--words` list the places. The corpus is the
Markdown pages of the repository, `--help` of every command, the messages of errors, and the public docstrings.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONG = 30
"""A sentence of more words than this is long."""
SHORT_CELL = 5
"""A cell of a table with at most so many words is no sentence, and would make the mean look better than it is."""

HOUSE_WORDS = {
    "whoever": r"\bwhoever\b",
    "anew": r"(?<![`\"'])\banew\b(?![`\"'])",
    "stands beside": r"\bstands? beside\b",
    "as it is": r"\bas it is\b(?! (?:now|today|read|written|printed|installed))",
    "is none": r"(?-i:\bis none\b)",
    "what is read": r"\bwhat is (?:read|there|asked|said|told|charged|spent|kept)\b",
    "inverted opening": r"(?:^|(?<=[.:;] ))(?:Found|Told|Said|Asked|Charged|Kept) (?:is|are|was|were)\b",
    "room": r"\brooms?\b",
    "floor": r"\bfloors?\b(?! (?:and|or) ceiling|\(|, ceil)",
    "door": r"\bdoors?\b",
    "upstairs": r"\bupstairs\b",
    "ladder": r"\bladders?\b",
    "costume": r"\bcostumes?\b",
    "told": r"\btold\b",
    "law of noise": r"\blaws? of (?:the |its |their |all )*(?:noise|losses|sums?|answers?)\b|\blaws? of noise\b",
    "promise of a ledger": r"\bpromises?\b",
    "book": r"\bbook\b",
    "settle": r"\bsettle[sd]?\b|\bsettling\b",
    "foresee": r"\bfore(?:see|seen|saw|tell|told)\b|\boutlook\b",
    "peers": r"(?<!#)\bpeers?\b",
    "sidecar": r"\bsidecars?\b",
    "steward": r"\bstewards?\b",
    "tells more": r"\btells more\b",
    "unless given": r"\bunless (?:given|said)\b",
    "how probably": r"\bhow probabl[ye]\b",
    "what neighbours are": r"\bwhat neighbours are\b",
}
"""The words and turns of `writing.md` that the field does not know, as patterns that leave its own words alone."""

ERRORS = {"BadInput", "Refusal", "Infeasible", "BudgetRefused", "PromiseRefused", "ScopeRefused", "NotShown"}
ERRORS |= {"CertificateRejected"}
SKIPPED = {"CHANGELOG.md", "mutants.md", "paper", "notebooks", "proofs", "formal"}
"""Not public prose for users: history, measurements, and proofs, which have sentences of their own kind."""


@dataclass
class Page:
    """What one page holds: its sentences with the line on which each paragraph begins."""

    name: str
    sentences: list[tuple[int, str]] = field(default_factory=list)

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(length(sentence) for _, sentence in self.sentences)

    @property
    def long(self) -> list[tuple[int, str]]:
        """Sentences of more than `LONG` words."""
        return [(line, sentence) for line, sentence in self.sentences if length(sentence) > LONG]

    @property
    def house_words(self) -> list[tuple[int, str, str]]:
        """Line, word and sentence of every house word."""
        return [
            (line, word, sentence)
            for line, sentence in self.sentences
            for word, pattern in HOUSE_WORDS.items()
            if re.search(pattern, re.sub(r"^\[[\w-]+\] ", "", sentence), re.IGNORECASE)
        ]


def length(sentence: str) -> int:
    """Return how many words a sentence has; signs alone are none."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def sentences(text: str) -> list[str]:
    """Split a paragraph into sentences.

    Examples
    --------
    >>> sentences("Iris reads files, e.g. CSV. It writes JSON. See `a.b`.")
    ['Iris reads files, e.g. CSV.', 'It writes JSON.', 'See `a.b`.']
    """
    plain = " ".join(text.split())
    parts = re.split(r"(?<![A-Z]\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<=[.!?])\s+(?=[A-ZÀ-Þ`\"'(*\[$])", plain)
    return [part for part in parts if length(part) > 1]


def markdown(name: str, text: str) -> Page:
    """Take the sentences of a Markdown page: no code, formulas, addresses or HTML; only long cells of tables."""
    text = re.sub(r"^(```|~~~).*?^\1\s*$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)
    text = re.sub(r"\$\$.*?\$\$", lambda block: "x" + "\n" * block[0].count("\n"), text, flags=re.S)
    page, paragraph, start = Page(name), [], 1

    def flush() -> None:
        joined = " ".join(paragraph)
        joined = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", joined)
        joined = re.sub(r"`[^`]*`", "`code`", joined)
        joined = re.sub(r"\$[^$]*\$", "x", joined)
        joined = re.sub(r"<[^>]+>|[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", joined)
        page.sentences += [(start, sentence) for sentence in sentences(joined)]
        paragraph.clear()

    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        code = line.startswith(("    ", "\t")) and not paragraph
        if not bare or code or bare.startswith(("#", "---", ":::", "|--", ">>>")):
            flush()
        elif bare.startswith("|"):
            flush()
            for cell in bare.strip("|").split("|"):
                if length(cell) > SHORT_CELL:
                    paragraph, start = [cell.strip()], number
                    flush()
        else:
            if re.match(r"(?:[-*+]|\d+\.)\s", bare):
                flush()
                bare = re.sub(r"^(?:[-*+]|\d+\.)\s+", "", bare)
            if not paragraph:
                start = number
            paragraph.append(bare)
    flush()
    return page


def pages() -> Iterator[Page]:
    """Yield the Markdown pages that users read."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if SKIPPED.isdisjoint(Path(name).parts):
            yield markdown(name, (ROOT / name).read_text(encoding="utf-8"))


def _texts(node: ast.AST) -> str:
    """Return the text of a string expression; what is filled in counts as one word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_texts(part) if isinstance(part, ast.Constant) else "X" for part in node.values)
    if isinstance(node, ast.BinOp):
        return _texts(node.left) + _texts(node.right)
    if isinstance(node, ast.IfExp):
        return _texts(node.body)
    return "X"


def source() -> tuple[Page, Page]:
    """Return the messages of errors, and the docstrings of what is public."""
    messages, docstrings = Page("messages of errors"), Page("public docstrings")
    for path in sorted((ROOT / "src/irisdp").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ERRORS:
                    parts = [_texts(argument) for argument in node.args]
                    told = "; ".join(part for part in parts if part != "X")
                    place = path.stem.replace("_", "-")
                    messages.sentences += [(node.lineno, f"[{place}] {part}") for part in sentences(told)]
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                doc = ast.get_docstring(node)
                if doc and not getattr(node, "name", "").startswith("_"):
                    without = re.sub(r"^\s*>>>.*?(?=\n\s*\n|\Z)", "", doc, flags=re.M | re.S)
                    without = re.sub(r"\n[^\n]*\n[ \t]*-{3,}[ \t]*(?=\n)", "\n", without)
                    without = re.sub(r"^\s*[\w*, ]+ : .*$", "", without, flags=re.M)  # names and types of parameters
                    without = re.sub(r"^\s*[a-z_*]+(?:, [a-z_*]+)*$", "", without, flags=re.M)  # names without a type
                    without = re.sub(r"\b(?:docs|proofs)/[\w/.-]+(?:, \"[^\"]*\")?", "x", without)  # pages, sections
                    for paragraph in re.split(r"\n\s*\n|\n(?=\s*- )", without):
                        found = sentences(re.sub(r"``?[^`]*``?", "`code`", paragraph))
                        docstrings.sentences += [(getattr(node, "lineno", 1), f"{part}") for part in found]
    return messages, docstrings


def commands() -> Page:
    """Return `--help` of every command."""
    page = Page("--help of every command")
    program = [sys.executable, "-m", "irisdp"]
    environment = {"COLUMNS": "200", "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}

    def text(*words: str) -> str:
        done = subprocess.run([*program, *words, "--help"], capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    names = re.findall(r"^  (\w[\w-]*)  ", text().split("Commands:")[-1], flags=re.M)
    for name in names:
        for block in re.split(r"\n\s*\n|\n(?=  -)|\n(?=  [A-Z])", text(name)):
            words = re.sub(r"^\s*-\S+(?: \S+)*?\s{2,}", "", block)
            page.sentences += [(1, f"{name}: {part}") for part in sentences(words)]
    return page


def report(found: list[Page], *, long: bool, words: bool) -> str:
    """Return the table, and the places that are asked for."""
    lines = [f"{'page':<58} {'words':>6} {'sentences':>9} {'mean':>5} {'long %':>6} {'house':>5}"]
    total = Page("all", [pair for page in found for pair in page.sentences])
    for page in [*found, total]:
        count = max(len(page.sentences), 1)
        lines.append(
            f"{page.name[:58]:<58} {page.words:>6} {len(page.sentences):>9} {page.words / count:>5.1f} "
            f"{100 * len(page.long) / count:>6.1f} {len(page.house_words):>5}"
        )
    if long:
        lines += [f"{page.name}:{line}: {sentence}" for page in found for line, sentence in page.long]
    if words:
        lines += [f"{page.name}:{line}: [{word}] {text}" for page in found for line, word, text in page.house_words]
    return "\n".join(lines)


def main() -> None:
    """Print the table for the pages named, or for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of the names of pages, such as README or docs/howto")
    parser.add_argument("--long", action="store_true", help="list long sentences")
    parser.add_argument("--words", action="store_true", help="list house words")
    asked = parser.parse_args()
    found = [*pages(), *source(), commands()]
    chosen = [page for page in found if not asked.names or page.name.startswith(tuple(asked.names))]
    print(report(chosen, long=asked.long, words=asked.words))


if __name__ == "__main__":
    main()
