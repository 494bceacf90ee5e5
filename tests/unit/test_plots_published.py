"""Pictures of what was published, of readings and of ledgers: their values, their words, and nothing else."""

import json
import math
import shutil
from fractions import Fraction
from itertools import chain, combinations, pairwise
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Mechanism, Privacy, design, graphs
from irisdp.certify import privacy_profile
from irisdp.interpretation import Posterior
from irisdp.plots import _privacy_curves, names_read, published, readings
from irisdp.plots._layout import cut_apart, heading, in_columns, labels
from irisdp.plots._ledgers import ledger_picture
from irisdp.plots._posteriors import estimates_picture
from irisdp.plots._privacy_curves import PEERS, privacy_profiles, trade_off_curves
from irisdp.plots._publications import read_published
from irisdp.privacy import Gaussian
from support.releases import forget_digests

HOSTILE = ["</script><script>alert(1)</script>", "a\u202eb", '"q", > x', "two\nlines"]
CANARY = 7919
TABLE = pa.table(
    {
        "town": ["Ely"] * 40 + ["York"] * 90 + ["Bath"] * 3,
        "age": [20 + place % 70 for place in range(133)],
        "party": ["red", "green", "red"] * 44 + ["green"],
    }
)
TOWNS = {"by": "town", "groups": ["Ely", "York", "Bath"]}


@pytest.fixture
def session(tmp_path):
    return irisdp.Session(TABLE, ledger=tmp_path / "town.ledger", limit="99,1e-3")


def drawn(picture):
    """Return every datum that the specification holds."""
    return [one for values in picture.spec["datasets"].values() for one in values]


def ask(session, out, name):
    """Ask one of each kind of question."""
    asked = {
        "count": ("count", "age > 40"), "sum": ("sum", "age"), "mean": ("mean", "age"),
        "majority": ("majority", "age > 40"), "at-least": ("at-least", 5), "plurality": ("plurality", "party"),
        "median": ("median", "age"), "top": ("top", 2, "party"), "ranking": ("ranking", "party"),
    }[name]  # fmt: skip
    options = {
        "sum": {"lower": 0, "upper": 99}, "mean": {"lower": 0, "upper": 99}, "median": {"bins": "30,60"},
        **{kind: {"categories": ["red", "green", "blue"]} for kind in ("plurality", "top", "ranking")},
    }.get(name, {})  # fmt: skip
    return session.publish(*asked, **TOWNS, **options, epsilon=2, out=out)


@pytest.mark.parametrize("name", ["count", "sum", "mean"])
@pytest.mark.parametrize("ending", [".csv", ".json", ".parquet"])
def test_numbers_are_those_of_the_publication(session, tmp_path, name, ending):
    found = ask(session, tmp_path / f"o{ending}", name)
    picture = published(found)
    expected = [(str(town), *told) for town, *told in found.answers.rows()]
    assert list(picture.rows) == expected
    assert picture.columns[-2:] == ("answer_low", "answer_high")
    points = {one["label"]: one["value"] for one in drawn(picture) if "value" in one}
    ends = {one["label"]: (one["low"], one["high"]) for one in drawn(picture) if "low" in one}
    assert points == {town: answer for town, answer, _, _ in expected}
    assert ends == {town: (low, high) for town, _, low, high in expected}
    for source in (found.out[0], found.out[1], str(found.out[0])):
        again = published(source)
        assert (again.rows, again.spec, again.description) == (picture.rows, picture.spec, picture.description)
    answer, low, high = (int(number) if number == int(number) else number for number in expected[0][1:])
    assert f"Ely: {answer}, from {low} to {high}" in picture.description
    assert "95 % confidence interval" in picture.description


@pytest.mark.parametrize("name", ["majority", "at-least", "plurality", "median", "top", "ranking"])
def test_names_stand_where_they_were_published(session, tmp_path, name):
    found = ask(session, tmp_path / "o.csv", name)
    picture = published(found)
    answers = dict(zip([key[0] for key in found.answers.keys], found.answers.values, strict=True))
    marks = {}
    for one in drawn(picture):
        marks.setdefault(one["group"], []).append(one["name"])
    separator = {"top": ", ", "ranking": " > "}.get(name)
    assert marks == {town: answer.split(separator) if separator else [answer] for town, answer in answers.items()}
    (axis,) = {json.dumps(scale) for scale in scales(picture.spec, "x")}
    assert len(json.loads(axis)["domain"]) == (2 if name in ("majority", "at-least") else 3)
    assert [row[:2] for row in picture.rows] == [(town, str(answer)) for town, answer in answers.items()]
    assert published(found.out[0]).spec == picture.spec


