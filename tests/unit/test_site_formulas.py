"""Formulas of the manual: typeset as MathML, and pages that would show them wrongly are refused."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import formulas
    import tree
finally:
    sys.path.pop(0)


def messages(text, **options):
    return [fault.message for fault in formulas.faults(text, **options)]


@pytest.mark.parametrize("page", tree.pages(), ids=str)
def test_every_page_shows_its_formulas(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert list(formulas.faults(text, mathematical=tree.mathematical(page))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The operator is $\\frac{a$ here.", "braces do not match"),
        ("The operator is $a}{b$ here.", "braces do not match"),
        ("The operator is $\\undefinedcommand x$ here.", "unknown command \\undefinedcommand"),
        ("The operator is $\\frac$ here.", "latex2mathml cannot read it"),
        ("The size is $\\lvert x\\lvert$ here.", "do not match"),
        ("It doubles at $r^10$ here.", "needs braces"),
        ("The set is $\\{1, 2\\}$ here.", "GitHub drops the backslash"),
        ("The sum $a\n+ b$ is even.", "runs over the end of a line"),
        ("| a | b |\n|---|---|\n| $|V|$ | 1 |\n", "in a table"),
        ("The sum 2*a*b is even.", "emphasis inside a formula"),
        ("The bound is x *y ≤ z*w here.", "emphasis inside a formula"),
        ("Add x_v, P′_v ≤ 1 and Σ e_v + D_{v} to it.", "emphasis inside a formula"),
        ("The truth is (r\n+ 1)/2, at most.", "a list within a sentence"),
        ("The error is a\n- b in all cases.", "a list within a sentence"),
        ("Every row has at least\n1. one entry.", "a list within a sentence"),
        ("- An item whose end is\n- 1 in all cases.", "a list within a sentence"),
        ("The count is c\n> 0 here.", "a quotation within a sentence"),
        ("Put $u$ for it; then 1 − s ≤ t.", "left in plain text"),
        ("Put $u$ for it; then r_i is a ratio.", "left in plain text"),
        ("Put $u$ for it.\n\n    s_t = u^t(s)\n", "set as code"),
        ("Put $u for it.", "a dollar sign that belongs to no formula"),
        ("Put \\frac{a}{b} for it.", "left in plain text"),
    ],
)
def test_a_planted_fault_is_refused(text, message):
    assert any(message in found for found in messages(text, mathematical=True))


@pytest.mark.parametrize(
    "text",
    [
        "Let $u(s) = \\min(1, r·s + δ)$ and $a_i*b_i*c_i$; *best* means largest.",
        "A list:\n- one\n- two\n\n1. first\n2. second\n",
        "| a | b |\n|---|---|\n| $\\lvert V\\rvert$ | *x* |\n",
        "It costs `$HOME` and `a*b*c`.\n\n```sh\necho $x\n```\n",
        "Prices from $5 to $6.",
    ],
)
def test_what_is_right_passes(text):
    assert messages(text) == []


def test_a_build_with_a_fault_stops_before_pages_are_made(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    pytest.importorskip("sphinx", reason="needs the tools of the manual: make site")
    build = pytest.importorskip("build", reason="docs/site/build.py")
    (tmp_path / "page.md").write_text("A sum 2*a*b.\n", encoding="utf-8")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "pages", lambda: [tree.PurePosixPath("page.md")])
    monkeypatch.setattr(build, "assemble", lambda _: pytest.fail("pages were made"))
    assert build.main() == 1
    assert "page.md:1: emphasis inside a formula" in capsys.readouterr().err


def test_formulas_become_mathml_without_scripts():
    shown = formulas.inline("H_r(P, Q) = \\sum_v \\max(0, P_v − r·Q_v)")
    assert shown.count("<math>") == 2  # a line may be broken after the relation
    assert "<msub><mi>H</mi><mi>r</mi></msub>" in shown
    assert "script" not in shown
    assert formulas.block("s_t = 1").startswith('<div class="formula" tabindex="0"><math display="block">')


def test_punctuation_stays_with_the_formula():
    assert formulas.inline("x", ".").endswith('<span class="whole"><math><mrow><mi>x</mi></mrow></math>.</span></span>')


def test_signs_are_operators_and_numbers_are_numbers():
    shown = formulas.inline("x ≥ .81·y")
    assert "<mo>≥</mo>" in shown
    assert "<mn>.81</mn>" in shown


def test_formulas_of_a_page_are_found_with_their_lines():
    text = "A $a$.\n\n$$\nb = c\n$$\n\n`$d$`\n"
    assert list(formulas.formulas(text)) == [(1, "a"), (3, "b = c")]
