"""Typeset the formulas of the manual, and refuse pages whose formulas cannot be typeset.

Formulas stand in the Markdown source as ``$…$`` and ``$$…$$``, which GitHub renders too. The site shows them as MathML,
which browsers draw by themselves: no script and no network is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["Fault", "block", "faults", "formulas", "inline", "setup", "unreadable"]

_SIGNS = {"−": "-", "·": r"\cdot ", "…": r"\ldots ", "½": r"\tfrac{1}{2}", "¼": r"\tfrac{1}{4}", "′": r"'", " ": " "}
_FUNCTIONS = frozenset(("exp", "lim", "ln", "log"))
"""Names that the converter writes as letters."""
_OPERATORS = frozenset("±:∝≤≥≠≈~∼<>=→←↦∈∉⊆⊂∪∩∖×∘∧∨⟺⟹⇒⇔≡∣≺⪯")
_RELATIONS = frozenset("∝≤≥≠≈~∼<>=→↦∈∉⊆⊂⟺⟹⇒⇔≡≺⪯")
_OPENING, _CLOSING = frozenset("([{⌈⌊⟨"), frozenset(")]}⌉⌋⟩")
_WIDE = 26
"""Characters from which a part of a formula gets its own scroll bar on a narrow screen."""

_CODE = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)|(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)", re.MULTILINE | re.DOTALL
)
_DISPLAYED = re.compile(r"\$\$(?P<body>[^$]+)\$\$")
_INLINE = re.compile(r"(?<![\\$\w])\$(?![\s$])(?P<body>(?:[^$\\\n]|\\.|\n(?!\s*\n))*?)(?<![\s\\])\$(?![\w$])")
_PLAIN = re.compile(
    r"[=≤≥≠≈·√∑∏Σ∞∈∉⊆⌈⌉⌊⌋^½¼¾⁰-⁹ⁿ⁻₀-₉ᵢ]|(?<!\w)[A-Za-z]′?_\w|(?<!\w)[A-Za-z]′?\([^)]|\w −|− ?\w|\\[a-z]{2,}|\d[<>]\d"
)
_INSIDE = re.compile(r"[=≤≥≠≈·√∑∏Σ∈^−₀-₉]|\w_\w|\\[a-z]{2,}")
_ENDED = re.compile(r"[.:;?!…∎|>)\]*`”\"]\s*$")
_CONTINUED = re.compile(
    r"(?:[,(=+−·≤≥<>/]|\b(?:a|an|the|of|and|or|is|are|by|at|to|in|than|with|if|for|most|least))\s*$"
)


class Fault(NamedTuple):
    """What is wrong with a page, and in which line."""

    line: int
    message: str


def setup(app: Any) -> None:
    """Register MathML as the way in which Sphinx shows formulas."""
    from docutils import nodes

    def visit_inline(writer: Any, node: Any) -> None:
        writer.body.append(inline(node.astext(), node.get("after", "")))
        raise nodes.SkipNode

    def visit_block(writer: Any, node: Any) -> None:
        writer.body.append(block(node.astext()))
        raise nodes.SkipNode

    def join(app: Any, tree: Any, page: str) -> None:
        for node in list(tree.findall(nodes.math)):
            following = node.next_node(descend=False, siblings=True)
            if isinstance(following, nodes.Text) and (mark := re.match(r"[^\w\s(–—−]+", following.astext())):
                node["after"] = mark[0]
                following.parent.replace(following, nodes.Text(following.astext()[mark.end() :]))

    app.connect("doctree-resolved", join)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))


def block(formula: str) -> str:
    """Return a formula on lines of its own as HTML; it scrolls by itself where it is wider than the page."""
    return f'<div class="formula" tabindex="0">{_written(_tree(formula, "block"))}</div>\n'


def inline(formula: str, after: str = "") -> str:
    """Return a formula within a sentence as HTML, which may be broken after a relation or a comma.

    The punctuation after it stays with its last part.
    """
    parts = []
    for row in _parts(_tree(formula, "inline")):
        text = _written(row)
        wide = len("".join(row.itertext())) > _WIDE
        parts.append(f'<span class="wide">{text}</span>' if wide else text)
    if after:
        parts[-1] = f'<span class="whole">{parts[-1]}{escape(after)}</span>'
    return f'<span class="formula">{"<wbr>".join(parts)}</span>'


def unreadable(formula: str) -> str | None:
    """Return what prevents a formula from being typeset here and on GitHub, or None."""
    depth = 0
    for sign in re.findall(r"\\.|[{}]", formula, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            break
    if depth:
        return "braces do not match"
    for left, right in (("\\lvert", "\\rvert"), ("\\lbrace", "\\rbrace")):
        if formula.count(left) != formula.count(right):
            return f"{left} and {right} do not match"
    if escaped := re.search(r"\\[^A-Za-z]", formula):
        return f"GitHub drops the backslash of {escaped[0]!r}; write \\lbrace for \\{{, and no spacing commands"
    if bare := re.search(r"[_^](?:\d\d|[A-Za-z]\d|[−-]\w|\.\d)", formula):
        return f"{bare[0]!r} needs braces: only its first character would be raised or lowered"
    try:
        tree = _tree(formula, "inline")
    except Exception as error:  # the package raises what it meets
        return f"latex2mathml cannot read it ({type(error).__name__})"
    if unknown := [text for text in tree.itertext() if "\\" in text]:
        return f"unknown command {unknown[0]}"
    return None


def formulas(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, formula) for each formula of a page, code left out."""
    yield from _taken(text)[1]