def test_every_band_that_can_be_published_has_a_column(session):
    picture = published(session.band("1,50,60", by="town", groups=["Ely", "York"], epsilon=1))
    (scale,) = scales(picture.spec, "x")
    assert scale["domain"] == ["0", "1 to 49", "50 to 59", "60 or more"]


def test_columns_whose_names_are_turned_stand_close(session, tmp_path):
    edges = ",".join(map(str, range(0, 101, 10)))
    picture = published(session.median("age", bins=edges, epsilon=1))
    assert picture.spec["width"] < 500
    assert picture.spec["encoding"]["x"]["axis"]["labelAngle"] == -40


def test_edges_between_bins_are_no_part_of_a_heading(session):
    found = published(session.histogram("age", bins="0,30,60,90", epsilon=1))
    assert found.spec["title"]["text"] == ["count by age_bin"]
    assert "BINS(age, 0, 30, 60, 90)" in found.description


def scales(spec, axis):
    found = [spec["encoding"][axis]["scale"]] if "encoding" in spec else []
    return found + [scale for part in ("layer", "hconcat") for one in spec.get(part, []) for scale in scales(one, axis)]


def test_histograms_are_bars(session):
    picture = published(session.publish("histogram", "age", bins="30,60", epsilon=2))
    kinds = {layer["mark"]["type"] for layer in picture.spec["layer"]}
    assert kinds == {"bar", "rule", "tick"}
    assert [row[0] for row in picture.rows] == ["below 30", "30 to under 60", "60 and over"]
    one = published(session.count("age > 50", epsilon=1))
    assert [value["label"] for value in drawn(one) if "value" in value] == ["all records"]


def test_audiences_have_shapes_and_not_only_colours(session):
    found = session.count("age > 40", **TOWNS, audience={"board": 4, "press": 1})
    picture = published(found)
    assert [row[1] for row in picture.rows] == ["board"] * 3 + ["press"] * 3
    assert any("shape" in layer["encoding"] for layer in picture.spec["layer"])
    assert "Ely (for press): " in picture.description


def test_axes_say_what_is_counted(tmp_path):
    table = pa.table({"who": ["a", "a", "b"], "v": [1, 2, 3]})
    for at_most, words in ((None, "different values of who"), (2, "records, at most 2 per who")):
        given = {} if at_most is None else {"at_most": at_most}
        found = irisdp.publish(table, "count", unit="who", **given, epsilon=1, ledger=tmp_path / f"{at_most}")
        assert published(found).columns[0] == f"answer ({words})"
        assert published(read_published(found)).spec == published(found).spec


def test_hundreds_of_groups_stand_in_columns(session):
    groups = [(town, age) for town in ("Ely", "York", "Bath") for age in range(100)]
    found = session.count(by=["town", "age"], groups=groups, epsilon=1)
    picture = published(found)
    assert len(picture.rows) == 300
    assert len(picture.spec["hconcat"]) == 4
    assert "and 280 more" in picture.description
    assert len(picture.to_svg()) < 1_000_000
    assert [len(column) for column in in_columns(range(51))] == [26, 25]
    assert in_columns([]) == [[]]


def test_of_very_many_groups_the_first_are_drawn(session):
    found = session.count(by="age", groups=range(2_000), epsilon=1)
    picture = published(found)
    assert len(picture.rows) == 800
    assert "2000 published answers" in picture.description
    assert "Drawn are the first 800." in picture.description


def test_labels_differ():
    assert labels([("a", "b"), ("a · b",), ("a\u202e",), ("a\\u202e",)]) == [
        "a · b", "a · b (2)", "a\\u202e", "a\\u202e (2)",
    ]  # fmt: skip


