"""Text files, read: what a slow and obvious machine reads, and one record never changes another."""

import csv
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp._tables.csv_records import read_blocks
from support.seeds import fresh_random
from support.sweeps import tried

QUOTE, COMMA, LF, CR = b'"', b",", b"\n", b"\r"


def obvious_records(data, longest):
    """Read one byte after another; yields the fields of a record and its bytes without the line end."""
    place, fields, start = 0, [], 0
    while place < len(data):
        value, place = quoted_field(data, place, longest) or unquoted_field(data, place)
        fields.append(value)
        if data[place : place + 1] == COMMA:
            place += 1
            if place < len(data):
                continue
            fields.append(b"")
        yield fields, place - start
        place += {LF: 1, CR: 2}.get(data[place : place + 1], 0)
        fields, start = [], place


def quoted_field(data, place, longest):
    start = place
    if data[place : place + 1] != QUOTE:
        return None
    value, place = b"", place + 1
    while True:
        byte = data[place : place + 1]
        if not byte:
            return None
        if byte != QUOTE:
            value, place = value + byte, place + 1
        elif data[place + 1 : place + 2] == QUOTE:
            value, place = value + QUOTE, place + 2
        else:
            return (value, place + 1) if at_end_of_field(data, place + 1) and place - start < longest else None


def unquoted_field(data, place):
    end = place
    while not at_end_of_field(data, end):
        end += 1
    return data[place:end], end


def at_end_of_field(data, place):
    return place >= len(data) or data[place : place + 1] in (COMMA, LF) or data[place : place + 2] == CR + LF


def expected(data, longest):
    return [fields for fields, length in obvious_records(data, longest) if length <= longest and length > 0]


def found(data, longest, size):
    records = []
    for block in read_blocks(io.BytesIO(data), 0, COMMA[0], longest=longest, size=size):
        fields = block.fields
        for record in block.kept:
            places = range(fields.firsts[record], fields.firsts[record] + fields.counts[record])
            values = [block.data[fields.starts[place] : fields.ends[place]] for place in places]
            doubled = [fields.escaped[place] for place in places]
            assert all((QUOTE * 2 in value) >= flag for value, flag in zip(values, doubled, strict=True))
            records.append([v.replace(b'""', b'"') if flag else v for v, flag in zip(values, doubled, strict=True)])
    return records


def test_every_short_file_is_read_as_the_obvious_machine_reads_it():
    """All strings of up to 4 or 6 of a, comma, quote, CR and LF, in blocks that end everywhere."""
    for length in range(tried(5, 7)):
        for letters in itertools.product(b'a,"\r\n', repeat=length):
            data = bytes(letters)
            for longest, size in ((100, 102), (1, 3), (2, 5)) if length < 6 else ((2, 4),):
                assert found(data, longest, size) == expected(data, longest), (data, longest, size)


LETTERS = st.lists(st.sampled_from([b"a", b",", b'"', b'""', b"\n", b"\r", b"\r\n", b"\xff", b"\0"]), max_size=60)


@given(data=LETTERS.map(b"".join), longest=st.integers(0, 30), more=st.integers(2, 40))
def test_every_file_is_read_as_the_obvious_machine_reads_it(data, longest, more):
    assert found(data, longest, longest + more) == expected(data, longest)


def test_a_machine_that_knows_no_closing_quotes_is_found_out():
    """Negative control: Python's csv module reads on after a closing quote, to the end of the file."""
    data = b'a,"b\nc,d\n'
    assert [row for row in csv.reader(io.StringIO(data.decode()))] == [["a", "b\nc,d\n"]]
    assert found(data, 100, 102) == expected(data, 100) == [[b"a", b'"b'], [b"c", b"d"]]


# Answers about a text file with missing values, at an ε with next to no noise, equal those of a plain reading.

SPELLINGS = ["", "NA", "null", "01", "1", "1E2", "-7.5", "rain", " rain", "Rain"]


def number(text):
    """Read a number as the manual says; what is none is None."""
    try:
        return float(text)
    except ValueError:
        return None


@pytest.mark.parametrize("seed", range(3))
def test_answers_equal_a_plain_reading(seed, tmp_path):
    pick = fresh_random(seed)
    file = tmp_path / "t.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["Body Mass (g)", "état"])
        table.writerows([pick.choice(SPELLINGS), pick.choice(SPELLINGS)] for _ in range(60))
    with file.open(newline="", encoding="utf-8") as stream:
        records = list(csv.DictReader(stream))
    masses = [value for record in records if (value := number(record["Body Mass (g)"])) is not None]
    states = [record["état"] for record in records]
    declared = SPELLINGS[1:]

    def published(*words, **options):
        return irisdp.publish(file, *words, epsilon=400, ledger=tmp_path / "l.ledger", **options).answers.values

    assert published("count") == [60]
    assert published("count", "état IS NULL") == [states.count("")]
    assert published("count", "état IS NULL OR état = 'NA'") == [states.count("") + states.count("NA")]
    assert published("count", '"Body Mass (g)" > 0.5') == [sum(value > 0.5 for value in masses)]
    assert published("count-distinct", "état") == [len({*states} - {""})]
    assert published("count", by="état", groups=declared) == [states.count(value) for value in declared]
    assert published("sum", "Body Mass (g)", lower=-10, upper=100, step="0.5") == [sum(masses)]
    bins = [sum(value < 0 for value in masses), sum(0 <= value < 50 for value in masses)]
    assert published("histogram", "Body Mass (g)", bins="0,50") == [*bins, len(masses) - sum(bins)]