def faults(text: str, *, mathematical: bool = False) -> Iterator[Fault]:
    """Yield what would be shown wrongly: formulas, emphasis and lists that wrapped lines make.

    A mathematical page that has formulas must have all of them typeset; one that has none is still in plain text.
    """
    rest, taken = _taken(text)
    for line, formula in taken:
        if why := unreadable(formula):
            yield Fault(line, f"formula ${formula}$: {why}")
        elif "\n" in formula and f"$${formula}" not in re.sub(r"\$\$\s*", "$$", text):
            yield Fault(line, f"formula ${formula}$ runs over the end of a line, where GitHub may not see it")
    for number, row in enumerate(text.split("\n"), 1):
        if row.lstrip().startswith("|") and any("|" in body for body in re.findall(r"\$([^$]+)\$", row)):
            yield Fault(number, "a formula in a table has '|', which ends the cell; write \\lvert … \\rvert")
    tokens = MarkdownIt("commonmark").enable("table").parse(rest)
    yield from _lists(tokens, rest.split("\n"))
    heading = False
    for token in tokens:
        heading = token.type == "heading_open" or (heading and token.type != "heading_close")
        line = token.map[0] + 1 if token.map else 1
        if token.type == "inline":
            yield from (Fault(line, message) for message in _emphasised(token.children or []))
            if mathematical and not heading:
                yield from (Fault(line, message) for message in _left(token.children or [], bool(taken)))
        elif token.type == "code_block" and mathematical and taken and _INSIDE.search(token.content):
            yield Fault(line, f"a formula set as code: {token.content.strip()[:40]!r}")