def test_no_name_is_markup_and_nothing_of_the_table_is_there(tmp_path):
    table = pa.table({HOSTILE[0]: HOSTILE * 2 + [HOSTILE[0]] * CANARY})
    session = irisdp.Session(table, ledger=tmp_path / "l.ledger", limit=9)
    found = session.count(by=HOSTILE[0], groups=HOSTILE, epsilon="0.000001", out=tmp_path / "o.csv")
    names = session.plurality(HOSTILE[0], categories=HOSTILE, epsilon=1)
    pictures = [published(found), published(found.out[0]), published(names), ledger_picture(session.ledger)]
    pictures += [readings(irisdp.interpret(found, at_most=20)), names_read(irisdp.interpret(names))]
    for picture in pictures:
        for page in (picture.to_svg(), picture.to_html().split("<h1>")[1].split("<script>")[0]):
            assert "<script" not in page
            assert "\u202e" not in page
            assert f">{CANARY}<" not in page
        assert str(CANARY) not in json.dumps(picture.rows)


def test_files_that_hold_no_answers_are_refused(session, tmp_path):
    found = ask(session, tmp_path / "o.csv", "count")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(found.out[1], alone)
    with pytest.raises(BadInput, match=r"^release: says how answers were made, and there is no o\.csv beside it; put"):
        published(alone / "o.csv.release.json")
    shutil.copy(found.out[0], alone / "p.csv")
    with pytest.raises(BadInput, match=r"^release: p\.csv holds answers, and not how they were made"):
        published(alone / "p.csv")
    shutil.copy(found.out[0], alone / "o.csv")
    forget_digests(alone / "o.csv")
    (alone / "o.csv").write_text("town,answer,answer_low,answer_high\nEly,1e999999,0,x\n")
    with pytest.raises(BadInput, match=r"^answer: "):
        published(alone / "o.csv")
    (alone / "o.csv").write_text("town\nEly\n")
    with pytest.raises(BadInput, match=r"^release: o\.csv has no column `answer`"):
        published(alone / "o.csv")
    (alone / "x.release.json").write_text("{}")
    with pytest.raises(BadInput, match=r"^release: is no release; "):
        published(alone / "x.release.json")
    with pytest.raises(BadInput, match=r"^release: is no publication; "):
        published(7)


def test_no_named_group_is_nothing_to_draw(tmp_path):
    found = irisdp.publish(
        TABLE.slice(0, 1), "count", by="town", select_groups=True, epsilon="0.01", delta="1e-9", ledger=tmp_path / "l"
    )
    with pytest.raises(BadInput, match=r"^release: holds no answers: no group was named"):
        published(found)


def test_a_reading_is_drawn_as_its_posterior():
    found = irisdp.interpret(design.geometric(10, Privacy(epsilon=1)), 7, at_most=10)
    picture, posterior = readings(found), found.posterior()
    shown = dict(picture.rows)
    for count, p in enumerate(posterior.probabilities):
        assert shown.get(count, 0) == p or p < posterior.probabilities.max() * 1e-4
    low, high = posterior.interval()
    inside = {one["count"] for one in drawn(picture) if one.get("inside") == "inside 95 %"}
    assert inside == set(range(low, high + 1))
    words = {one["words"] for one in drawn(picture) if "words" in one}
    assert words == {"published: 7", f"best reading: {found.answers[0].reading}"}
    assert f"between {low} and {high} with probability 95 % or more" in picture.description
    assert "most likely 7" in picture.description


def test_a_wide_posterior_is_a_curve():
    flat = Posterior(100, np.full(50_000, 1 / 50_000), "all possible counts equally likely")
    from irisdp.plots._posteriors import posterior_picture

    picture = posterior_picture(flat)
    assert len(picture.rows) <= 1_000
    assert picture.spec["layer"][0]["mark"]["type"] == "area"


def test_several_readings_are_rows(session):
    found = irisdp.interpret(session.count("age > 40", **TOWNS, epsilon=2), loss="squared")
    picture = readings(found)
    assert [row[1:3] for row in picture.rows] == [(one.published, one.reading) for one in found.answers]
    assert [row[3:] for row in picture.rows] == [found.posterior(number).interval() for number in range(3)]
    assert readings(found, 2).title.startswith(f"What {found.answers[2].published} published for Bath")
    with pytest.raises(BadInput, match=r"^number: must be at least 0 and at most 2"):
        readings(found, 3)


