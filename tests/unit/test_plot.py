"""`irisdp.plot` and `irisdp plot`: mechanisms, graphs and files, each as the picture of what it holds."""

import pytest

import irisdp
from irisdp import BadInput, Privacy, design, graphs
from irisdp._cli import run
from irisdp._hooks import Drawable
from irisdp.certify import privacy_profile
from irisdp.graphs import Path
from irisdp.plots import bars, graph_picture, heat_map
from irisdp.plots._drawing import _DRAWN_BY
from irisdp.plots._publications import PublishedAnswers
from irisdp.privacy import Gaussian


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("town,age\nYork,70\nEly,20\n", encoding="utf-8")
    irisdp.publish("t.csv", "count", by="town", groups=["York", "Ely"], epsilon=1, out="o.csv")
    design.geometric(1, Privacy(ratio=2)).save("m.json")
    (tmp_path / "x.csv").write_text("0.75,0.25\n0.25,0.75\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("m.json", "Probability of each answer, for each input"),
        ("o.csv", None),
        ("o.csv.release.json", None),
        ("o.csv.datapackage.json", None),
        ("t.ledger", None),
    ],
)
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t.csv",), "t.csv is no mechanism, release or ledger"),
        (("x.csv",), "x.csv is no mechanism, release or ledger"),
        (("none.json",), "none.json cannot be read"),
        (("t.ledger", "--form", "bars"), "--form: is for mechanisms"),
        (("m.json", "--form", "round"), "--form: is not a form that Iris draws; choose heat-map or bars"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_line(words, said, folder, capsys):
    assert run(["plot", *words, "-o", "p.svg"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (folder / "p.svg").exists()


def test_a_file_is_never_drawn_over(folder, capsys):
    assert run(["plot", "m.json", "-o", "m.json"]) == 2
    assert run(["plot", "m.json", "-o", "p.pdf"]) == 2
    assert "must end in .svg, .png or .html" in capsys.readouterr().err


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
