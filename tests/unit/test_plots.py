"""Pictures: what they draw, say and tabulate; the same bytes each time; nothing fetched, nothing executed."""

import json
import os
import re
import subprocess
import sys
import time
from fractions import Fraction
from itertools import pairwise

import networkx
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, Session, compare, design, graphs
from irisdp._cli import run
from irisdp._hooks import Drawable
from irisdp.certify import privacy_profile
from irisdp.graphs import Path
from irisdp.mechanisms import read_document
from irisdp.plots import bars, graph_picture, heat_map, rainbow_curves
from irisdp.plots._comparisons import error_against_epsilon
from irisdp.plots._drawing import _DRAWN_BY
from irisdp.plots._layout import rendered
from irisdp.plots._picture import _library
from irisdp.plots._publications import PublishedAnswers
from irisdp.privacy import Gaussian, steps

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


def test_a_pdf_is_one_page_of_the_size_of_the_picture(picture, tmp_path):
    written = picture.save(tmp_path / "p.PDF").read_bytes()
    assert written.startswith(b"%PDF-") and written.rstrip().endswith(b"%%EOF")
    assert written.count(b"/Type /Page\n") == 1 and b"/FontFile" in written
    (box,) = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", written)
    width, height = re.search(r'width="([0-9.]+)" height="([0-9.]+)"', picture.to_svg()).groups()
    assert [float(size) for size in box] == pytest.approx([float(width), float(height)], abs=1)


def test_other_endings_are_refused(picture, tmp_path):
    with pytest.raises(BadInput, match=r"^path: must end in \.svg, \.png, \.pdf or \.html; "):
        picture.save(tmp_path / "p.jpeg")


@pytest.mark.parametrize(("drawn", "before"), [
    ("heat_map(design.geometric(2, Privacy(ratio=2))).to_html()", True),
    ("error_against_epsilon('count').to_svg()+rainbow_curves(['1/4','3/4'],Privacy(ratio=2)).to_svg()", False),
])  # fmt: skip
def test_bytes_do_not_depend_on_the_process(drawn, before):
    """Whatever the order of sets, and however much was drawn before."""
    seen = set()
    for seed, first in (("1", ""), ("2", f"{drawn};" * before)):
        names = "import sys; from irisdp import Privacy, design; from irisdp.plots import *;"
        code = f"{names}{first}sys.stdout.buffer.write(({drawn}).encode())"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
        seen.add(done.stdout)
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


# `irisdp.plot` and `irisdp plot`: mechanisms, graphs and files, each as the picture of what it holds.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("town,age\nYork,70\nEly,20\n", encoding="utf-8")
    irisdp.publish("t.csv", "count", by="town", groups=["York", "Ely"], epsilon=1, out="o.csv")
    design.geometric(1, Privacy(ratio=2)).save("m.json")
    (tmp_path / "x.csv").write_text("0.75,0.25\n0.25,0.75\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("file", "title"), [
    ("m.json", "Probability of each answer, for each input"),
    ("o.csv", None),
    ("o.csv.release.json", None),
    ("o.csv.datapackage.json", None),
    ("t.ledger", None),
])  # fmt: skip
@pytest.mark.parametrize("ending", ["svg", "html"])
def test_files_are_drawn_by_what_they_hold(file, title, ending, folder, capsys):
    assert run(["plot", file, "-o", f"p.{ending}"]) == 0
    picture = irisdp.plot(file)
    assert title in (None, picture.title)
    assert (folder / f"p.{ending}").read_bytes() == picture.to_bytes(f".{ending}")
    assert picture.description.split()[0] in capsys.readouterr().out


def test_privacy_is_drawn_by_its_forms(folder):
    mechanism = irisdp.load("m.json")
    for form in ("trade-off", "profile"):
        assert run(["plot", "m.json", "--form", form, "-o", f"{form}.svg"]) == 0
        assert (folder / f"{form}.svg").read_bytes() == mechanism.plot(form=form).to_bytes(".svg")