def test_names_that_were_read(session):
    found = session.plurality("party", categories=["red", "green", "blue"], epsilon=2)
    alone = irisdp.interpret(found, found.answers.values[0], at_most=9)
    picture = names_read(alone)
    assert dict((row[0], row[2]) for row in picture.rows) == {
        str(name): float(chance) for name, chance in alone.answers[0].judgement.posterior.items()
    }
    worst = names_read(irisdp.interpret(found))
    assert worst.rows[0][-1] <= float(irisdp.interpret(found).answers[0].probability.lower)
    assert "whatever the table is" in worst.description


def test_lists_that_were_read(session, tmp_path):
    sizes = irisdp.interpret(session.publish("sizes", 3, "party", epsilon=2, out=tmp_path / "s.csv"))
    picture = estimates_picture(sizes)
    assert [row[1:] for row in picture.rows] == [tuple(row[1:]) for row in sizes.rows]
    asked = {"categories": ["red", "green"], "epsilon": 2, "relation": "exchange"}
    column = irisdp.publish(TABLE, "column", "party", **asked, ledger=tmp_path / "c", out=tmp_path / "c.csv")
    told = estimates_picture(irisdp.interpret(column))
    assert [value["value"] for value in drawn(told) if "value" in value] == [row[2] for row in told.rows]
    json.dumps(told.to_document())


def test_ledgers_show_what_is_spent_after_each_release(session):
    session.count("age > 40", **TOWNS, epsilon="0.5")
    session.count("age > 50", audience={"board": 2, "press": 1})
    session.count("age > 60", epsilon=1, delta="1e-4")
    picture = ledger_picture(session.ledger)
    spent = [sum(map(float, epsilons)) for epsilons in ([0.5], [0.5, 2], [0.5, 2], [0.5, 2, 1])]
    assert [row[4] for row in picture.rows] == spent
    assert [row[5] for row in picture.rows] == [0, 0, 0, 1e-4]
    assert picture.columns[-2:] == ("ε spent after it", "δ spent after it")
    assert {one["limit"] for one in drawn(picture) if "limit" in one} == {99, 1e-3}
    document = session.ledger.to_document()
    assert [row[:4] for row in picture.rows] == [
        (one["id"], one["date"][:10], one["query"], one["audience"] or "") for one in document["releases"]
    ]
    assert "ε = 3.5, δ = 0.0001, of ε = 99, δ = 0.001" in picture.title


@pytest.mark.parametrize(
    ("limit", "name", "expected"), [("mu=1", "μ", [0.5, 0.5**0.5]), ("rho=1", "ρ", [1 / 8, 1 / 4])]
)
def test_ledgers_in_other_currencies(tmp_path, limit, name, expected):
    session = irisdp.Session(TABLE, ledger=tmp_path / "l", limit=limit)
    session.count("age > 40", mu="1/2")
    session.count("age > 50", mu="1/2")
    picture = ledger_picture(session.ledger)
    assert [row[4] for row in picture.rows] == pytest.approx(expected)
    assert picture.columns[-1] == f"{name} spent after it"
    assert {one["limit"] for one in drawn(picture) if "limit" in one} == {1}


def test_long_ledgers_are_lines_and_empty_ones_say_so(tmp_path):
    session = irisdp.Session(TABLE, ledger=tmp_path / "l")
    for age in range(41):
        session.count(f"age > {age}", epsilon=1)
    picture = ledger_picture(session.ledger)
    assert [one["spent"] for one in drawn(picture)] == list(range(42))
    assert "and 21 more" in picture.description
    empty = ledger_picture(irisdp.Ledger(tmp_path / "none"))
    assert "nothing was released" in empty.description
    assert "no limit is set" in empty.title
    assert "dashed" not in json.dumps(empty.spec)
    assert empty.to_svg().startswith("<svg")
    assert not (tmp_path / "none").exists()


def test_the_same_bytes_twice(session, tmp_path):
    found = ask(session, tmp_path / "o.csv", "count")
    first, again = (
        [picture.to_svg(), json.dumps(picture.to_document()), picture.to_png(scale=1)]
        for picture in (published(found), published(found))
    )
    assert first == again


def test_long_questions_keep_what_tells_them_apart(session):
    grown = "age > 18 AND age < 65 AND party = 'red'"
    for words in (f"{grown} AND town = 'Ely'", f"{grown} AND town = 'York'", f"party = 'green' AND {grown} OR {grown}"):
        session.count(words, epsilon="1/10")
    shown = [one["release"] for one in drawn(ledger_picture(session.ledger)) if "release" in one]
    assert len({label.partition(" ")[2] for label in shown}) == 3
    assert [label.endswith(f"town = '{town}'") for label, town in zip(shown, ("Ely", "York"), strict=False)] == [
        True
    ] * 2
    assert all(len(label) <= 44 for label in shown)


