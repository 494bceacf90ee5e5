"""A project file is changed in place: it then says the change and what it said, and other lines are as they were."""

import difflib
import os
import stat
import string
import tomllib

import pytest

pytest.importorskip("tomlkit", reason="tomlkit is not installed: `make test` installs it")

from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import BadInput
from irisdp._release.project import read_project
from irisdp._release.project_edits import Change, ProjectText, save_project
from irisdp._release.project_template import init_project

COLUMNS = ("person_id", "age", "town")


@pytest.fixture
def template(tmp_path):
    data = tmp_path / "survey.csv"
    data.write_text(f"{','.join(COLUMNS)}\n1,70,Ely\n")
    return init_project(data)


def edited(path, *changes):
    before = ProjectText.at(path)
    return before.changed([Change(*change) for change in changes]).content.decode()


def differing(before, after):
    """Lines that went, and lines that came."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [[line[2:] for line in lines if line.startswith(mark)] for mark in "-+"]


@pytest.mark.parametrize(
    ("path", "value", "went", "came"),
    [
        (("unit",), "person_id", '#unit = "person_id"', 'unit = "person_id"'),
        (
            ("relation",),
            "exchange",
            '#relation = "add-remove"  # or "exchange"',
            'relation = "exchange"  # or "exchange"',
        ),
        (("at_most",), 3, "#at_most = 1", "at_most = 3"),
        (("missing_codes",), ["-9"], '#missing_codes = ["-9", "99"]', 'missing_codes = ["-9"]'),
        (("types", "age"), "integer", '#"age" = "text"', 'age = "integer"'),
        (("labels", "title"), "A survey", '#title = "A heading"', 'title = "A survey"'),
        (("labels", "columns", "age"), "Age", '#"age" = "What readers see"', 'age = "Age"'),
        (("groups", "town"), ["Ely"], '#"town" = ["A", "B", "C"]', 'town = ["Ely"]'),
    ],
)
def test_a_setting_takes_the_place_of_its_comment(template, path, value, went, came):
    before = template.read_text()
    after = edited(template, (path, value))
    assert differing(before, after) == [[went], [came]]
    assert before.replace(went, came, 1) == after or path[0] == "groups"  # of two lines alike the second one


def test_the_line_that_is_changed_is_in_its_own_table(template):
    after = edited(template, (("groups", "town"), ["Ely"]), (("categories", "age"), ["1"]))
    document = tomllib.loads(after)
    assert document["groups"] == {"town": ["Ely"]} and document["categories"] == {"age": ["1"]}


BY_HAND = """\
# Our survey.
privacy-unit = "person"   # as in the codebook
delimiter = ';'

[types]
Age = "integer"  # years
born = {type = "date", format = "%d.%m.%Y"}