@pytest.mark.parametrize(("words", "said"), [
    (("t.csv",), "t.csv is no mechanism, release or ledger"),
    (("x.csv",), "x.csv is no mechanism, release or ledger"),
    (("none.json",), "none.json cannot be read"),
    (("t.ledger", "--form", "bars"), "--form: is for mechanisms"),
    (("m.json", "--form", "round"), "--form: is not a form that Iris draws; choose heat-map or bars"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_a_line(words, said, folder, capsys):
    assert run(["plot", *words, "-o", "p.svg"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (folder / "p.svg").exists()


def test_a_file_is_never_drawn_over(folder, capsys):
    assert run(["plot", "m.json", "-o", "m.json"]) == 2
    assert run(["plot", "m.json", "-o", "p.jpeg"]) == 2
    assert "must end in .svg, .png, .pdf or .html" in capsys.readouterr().err


def test_wide_mechanisms_are_drawn_in_part_and_said_so():
    mechanism = design.geometric(500, Privacy(ratio=2))
    for draw, inputs, answers, together in ((heat_map, 100, 84, 6), (bars, 8, 39, 13)):
        picture = draw(mechanism)
        assert len(picture.rows) == inputs * answers
        assert f"Of its inputs {inputs} are drawn" in picture.description
        assert f"Each {together} neighbouring answers" in picture.description
        total = {}
        for name, _, probability in picture.rows:
            total[name] = total.get(name, 0) + probability
        assert list(total.values()) == pytest.approx([1] * inputs)


def test_names_written_alike_stay_apart():
    table = [["2/3", "1/3"], ["1/3", "2/3"]]
    picture = heat_map(irisdp.Mechanism.from_matrix(table, privacy=Privacy(ratio=2), inputs=(1, "1")))
    assert {row[0] for row in picture.rows} == {"1 (0)", "1 (1)"}


def test_a_graph_is_drawn_by_depth():
    coloured = graphs.colour(Path(6), lambda k: "low" if k < 2 else "high")
    picture = irisdp.plot(coloured)
    assert picture.rows == (
        ("0", "low", 1, False),
        ("1", "low", 0, True),
        ("2", "high", 0, True),
        ("3", "high", 1, False),
        ("4", "high", 2, False),
        ("5", "high", 3, False),
    )
    assert "6 nodes and 5 edges" in picture.description
    drawn = picture.to_svg()
    assert all(f">{node}<" in drawn for node in range(6))


def test_a_graph_of_one_column_has_room_for_its_words_and_whole_distances():
    spec = graph_picture(graphs.colour(Path(5), lambda k: k % 2)).spec
    assert spec["width"] >= 320
    assert spec["layer"][1]["encoding"]["x"]["axis"]["values"] == [0]
    spec = graph_picture(graphs.colour(Path(60), lambda k: k > 3)).spec
    assert spec["layer"][1]["encoding"]["x"]["axis"]["values"][:3] == [0, 4, 8]


def test_nodes_lie_where_they_are_placed_true_to_shape():
    layout = networkx.circular_layout(networkx.cycle_graph(6))
    ring = graphs.colour(graphs.Cycle(6), lambda k: "low" if k < 3 else "high")
    picture = ring.plot(positions=layout)
    assert picture.columns == ("node", "colour", "x", "y", "on the boundary")
    assert [(row[2], row[3]) for row in picture.rows] == [pytest.approx(tuple(layout[k])) for k in range(6)]
    assert "at given positions" in picture.description and picture.title == "A coloured graph"
    line, points = picture.spec["layer"][:2]
    assert len(picture.spec["datasets"][line["data"]["name"]]) == 2 * 6  # straight
    ends = {axis: points["encoding"][axis]["scale"]["domain"] for axis in "xy"}
    sizes = picture.spec["width"], picture.spec["height"]
    scales = [(ends[axis][1] - ends[axis][0]) / size for axis, size in zip("xy", sizes, strict=True)]
    assert scales[0] == pytest.approx(scales[1])


def test_a_row_of_nodes_or_a_single_one_may_be_placed():
    row = graph_picture(Path(3), positions={k: (k, "1/2") for k in range(3)})
    assert row.spec["height"] == 90 and [r[2:4] for r in row.rows] == [(0.0, 0.5), (1.0, 0.5), (2.0, 0.5)]
    graph_picture(Path(1), positions={0: (7, 7)}).to_svg()


@pytest.mark.parametrize(("positions", "said"), [
    ({0: (0, 0)}, "leaves out the node 1"),
    ({0: (0, 0), 1: (1, 0), 2: (2, 0)}, "names 2, which is no node"),
    ({0: (0, 0), 1: 3}, "has no pair of numbers for the node 1"),
    ({0: (0, 0), 1: (1, 2, 3)}, "has no pair of numbers for the node 1"),
    ({0: (0, 0), 1: (1, float("nan"))}, "positions: "),
    ({0: (0, 0), 1: (1, "1e101")}, "of 1 is too far out"),
])  # fmt: skip
def test_other_positions_are_refused(positions, said):
    with pytest.raises(BadInput, match=r"^positions: ") as refusal:
        graph_picture(Path(2), positions=positions)
    assert said in str(refusal.value)


def test_positions_are_for_graphs():
    with pytest.raises(BadInput, match=r"^positions: are for graphs"):
        design.geometric(1, Privacy(ratio=2)).plot(positions={0: (0, 0), 1: (1, 1)})
    with pytest.raises(BadInput, match=r"^positions: are for graphs"):
        Path(2).plot(form="bars", positions={0: (0, 0), 1: (1, 1)})


def test_a_large_graph_is_refused():
    with pytest.raises(BadInput, match=r"^graph: has 200 nodes; a drawing is readable up to 150; "):
        graph_picture(Path(200))


def test_results_draw_themselves(folder):
    ledger = irisdp.Ledger("t.ledger")
    read = irisdp.interpret("o.csv.release.json", 7, at_most=10)
    coloured = graphs.colour(Path(6), lambda k: "low" if k < 2 else "high")
    mechanism = irisdp.load("m.json")
    publication = irisdp.publish("t.csv", "count", by="town", groups=["York", "Ely"], epsilon=1)
    session = irisdp.Session("t.csv", ledger="t.ledger")
    things = [mechanism, Privacy(ratio=2), Gaussian(1), privacy_profile(mechanism), Path(6), coloured, publication]
    for thing in (*things, read, ledger, session):
        assert thing.plot() == irisdp.plot(thing)
    assert mechanism.plot(form="bars") == bars(mechanism)
    with pytest.raises(BadInput, match=r"^form: is for mechanisms and privacy"):
        ledger.plot(form="bars")


def test_all_that_is_drawn_draws_itself():
    for kinds, _ in _DRAWN_BY:
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            assert issubclass(kind, Drawable) or kind is PublishedAnswers


def test_other_things_have_no_picture():
    with pytest.raises(BadInput, match=r"^thing: is a int, of which there is no picture; "):
        irisdp.plot(3)


# Rainbow curves and errors over ε: the numbers are those of the mechanism and of the comparison, exactly rounded.

ROW = tuple(map(Fraction, ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")))


def layers(spec, mark):
    """Return the layers of a picture that hold a kind of mark."""
    inner = [layer for part in spec.get("vconcat", [spec]) for layer in part.get("layer", [part])]
    return [layer for layer in inner if layer["mark"]["type"] == mark]


@pytest.mark.parametrize(
    "privacy",
    [Privacy(ratio="6/5", delta="1/100"), Privacy.all([Privacy(ratio=2), Privacy(ratio="6/5", delta="1/10")])],
)
def test_points_are_the_steps_of_the_boundary_row(privacy):
    picture = rainbow_curves(ROW, privacy, farthest=12)
    found = {(name, depth): p for name, depth, p in picture.rows}
    before = [Fraction(0)] * 13
    for k in range(len(ROW)):
        exact = [steps(sum(ROW[: k + 1]), depth, privacy) for depth in range(13)]
        for depth in range(13):
            assert found[str(k + 1), depth] == pytest.approx(float(exact[depth] - before[depth]), abs=1e-12)
        before = exact


def test_turns_are_marked_where_they_are_defined():
    one = rainbow_curves(ROW, Privacy(ratio="1.2"), farthest=40)
    assert [d["τ"] for d in one.spec["datasets"][layers(one.spec, "text")[0]["data"]["name"]]] == [7, 1]
    assert "38, 22, 7, 1, 0." in one.description
    several = rainbow_curves(ROW, Privacy.all([Privacy(ratio=2), Privacy(ratio="6/5", delta="1/10")]), farthest=9)
    assert "no τ is defined" in several.description
    assert not layers(several.spec, "text")


def test_many_answers_share_a_curve():
    picture = rainbow_curves(["1/20"] * 20, Privacy(ratio=2))
    assert {row[0] for row in picture.rows} == {*map(str, range(1, 12)), "the other 9 answers"}
    for depth in range(3):
        assert sum(row[2] for row in picture.rows if row[1] == depth) == pytest.approx(1)


@pytest.mark.parametrize(("row", "options", "message"), [
    (["1/2"], {}, "matrix"),
    (["1/2", "1/2"], {"answers": ["a"]}, "answers: must be as many"),
    (["1/2", "1/2"], {"farthest": 201}, "farthest: "),
    (["1/2", "nan"], {}, "row: "),
])  # fmt: skip
def test_rows_that_are_none_are_refused(row, options, message):
    with pytest.raises(BadInput, match=message.replace("matrix", "sum to exactly 1")):
        rainbow_curves(row, Privacy(ratio=2), **options)


def test_errors_are_those_of_the_comparison():
    picture = error_against_epsilon("majority", epsilons=["1/2", 1, 2], objective="lead-5")
    expected = [
        (one.name, float(epsilon), float(one.errors["lead-5"]))
        for epsilon in (0.5, 1, 2)
        for one in compare("majority", epsilon=epsilon).mechanisms
    ]
    assert list(picture.rows) == expected
    (line,) = layers(picture.spec, "line")
    drawn = picture.spec["datasets"][picture.spec.get("data", line.get("data"))["name"]]
    assert [tuple(one.values()) for one in drawn] == expected
    svg = picture.to_svg()
    for name in ("best for each distance", "exponential mechanism", "ε (log scale)"):
        assert name in svg


@pytest.mark.parametrize(("options", "message"), [
    ({"epsilons": [1]}, "epsilons: must be 2 to 60"),
    ({"epsilon": 1}, "epsilon: is drawn along"),
    ({"objective": "no"}, "objective: is not one"),
    ({"epsilons": 3}, "epsilons: must be a sequence"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(BadInput, match=message):
        error_against_epsilon("count", **options)


def test_a_legend_has_room_in_wider_fonts():
    """Of DejaVu Sans, which many machines have instead of Arial, a letter is wider by 0.84 points at most."""
    picture = error_against_epsilon("majority", epsilons=["1/2", 1])
    longest = max(len(row[0]) for row in picture.rows)
    assert picture.spec["config"]["padding"]["right"] >= 5 + 0.84 * longest
    width = float(re.search(r'<svg[^>]*?width="([\d.]+)"', picture.to_svg()).group(1))
    bare = dict(picture.spec, config={**picture.spec["config"], "padding": 5})
    assert width >= float(re.search(r'width="([\d.]+)"', rendered("vegalite_to_svg", bare)).group(1)) + 0.84 * longest


# Pages and pictures, whose commands say in JSON what they wrote.


def test_pages_and_pictures_say_in_json_what_they_wrote(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Session(pa.table({"g": ["a", "b", "c"]}), ledger="l").count(ratio=4, by="g", groups=["a", "b", "c"], out="o.csv")
    assert run(["report", "o.csv", "-o", "o.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["out"] == ["o.html"]
    assert run(["report", "o.csv", "--json"]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --json: says what was written")
    assert run(["plot", "o.csv", "-o", "o.svg", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["out"] == ["o.svg"] and "3 published answers" in written["description"]