@pytest.mark.parametrize(("texts", "shown"), [
    (["a count of 2000000 records", "short"], ["a count … records", "short"]),
    (
        ["the first of many words and then the end", "the first of some words and then the end"],
        ["the … many words an…", "the … some words an…"],
    ),
    (["x" * 30, "x" * 29 + "y"], ["xxxxxxxx … xxxxxxxxx", "xxxxxxxx … xxxxxxxxy"]),
    (["same " * 9] * 2, ["same … same"] * 2),
])  # fmt: skip
def test_texts_are_cut_between_words_and_where_they_agree(texts, shown):
    found = cut_apart(texts, 20)
    assert [part.strip() for part in found] == shown
    assert all(len(part) <= 20 for part in found)


def test_no_line_of_a_heading_ends_within_a_number():
    for width in range(60, 600, 7):
        lines = heading("Spent: ε = 5.1, δ = 0, of ε = 8, δ = 1e-06", "true 95 % confidence interval or more", width)
        for line in (*lines["text"], *lines["subtitle"]):
            assert not line.startswith(("=", "%"))
            assert not line.endswith("=")
    assert "\0" not in json.dumps(lines)


SURELY = "dots: published; lines: hold the truth with probability 95 % or more"


def test_a_heading_uses_the_room_there_is(session):
    picture = session.count(by="month = CASE WHEN age > 30 THEN 1 ELSE 12 END", groups=[1, 12], epsilon=1).plot()
    assert " ".join(picture.spec["title"]["subtitle"]) == SURELY and len(picture.spec["title"]["subtitle"]) == 2


def test_there_is_room_above_few_names(session):
    picture = session.majority("age > 40", epsilon=1).plot()
    assert picture.spec["title"]["text"] == ["majority age > 40"] and len(picture.spec["title"]["subtitle"]) == 1
    assert picture.spec["width"] == 380


@pytest.mark.parametrize(("letters", "title", "subtitle"), [
    ("i l . ; / |", 0.400, 0.337),
    ("r t f ( [ - ! J", 0.493, 0.411),
    ("n b 0 ρ μ { $", 0.736, 0.636),
    ("σ", 0.779, 0.634),
    ("Q O N D", 0.850, 0.787),
    ("+ = < #", 0.838, 0.838),
    ("m W % @ …", 1.103, 1.0),
    ("Ж", 1.224, 1.077),
    ("漢", 1.0, 1.0),
])  # fmt: skip
def test_no_line_of_a_heading_is_wider_than_its_picture(letters, title, subtitle):
    """The widest of each class of letters, as Chromium measures them in DejaVu Sans, by the size of the font."""
    for letter in letters.split():
        for width in (280, 462, 700):
            lines = heading(*[" ".join([letter * 5] * 12 + [letter * 40])[:110]] * 2, width)
            for line, size, wide in [
                *((line, 15, title) for line in lines["text"]),
                *((line, 12, subtitle) for line in lines["subtitle"]),
            ]:
                space = 0.348 if size == 15 else 0.318
                assert sum(space if part == " " else wide for part in line) * size <= width


def test_a_limit_on_delta_of_which_nothing_is_spent_has_no_panel(session):
    session.count(epsilon=1)
    pure = ledger_picture(session.ledger)
    assert "vconcat" not in pure.spec
    assert pure.columns[-1] == "δ spent after it"
    session.count("age > 30", epsilon=1, delta="1e-6")
    assert len(ledger_picture(session.ledger).spec["vconcat"]) == 2


# Trade-off curves and profiles: every value against events listed one by one, or a formula that shares no code.

ROWS = [["1/2", "1/3", "1/6", "0"], ["2/5", "2/5", "1/10", "1/10"], ["1/8", "1/4", "1/8", "1/2"]]
FAR = 400
"""Noise is cut here: what is left out is below 1e-40 at ε = 1/4."""


def uneven():
    """A mechanism that is not symmetric, whose promise is far below what it keeps."""
    privacy = Privacy(ratio=4, delta="1/10")
    return Mechanism.from_matrix(ROWS, privacy=privacy, graph=graphs.Path(3))