# The wards, as the council spells them.
[groups]
ward = [
  "north",  # the old town
  "south",
  # "east" was merged in 2019
  "west",
]
[labels.columns]
age = "Age in years"
"""


REMARK = "   # as in the codebook"
BORN = 'born = {type = "date", format = "%d.%m.%Y"}'


@pytest.fixture
def by_hand(tmp_path):
    path = tmp_path / "hand.iris.toml"
    path.write_text(BY_HAND)
    return path


@pytest.mark.parametrize(
    ("path", "value", "went", "came"),
    [
        (("unit",), "voter", [f'privacy-unit = "person"{REMARK}'], [f'privacy-unit = "voter"{REMARK}']),
        (("types", "age"), "number", ['Age = "integer"  # years'], ['Age = "number"  # years']),
        (("types", "AGE"), None, ['Age = "integer"  # years'], []),
        (("types", "born"), {"type": "date"}, [BORN], ['born = {type = "date"}']),
        (("groups", "ward"), ["north", "south", "west", "hill"], [], ['  "hill",']),
        (("groups", "ward"), ["north", "west"], ['  "south",'], []),
        (("labels", "columns", "ward"), "Ward", [], ['ward = "Ward"']),
        (("encoding",), "latin-1", [], ['encoding = "latin-1"']),
        (("labels", "title"), "Our survey", [], ["[labels]", 'title = "Our survey"']),
    ],
)  # fmt: skip
def test_a_file_written_by_hand_keeps_its_comments(by_hand, path, value, went, came):
    after = edited(by_hand, (path, value))
    assert differing(BY_HAND, after) == [went, came]
    assert "encoding" not in after or after.index("encoding") < after.index("[types]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# no line end",
        "types.age = 'integer'\n",
        "types = {age = 'integer', town = 'text'}\n",
        "[types.age]\ntype = 'integer'\n",
        "[labels]\n[types]\nage = 'integer'\n[labels.columns]\ntown = 'Town'\n",
        "[types]\r\nage = 'integer'\r\n",
        "\ufeff[types]\nage = 'integer'\n",
        "labels = {columns = {town = 'T'}}\n",
        "[groups]\nage = [1, 2.5, 1970-01-01]\n",
        '[labels]\ntitle = """a \\\n   b"""\n[types]\nage="integer"#c\n',
        "[types]  # 'age' = 'text'\n# age = 'text'\n",
    ],
)
def test_every_way_to_write_a_file_can_be_changed(tmp_path, text):
    path = tmp_path / "x.iris.toml"
    path.write_bytes(text.encode())
    changes = [
        (("unit",), "person"),
        (("types", "age"), {"type": "number", "missing": ["-9"]}),
        (("types", "town"), None),
        (("groups", "town"), ["Ely", 'Wells, "St Cuthbert"']),
        (("labels", "columns", "town"), "Town # of birth"),
        (("labels", "groups", "town", "Ely"), "City of Ely"),
    ]
    after = edited(path, *changes)
    document = tomllib.loads(after.removeprefix("\ufeff"))
    assert document["unit"] == "person" and document["types"] == {"age": {"type": "number", "missing": ["-9"]}}
    assert document["groups"]["town"] == ["Ely", 'Wells, "St Cuthbert"']
    assert document["labels"]["columns"]["town"] == "Town # of birth"
    assert document["labels"]["groups"] == {"town": {"Ely": "City of Ely"}}
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in text) == ("\r\n" in after) and after.count("\r\n") in (0, after.count("\n"))
    again = edited(path, *((path_of, None) for path_of, _ in changes), (("types", "age"), "integer"))
    assert tomllib.loads(again.removeprefix("\ufeff")).get("types") == {"age": "integer"}


# Any file, and any changes of it, against a document that is changed as a dictionary.

names = st.text(string.ascii_letters + "é-_ .#\"'[]=", min_size=1, max_size=6)
words = st.text(
    string.printable.replace("\r", "").replace("\x0b", "").replace("\x0c", "") + "é", min_size=1, max_size=8
)
comments = st.sampled_from(["", "# said by the council\n", "\n", '#"age" = "text"\n', "# [types]\n", "#x\n\n"])
declared = st.sampled_from(["integer", "text", "date"])


def one_each(keys):
    return st.lists(keys, max_size=4, unique_by=str.casefold)


@st.composite
def files(draw):
    """A file that says a little, with comments everywhere, and what it says."""
    lines = [draw(comments)]
    for key, value in (("unit", "person"), ("encoding", "latin-1")):
        if draw(st.booleans()):
            lines.append(f"{key} = '{value}'{draw(st.sampled_from(['', '  # a remark', '#']))}\n{draw(comments)}")
    for table in draw(st.permutations(["types", "groups", "labels.columns"])):
        if draw(st.booleans()):
            continue
        lines.append(f"[{table}]\n{draw(comments)}")
        for name in draw(one_each(names)):
            value = '"text"' if table != "groups" else draw(st.sampled_from(["[1, 2]", '[\n  "a", # A\n  "b"\n]']))
            lines.append(f"{quoted(name)} = {value}\n{draw(comments)}")
    return "".join(lines)


def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


@st.composite
def changes(draw, text):
    said = tomllib.loads(text)
    table = draw(st.sampled_from([("types",), ("groups",), ("labels", "columns"), ()]))
    if not table:
        return ("unit",), draw(st.none() | names.filter(str.strip))
    within = said
    for part in table:
        within = within.get(part, {})
    name = draw(st.sampled_from(sorted(within)) | names if within else names)
    value = {"types": declared, "groups": st.lists(words, min_size=1, max_size=3), "labels": words}[table[0]]
    return (*table, name), draw(st.none() | value)


def with_change(document, path, value):
    """What a file says after a change: written without regard to how the file is edited."""
    found = {key: dict(part) if isinstance(part, dict) else part for key, part in document.items()}
    if "columns" in found.get("labels", {}):
        found["labels"]["columns"] = dict(found["labels"]["columns"])
    *parents, key = path
    within = found
    for parent in parents:
        within = within.setdefault(parent, {})
    key = next((other for other in within if other.casefold() == key.casefold()), key)
    within.pop(key, None) if value is None else within.update({key: value})
    return without_empty(found)


def without_empty(document):
    kept = {key: without_empty(part) if isinstance(part, dict) else part for key, part in document.items()}
    return {key: part for key, part in kept.items() if part != {}}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_a_file_says_after_changes_is_what_it_said_and_the_changes(data):
    text = data.draw(files())
    for _ in range(data.draw(st.integers(1, 3))):
        path, value = data.draw(changes(text))
        after = ProjectText(_nowhere(), text.encode()).changed([Change(path, value)]).content.decode()
        assert without_empty(tomllib.loads(after)) == with_change(tomllib.loads(text), path, value)
        went, _ = differing(text, after)
        # What goes is the setting itself, the comment in its place, or values of its list: comments of people stay.
        assert not [line for line in went if line in ("# said by the council", "# [types]", "#x")]
        text = after


def _nowhere():
    from pathlib import Path

    return Path("nowhere.iris.toml")


# Saving.


def test_a_file_is_replaced_whole_with_its_rights(by_hand):
    os.chmod(by_hand, 0o640)
    before = ProjectText.at(by_hand)
    project = save_project(before, before.changed([Change(("unit",), "voter")]))
    assert project.unit == "voter" == read_project(by_hand).unit
    assert stat.S_IMODE(by_hand.stat().st_mode) == 0o640
    assert [path.name for path in by_hand.parent.iterdir()] == [by_hand.name]


def test_a_file_that_is_missing_is_made(tmp_path):
    path = tmp_path / "survey.iris.toml"
    before = ProjectText.at(path)
    assert before.project() is None and save_project(before, before.changed([])) is None and not path.exists()
    save_project(before, before.changed([Change(("types", "age"), "integer"), Change(("unit",), "person")]))
    assert read_project(path).types == {"age": "integer"} and read_project(path).unit == "person"
    assert path.read_text().startswith("# Settings for all questions")


def test_a_link_stays_a_link(by_hand, tmp_path):
    link = tmp_path / "elsewhere" / "link.iris.toml"
    link.parent.mkdir()
    link.symlink_to(by_hand)
    before = ProjectText.at(link)
    save_project(before, before.changed([Change(("unit",), "voter")]))
    assert link.is_symlink() and read_project(by_hand).unit == "voter"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("relation",), "sideways", "write add-remove or exchange"),
        (("limit",), "a lot", "limit"),
        (("labels", "title"), "two\nlines", "line breaks"),
        (("at_most",), 0, "at_most"),
    ],
)
def test_what_is_no_project_file_is_refused_before_anything_is_replaced(by_hand, path, value, message):
    before = ProjectText.at(by_hand)
    with pytest.raises(BadInput, match=message):
        save_project(before, before.changed([Change(path, value)]))
    assert by_hand.read_text() == BY_HAND and len(list(by_hand.parent.iterdir())) == 1


@pytest.mark.parametrize("meanwhile", [BY_HAND + "# another remark\n", None])
def test_a_file_that_was_changed_meanwhile_is_not_written_over(by_hand, meanwhile):
    before = ProjectText.at(by_hand)
    after = before.changed([Change(("unit",), "voter")])
    if meanwhile is None:
        by_hand.unlink()
    else:
        by_hand.write_text(meanwhile)
    with pytest.raises(BadInput, match="was changed meanwhile"):
        save_project(before, after)
    assert (by_hand.read_text() if by_hand.exists() else None) == meanwhile


def test_a_file_that_appeared_meanwhile_is_not_written_over(tmp_path):
    path = tmp_path / "survey.iris.toml"
    before = ProjectText.at(path)
    after = before.changed([Change(("unit",), "voter")])
    path.write_text("unit = 'person'\n")
    with pytest.raises(BadInput, match="was changed meanwhile"):
        save_project(before, after)
    assert path.read_text() == "unit = 'person'\n"


def test_a_file_that_cannot_be_changed_is_said_to_be_so(by_hand, monkeypatch):
    from irisdp._release import project_edits

    monkeypatch.setattr(project_edits, "_placed", lambda text, path, value: f"{text}other = 1\n")
    monkeypatch.setattr(project_edits, "_in_place", lambda text, path, value: text.replace("# Our", "unit = 1 #"))
    with pytest.raises(BadInput, match=r"write yourself: labels\.title = "):
        edited(by_hand, (("labels", "title"), "Our survey"))