def _taken(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return a page with code and formulas replaced by words on as many lines, and the formulas."""
    found: list[tuple[int, str]] = []

    def code(match: re.Match[str]) -> str:
        return re.sub(r"[^\n`~]", "x", match[0])

    def formula(match: re.Match[str]) -> str:
        found.append((match.string.count("\n", 0, match.start()) + 1, match["body"].strip()))
        return "FORMULA" + "\n" * match[0].count("\n")

    rest = _CODE.sub(code, text)
    return _INLINE.sub(formula, _DISPLAYED.sub(formula, rest)), sorted(found)


def _lists(tokens: list[Token], rows: list[str]) -> Iterator[Fault]:
    """Yield lists and quotations that begin in the middle of a sentence."""
    opened = {"bullet_list_open": "list", "ordered_list_open": "list", "blockquote_open": "quotation"}
    for token in tokens:
        if token.type not in {*opened, "list_item_open"} or not token.map or token.map[0] == 0:
            continue
        before = rows[token.map[0] - 1].rstrip()
        bare = re.fullmatch(r"\s*(?:[-*+]|\d+[.)])?\s*", before)
        if bare or before.lstrip().startswith(("#", "<", "|", "```")):
            continue
        inside = token.type == "list_item_open"
        if _CONTINUED.search(before) if inside or token.level else not _ENDED.search(before):
            kind = opened.get(token.type, "list")
            yield Fault(token.map[0] + 1, f"a {kind} within a sentence: {rows[token.map[0]].strip()[:40]!r}")


def _emphasised(children: list[Token]) -> Iterator[str]:
    """Yield emphasis that signs of a formula made."""
    for place, token in enumerate(children):
        if token.type not in {"em_open", "strong_open"}:
            continue
        end = next(
            later for later in range(place, len(children))
            if children[later].type == token.type.replace("open", "close") and children[later].level == token.level
        )  # fmt: skip
        inside = "".join(child.content for child in children[place:end])
        before = children[place - 1].content[-1:] if place else ""
        after = children[end + 1].content[:1] if end + 1 < len(children) else ""
        formula = token.markup == "_" and _INSIDE.search(inside)
        if formula or re.match(r"[\w^=+−·/√]", before) or re.match(r"[\w^=_/]", after):
            yield f"emphasis inside a formula: {before}{token.markup}{inside[:40]}{token.markup}{after}"


def _left(children: list[Token], typeset: bool) -> Iterator[str]:
    """Yield what looks like a formula and is plain text."""
    for token in children:
        if token.type != "text":
            continue
        if "$" in token.content:
            yield f"a dollar sign that belongs to no formula: {token.content[:60]!r}"
        corrupted = re.search(r"\\[a-z]{2,}", token.content)
        if plain := _PLAIN.search(token.content) if typeset else corrupted:
            start = max(0, plain.start() - 20)
            yield f"a formula left in plain text: {token.content[start : plain.end() + 20]!r}"


def _tree(formula: str, display: str) -> ElementTree.Element:
    latex = " ".join("".join(_SIGNS.get(sign, sign) for sign in formula).split())
    tree = ElementTree.fromstring(
        convert(latex, display=display).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    )
    for row in tree.iter():
        _mend(row)
    return tree


def _mend(row: ElementTree.Element) -> None:
    """Tell operators, numbers and names of functions apart where the package took a sign for a letter."""
    children = list(row)
    for place, child in enumerate(children):
        text = child.text or ""
        if child.tag == "mi" and text in _FUNCTIONS:
            child.tag = "mo"
        if child.tag == "mi" and text in _OPERATORS | _OPENING | _CLOSING:
            child.tag = "mo"
            if text not in _OPERATORS:
                child.set("stretchy", "false")
        elif child.tag == "mi" and re.fullmatch(r"[\d.]+", text):
            child.tag = "mn"
        elif child.tag == "mo" and text.isalpha():
            child.set("lspace", "0.17em")
            following = children[place + 1].text if place + 1 < len(children) else ""
            child.set("rspace", "0" if following in _OPENING else "0.17em")
        elif child.tag == "mo" and text in {"-", "\u2212"} and row.tag in {"mrow", "math"}:
            before = children[place - 1] if place else None
            if before is None or (before.tag == "mo" and (before.text or "") not in {*_CLOSING, "!", "\u2032"}):
                child.set("form", "prefix")


def _parts(tree: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the parts of a formula between which a line may be broken."""
    row = tree[0] if len(tree) == 1 and tree[0].tag == "mrow" else tree
    parts: list[list[ElementTree.Element]] = [[]]
    depth = 0
    rest = list(row)
    for place, child in enumerate(rest):
        parts[-1].append(child)
        text = child.text or ""
        if child.tag == "mo" and text in _OPENING:
            depth += 1
        elif child.tag == "mo" and text in _CLOSING:
            depth -= 1
        elif (
            child.tag == "mo"
            and depth <= 0
            and text in _RELATIONS | {","}
            and _long(parts[-1])
            and _long(rest[place + 1 :])
        ):
            child.set("form", "infix")
            parts.append([])
    made = []
    for part in parts:
        if part:
            math = ElementTree.Element("math")
            ElementTree.SubElement(math, "mrow").extend(part)
            made.append(math)
    return made


def _long(part: list[ElementTree.Element]) -> bool:
    return sum(len("".join(child.itertext())) for child in part) >= 5


def _written(tree: ElementTree.Element) -> str:
    return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)