def normal_below(x):
    """Return the normal distribution function, to all digits in its lower tail."""
    return math.erfc(-x / math.sqrt(2)) / 2


def curve(picture, name):
    return [row[1:] for row in picture.rows if row[0] == name]


def height(points, at):
    """Return a polygon's height, in floats."""
    for (left, above), (right, below) in pairwise(points):
        if left <= at <= right:
            return above if left == right else above + (below - above) * (at - left) / (right - left)
    raise AssertionError(at)


def events(row, other):
    """Return the errors of every test without a coin: the set of outputs that it takes for the other row."""
    for chosen in chain.from_iterable(combinations(range(len(row)), size) for size in range(len(row) + 1)):
        yield sum((row[k] for k in chosen), Fraction(0)), 1 - sum((other[k] for k in chosen), Fraction(0))


def test_no_event_lies_below_a_mechanisms_curve_and_each_corner_is_one():
    rows = [[Fraction(p) for p in row] for row in ROWS]
    edges = [(0, 1), (1, 0), (1, 2), (2, 1)]
    tests = {(float(a), float(b)) for i, j in edges for a, b in events(rows[i], rows[j])}
    corners = curve(trade_off_curves(uneven()), "this mechanism")
    for alarm, missed in tests:
        assert missed >= height(corners, alarm) - 1e-15
    for alarm, missed in corners:
        assert min(abs(alarm - a) + abs(missed - b) for a, b in tests) < 1e-15
    slopes = [(b - a) / (y - x) for (x, a), (y, b) in pairwise(corners)]
    assert slopes == sorted(slopes)


def test_a_mechanism_stands_beside_its_promise_where_that_is_less():
    picture = trade_off_curves(uneven(), beside=[])
    assert list(dict.fromkeys(row[0] for row in picture.rows)) == ["this mechanism", "promised: ε = 1.38629, δ = 0.1"]
    own, promised = curve(picture, "this mechanism"), curve(picture, "promised: ε = 1.38629, δ = 0.1")
    assert promised == curve(trade_off_curves(Privacy(ratio=4, delta="1/10")), "ε = 1.38629, δ = 0.1")
    assert all(missed >= height(promised, alarm) - 1e-12 for alarm, missed in own)
    tight = trade_off_curves(design.geometric(3, Privacy(ratio=2)), beside=[])
    assert {row[0] for row in tight.rows} == {"this mechanism"}
    assert curve(tight, "this mechanism") == [(0, 1), (1 / 3, 1 / 3), (1, 0)]


def test_a_profile_is_the_sum_of_what_is_left():
    picture = privacy_profiles(uneven(), beside=[])
    rows = [[float(Fraction(p)) for p in row] for row in ROWS]
    for epsilon, delta in curve(picture, "this mechanism"):
        left = max(
            sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(rows[i], rows[j], strict=True))
            for i, j in [(0, 1), (1, 0), (1, 2), (2, 1)]
        )
        assert delta == pytest.approx(left, abs=1e-14)
    # what is drawn of a profile is the same
    alone = privacy_profiles(privacy_profile(uneven()), beside=[])
    assert {"this profile"} == {row[0] for row in alone.rows}
    assert curve(alone, "this profile")[0] == curve(picture, "this mechanism")[0]


def law(name, epsilon):
    """Return noise on the whole numbers −FAR … FAR + 1, by its distribution function."""
    if name == "geometric noise, randomised response (yes/no)":
        part = (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon))
        return [part * math.exp(-epsilon * abs(z)) for z in range(-FAR, FAR + 2)]
    if name == "Laplace noise, rounded":

        def upto(x):
            return math.exp(epsilon * x) / 2 if x < 0 else 1 - math.exp(-epsilon * x) / 2

    else:
        step = 1 / (1 + math.exp(epsilon / 2))
        high = (1 - math.exp(-epsilon)) / (2 * (step + math.exp(-epsilon) * (1 - step)))

        def density_up_to(x):  # of x >= 0
            whole, rest = divmod(x, 1)
            full = sum(high * math.exp(-epsilon * k) for k in range(int(whole)))
            full *= step + math.exp(-epsilon) * (1 - step)
            level = high * math.exp(-epsilon * whole)
            return full + level * (min(rest, step) + math.exp(-epsilon) * max(0, rest - step))

        def upto(x):
            return 0.5 + math.copysign(density_up_to(abs(x)), x)

    return [max(0.0, upto(z + 0.5) - upto(z - 0.5)) for z in range(-FAR, FAR + 2)]


