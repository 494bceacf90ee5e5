"""Pictures: what they draw, say and tabulate; the same bytes each time; nothing fetched, nothing executed."""

import json
import os
import re
import subprocess
import sys
import time
from fractions import Fraction
from itertools import pairwise

import pytest

from irisdp import BadInput, Mechanism, Privacy, design
from irisdp.mechanisms import read_document
from irisdp.plots import bars, heat_map
from irisdp.plots._picture import _library

SLACK = 2
"""Processors differ, and a busy one shares its caches."""

HOSTILE = "</script><script>alert(1)</script>\u202e\x00\ud800'\""


@pytest.fixture(scope="module")
def picture():
    return heat_map(design.geometric(2, Privacy(ratio=2)))


@pytest.fixture(scope="module")
def hostile():
    rows = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    table = [list(row) for row in rows]
    return heat_map(Mechanism.from_matrix(table, privacy=Privacy(ratio=2), outputs=(HOSTILE, "b")))


def test_values_are_the_mechanisms(picture):
    mechanism = design.geometric(2, Privacy(ratio=2))
    exact = {
        (str(i), str(o)): float(p)
        for i in mechanism.inputs
        for o, p in zip(mechanism.outputs, mechanism.row(i), strict=True)
    }
    assert {row[:2]: row[2] for row in picture.rows} == exact
    (drawn,) = picture.spec["datasets"].values()
    assert [tuple(one.values()) for one in drawn] == list(picture.rows)


def test_svg_says_what_it_shows(picture):
    drawn = picture.to_svg()
    assert f"<title>{picture.title}</title>" in drawn
    assert "<desc>A heat map" in drawn
    assert drawn.count("probability: ") >= 9


def test_nothing_is_fetched(picture):
    page = picture.to_html().replace(_library(), "")
    for tag in re.findall(r"<(?:script|link|img|iframe)[^>]*>", page):
        assert "src=" not in tag
        assert "href=" not in tag
    assert "default-src 'none'" in page


def test_names_are_no_markup(hostile):
    for page in (hostile.to_svg(), hostile.to_html()):
        assert "<script>alert" not in page
        assert "\x00" not in page
    page = hostile.to_html()
    found = re.search(r'id="specification">(.*?)</script>', page, re.DOTALL)
    assert json.loads(found.group(1)) == json.loads(json.dumps(hostile.spec))


@pytest.mark.parametrize("ending", [".svg", ".png", ".html"])
def test_files_hold_what_their_endings_say(ending, picture, tmp_path):
    path = picture.save(tmp_path / f"p{ending}")
    assert path.read_bytes() == picture.to_bytes(ending)
    with pytest.raises(BadInput, match="is there already"):
        picture.save(path)
    picture.save(path, force=True)


def test_other_endings_are_refused(picture, tmp_path):
    with pytest.raises(BadInput, match=r"^path: must end in \.svg, \.png or \.html; "):
        picture.save(tmp_path / "p.pdf")


def test_bytes_do_not_depend_on_the_process(tmp_path):
    """Whatever the order of sets, and however much was drawn before."""
    said = "import sys; from irisdp import Privacy, design; from irisdp.plots import heat_map;"
    drawn = "heat_map(design.geometric(2, Privacy(ratio=2))).to_html()"
    seen = set()
    for seed, before in (("1", ""), ("2", f"{drawn};")):
        code = f"{said}{before}sys.stdout.write({drawn})"
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, check=True
        )
        seen.add(found.stdout)
    assert len(seen) == 1


@pytest.fixture(scope="module")
def large():
    """2,001 inputs, each with a name of 60 letters; the answer tells the first half from the second."""
    names = [f"{place} ".ljust(60, "x") for place in range(2001)]
    table = [["2/3", "1/3"]] * 1000 + [["1/3", "2/3"]] * 1001
    table = [[part for part in row for _ in range(50)] for row in table]
    table = [[Fraction(part) / 50 for part in row] for row in table]
    return Mechanism.from_matrix(
        table, privacy=Privacy(ratio=2), inputs=names, outputs=[f"{name}!" for name in names[:100]]
    )


def test_of_many_cells_none_is_described_alone_and_names_are_cut(large):
    """Nobody listens to 10,000 descriptions, and they are most of what there is to draw."""
    found = heat_map(large)
    assert len(found.rows) == 10_000
    assert all(len(part) <= 24 for row in found.rows for part in row[:2])
    assert len({row[:2] for row in found.rows}) == 10_000
    places = {round(place * 2000 / 99) for place in range(100)}
    assert {int(row[0].split("x")[0]) for row in found.rows} == places
    for place, answer, probability in found.rows:
        first = int(place.split("x")[0]) < 1000
        assert probability == float(Fraction(2 if first == (int(answer.split("x")[0]) < 50) else 1, 150))
    drawn = found.to_svg()
    assert "probability: " not in drawn
    assert drawn.count('fill="rgb(') >= 10_000
    few = heat_map(design.geometric(19, Privacy(ratio=2)))
    assert few.to_svg().count("probability: ") == 400


@pytest.mark.parametrize("ending", [".svg", ".png", ".html"])
def test_a_large_mechanism_is_drawn_soon_and_small(ending, large):
    """At most 2 s of the processor and 5 MB; `benchmarks/plots.py` has the figures."""
    heat_map(design.geometric(2, Privacy(ratio=2))).to_bytes(ending)  # loads the renderer
    start = time.process_time()
    made = heat_map(large).to_bytes(ending)
    assert time.process_time() - start < 2 * SLACK
    assert len(made) < 5_000_000


def lightness(red, green, blue):
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [part / 255 for part in (red, green, blue)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_shades_go_from_white_to_dark_and_numbers_on_them_are_read():
    shares = [Fraction(share, 20) for share in range(21)]
    found = []
    for share in shares:
        drawn = heat_map(Mechanism.from_matrix([[share, 1 - share]], privacy=Privacy(epsilon=0))).to_svg()
        fill = re.search(r'aria-label="answer: 0;[^>]*rect mark"[^>]*fill="rgb\((\d+), (\d+), (\d+)\)"', drawn)
        letters = re.search(r'<text[^>]*aria-label="answer: 0;[^>]*fill="(#fefefe|black)"', drawn)[1]
        found.append(lightness(*map(int, fill.groups())))
        ends = sorted((found[-1] + 0.05, (1 if letters == "#fefefe" else 0) + 0.05))
        assert ends[1] / ends[0] >= 4.5
    assert found[0] == pytest.approx(1)
    assert all(earlier > later for earlier, later in pairwise(found))


@pytest.mark.parametrize("draw", [heat_map, bars])
@pytest.mark.parametrize("few", [2, 20])
def test_names_of_any_length_are_cut_and_stay_apart(draw, few):
    """A name of 100,000 letters, which a file of a stranger may hold, kept the renderer for two minutes."""
    names = ["x" * 100_000 + str(place) for place in range(few)]
    graph = {"nodes": names, "edges": [names[:2]]}
    rows = [[f"1/{few}"] * few] * few
    document = {"privacy": {"ratio": 2}, "graph": graph, "inputs": names, "outputs": names, "matrix": rows}
    drawn = draw(read_document(document).mechanism())
    assert max(len(str(part)) for row in drawn.rows for part in row) < 200
    assert len({row[:2] for row in drawn.rows}) == len(drawn.rows)