@pytest.mark.parametrize(
    "name", ["geometric noise, randomised response (yes/no)", "Laplace noise, rounded", "staircase noise, rounded"]
)
@pytest.mark.parametrize("epsilon", ["1/4", "1", "3"])
def test_noise_beside_it_is_the_noise_that_it_says(name, epsilon):
    masses = law(name, float(Fraction(epsilon)))
    moved = [0.0, *masses[:-1]]
    picture = trade_off_curves(Privacy(epsilon=epsilon), beside=PEERS)
    corners = curve(picture, name)
    tests = [(sum(masses[k:]), 1 - sum(moved[k:])) for k in range(FAR - 20, FAR + 22)]
    for alarm, missed in tests:
        assert missed == pytest.approx(height(corners, min(alarm, 1.0)), abs=1e-11)
    profile = privacy_profiles(Privacy(epsilon=epsilon), beside=PEERS)
    for at, delta in curve(profile, name)[::9]:
        left = sum(max(0.0, p - math.exp(at) * q) for p, q in zip(moved, masses, strict=True))
        assert delta == pytest.approx(left, abs=1e-11)


@pytest.mark.parametrize("mu", ["1/10", "1", "3"])
def test_gaussian_privacy_is_the_normal_law(mu):
    mean = float(Fraction(mu))
    for alarm, missed in [row[1:] for row in trade_off_curves(Gaussian(mu), beside=[]).rows[1:-1]]:
        assert missed == pytest.approx(normal_below(-NormalDist().inv_cdf(alarm) - mean), abs=1e-9)
    found = [row[1:] for row in privacy_profiles(Gaussian(mu), beside=[]).rows]
    for epsilon, delta in found:
        exact = normal_below(mean / 2 - epsilon / mean) - math.exp(epsilon) * normal_below(-mean / 2 - epsilon / mean)
        assert delta == pytest.approx(exact, abs=1e-9)
    assert found[-1][1] < 1e-6 < found[len(found) // 2][1]


def test_the_gaussian_beside_it_is_seen_through_as_often_or_keeps_the_same_pair():
    picture = trade_off_curves(Privacy(ratio=3))
    assert picture.description.endswith("Gaussian noise has that deviation for which this guess is as good.")
    name = picture.rows[-1][0]
    mean = float(name.removeprefix("Gaussian noise, μ = "))
    assert 2 * normal_below(mean / 2) - 1 == pytest.approx(0.5, abs=1e-5)
    picture = trade_off_curves(Privacy(epsilon=1, delta="1e-5"))
    assert picture.description.endswith("Gaussian noise has the least deviation that keeps this δ as well.")
    name = picture.rows[-1][0]
    mean = float(name.removeprefix("Gaussian noise, μ = "))
    delta = normal_below(mean / 2 - 1 / mean) - math.e * normal_below(-mean / 2 - 1 / mean)
    assert delta == pytest.approx(1e-5, rel=1e-3)
    assert "gaussian" not in {row[0] for row in trade_off_curves(Gaussian(1)).rows}


@pytest.mark.parametrize("privacy", [
    Privacy(ratio=3),
    Privacy(epsilon="1/3", delta="1e-7"),
    Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")]),
    Privacy.gaussian("1/2", gap="1e-3"),
])  # fmt: skip
def test_rounding_is_toward_less_privacy(privacy):
    name = trade_off_curves(privacy).rows[0][0]
    for alarm, missed in curve(trade_off_curves(privacy, beside=[]), name):
        least = 1 - privacy.shape.step(Fraction(alarm))
        assert least - Fraction(1, 10**12) <= Fraction(missed) <= least
    for epsilon, delta in curve(privacy_profiles(privacy, beside=[]), name):
        most = privacy.delta_at(epsilon=Fraction(epsilon))
        assert Fraction(delta) <= most + Fraction(1, 10**12)
        assert Fraction(delta) >= most - Fraction(1, 10**15)


@pytest.mark.parametrize(
    "privacy",
    [Privacy(ratio=1), Privacy(epsilon=0, delta="1/10"), Privacy(epsilon=60), Privacy(epsilon=600, delta="1e-9")],
)
def test_the_ends_of_the_scale_are_drawn(privacy):
    for draw in (trade_off_curves, privacy_profiles):
        assert draw(privacy).to_svg().startswith("<svg")


def layers(spec, mark):
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]


def test_every_curve_has_its_dash_and_its_hue_and_axes_say_what_they_are():
    picture = trade_off_curves(uneven(), beside=PEERS)
    names = list(dict.fromkeys(row[0] for row in picture.rows))
    *_, lines = layers(picture.spec, "line")
    for way in ("color", "strokeDash"):
        scale = lines["encoding"][way]["scale"]
        assert scale["domain"] == names
        assert len({str(one) for one in scale["range"]}) == (len(names) if way == "color" else 5)
    drawn = picture.spec["datasets"][lines["data"]["name"]]
    assert [tuple(one.values()) for one in drawn] == list(picture.rows)
    assert lines["encoding"]["x"]["title"] == "type I error: probability of a false alarm"
    assert lines["encoding"]["y"]["title"] == "type II error: probability of a miss"
    assert all(name in picture.description for name in names)


def test_a_profile_draws_what_its_scale_has_room_for():
    picture = privacy_profiles(Privacy(epsilon=1))
    *_, lines = layers(picture.spec, "line")
    drawn = {tuple(one.values()) for one in picture.spec["datasets"][lines["data"]["name"]]}
    assert drawn == {row for row in picture.rows if row[2] >= 1e-6}
    assert lines["encoding"]["y"]["scale"]["domain"] == [1e-6, 1]
    nearest = max(at for name, at, delta in drawn if name == "ε = 1")
    assert 0.9999 < nearest < 1
    wider = privacy_profiles(Privacy(epsilon=1, delta="1e-8"))
    assert layers(wider.spec, "line")[-1]["encoding"]["y"]["scale"]["domain"][0] == pytest.approx(1e-9)


def test_the_same_bytes_twice_of_privacy():
    for draw in (trade_off_curves, privacy_profiles):
        for ending in (".svg", ".png"):
            assert draw(uneven()).to_bytes(ending) == draw(uneven()).to_bytes(ending)


def test_forms_of_mechanisms_and_of_privacy():
    mechanism, privacy = design.geometric(2, Privacy(ratio=2)), Privacy(ratio=2)
    assert irisdp.plot(mechanism, form="trade-off") == trade_off_curves(mechanism)
    assert irisdp.plot(mechanism, form="profile") == privacy_profiles(mechanism)
    assert irisdp.plot(privacy) == trade_off_curves(privacy)
    assert irisdp.plot(Gaussian(1), form="profile") == privacy_profiles(Gaussian(1))
    with pytest.raises(BadInput, match=r"^form: is for mechanisms, and this is not one; choose trade-off or profile"):
        irisdp.plot(privacy, form="bars")


@pytest.mark.parametrize(("subject", "beside", "said"), [
    (3, (), "subject: must be a Mechanism or "),
    (
        Mechanism.from_matrix([["1/2", "1/2"]] * 2, privacy=Privacy(ratio=2)),
        (),
        "subject: has no graph that says which inputs are neighbours; add one",
    ),
    (
        Privacy(ratio=2),
        ["uniform"],
        "beside: must be a list of different mechanisms to compare with; choose from geometric, laplace",
    ),
    (Privacy(ratio=2), "laplace", "beside: must be a list of different mechanisms to compare with"),
    (Privacy(ratio=2), ["laplace", "laplace"], "beside: must be a list of different mechanisms to compare with"),
])  # fmt: skip
def test_what_has_no_curve_is_refused(subject, beside, said):
    for draw in (trade_off_curves, privacy_profiles):
        with pytest.raises(BadInput) as refused:
            draw(subject, beside=beside)
        assert str(refused.value).startswith(said)


def test_what_is_too_large_has_no_curve(monkeypatch):
    monkeypatch.setattr(_privacy_curves, "_MOST_ENTRIES", 35)
    for draw in (trade_off_curves, privacy_profiles):
        with pytest.raises(BadInput, match="has 6 inputs and 6 answers, and pictures of privacy look at up to 35"):
            draw(design.geometric(5, Privacy(ratio=2)))
