"""Say what the shape of a text file suggests: its header, comments, footer, encoding, and records that occur twice.

Every sentence is for the data owner alone, and names options as Python spells them; the command line rewrites them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from .._exact import so_many
from .checked_table import COMMENT_MARKS, Seen
from .columns import looks_like_value
from .compressed import opened
from .text_files import read_header

if TYPE_CHECKING:
    from .table import Table

_MOST_FOOTER = 20
_MOST_SHOWN = 5
_DELIMITERS = {";": ";", "\t": "\\t", "|": "|", ",": ","}
_TOTAL = re.compile(
    r"\W*(grand\s+)?(totals?|totaux|sum|summe|somme|suma|gesamt|insgesamt|subtotal|zwischensumme|average|mean|median|"
    r"durchschnitt|mittelwert|moyenne|all)\W*",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\s*((sources?|quellen?|fuente|fonte|notes?|anmerkung(en)?|hinweise?|footnotes?|fu(ß|ss)noten?|legende?|stand|"
    r"copyright|license|licence|lizenz|end of|ende|prepared by|generated|exported|erstellt|last updated?|updated)\b"
    r"|[©*†‡]|\(c\)|[-=_]{3,})|(grand\s+)?(totals?|summe|gesamt|insgesamt|subtotal)\b",
    re.IGNORECASE,
)
_MOJIBAKE = re.compile("[ÃÂ][\u0080-\u00bf©¤¶¼Ÿ„–œ]|â€")


def about_rows(table: Table, seen: Seen) -> Iterator[str]:
    """Say what the header, the widths of records and their ends suggest."""
    source = table._source._behind
    if not seen.records:
        yield "The file has no records."
        return
    yield from _about_header(source)
    delimiter = list(_about_delimiter(seen, source))
    if delimiter:  # what follows would be about the wrong fields
        yield from delimiter
        return
    usual, times = seen.widths.most_common(1)[0]
    if usual != seen.width and times > seen.records / 2:
        yield _about_width(source, seen, usual)
    else:
        yield from _about_title(source, seen)
        if seen.short:
            yield f"{_records_have(seen.short)} fewer fields than columns; the missing ones are null."
        if seen.long:
            yield (
                f"{_records_have(seen.long)} more fields than columns; Iris ignores those. "
                "A value with the delimiter needs double quotes."
            )
    if seen.stray:
        yield (
            "A double quote opens a value and does not close it; Iris reads it as a character. "
            "Check for values that run over several lines."
        )
    yield from _about_names(seen, source)
    yield from _about_comments(seen, source.form)
    yield from _about_footer(seen, source.form)
    yield from _about_more_header(seen, source.form)


def _records_have(number: int) -> str:
    return f"{so_many(number, 'record')} {'has' if number == 1 else 'have'}"


# The header.


def _about_header(source: Any) -> Iterator[str]:
    """Name all faults of the first line: names that occur twice, look like values, or cannot be names."""
    if source.form.columns:
        return
    names, _, is_one_line = read_header(source.path, source.form, "data", source.packing, sure=True)
    mark = next((mark for mark in COMMENT_MARKS if names[0].startswith(f"{mark} ")), None)
    if mark and not source.form.comment:
        yield f"The first line begins with {mark}: if that marks comments, say comment='{mark}'."
    values = [place for place, name in enumerate(names, 1) if looks_like_value(name)]
    if values:
        named = ("name", "looks like a value") if len(values) == 1 else ("names", "look like values")
        yield (
            f"The first line may be a record: the {named[0]} of {_places(values)} {named[1]}. "
            "If it is one, say no_header=True, columns=…; else rename them."
        )
    if not is_one_line:
        yield "A name in the header runs over several lines: check its quotes, or rename that column."
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, 1):
        places.setdefault(name.casefold(), []).append(place)
    several = [each for each in places.values() if len(each) > 1]
    if several:
        said = "; ".join(_places(each) for each in several[:_MOST_SHOWN])
        yield f"Columns have one name (case does not count): {said}. Rename them in the file; Iris opens it only then."
    odd = [place for place, name in enumerate(names, 1) if not name.isprintable()]
    if odd:
        yield f"The name of {_places(odd)} holds control characters: rename it in the file; Iris opens it only then."


def _places(places: Sequence[int]) -> str:
    shown = [str(place) for place in places[:10]] + (["…"] if len(places) > len(places[:10]) else [])
    if len(shown) == 1:
        return f"column {shown[0]}"
    return f"columns {', '.join(shown[:-1])} and {shown[-1]}"


def _about_width(source: Any, seen: Seen, usual: int) -> str:
    """Say what may be meant where most records have another number of fields than the header."""
    form = source.form
    lines = _first_lines(source)
    widths = [line.count(form.delimiter.encode()) + 1 for line in lines]
    place = widths.index(usual) if usual in widths else 0
    known = f"Most records have {so_many(usual, 'field')}, and the header has {seen.width}"
    mark = next((mark for mark in COMMENT_MARKS if lines and lines[0].startswith(mark.encode())), None)
    if mark and not form.comment and place and all(line.startswith(mark.encode()) for line in lines[:place]):
        return f"{known}: it begins with {mark}. If that marks comments, say comment='{mark}'"
    if place and (place > 1 or not any(byte in b"0123456789" for byte in lines[place])):
        return f"{known}: say skip_rows={place + form.skip_rows}"
    if usual == seen.width + 1 and not form.row_names:
        return f"{known}: if the first field is a row name, say row_names=True"
    return f"{known}: check the delimiter (delimiter=…), and lines above the header (skip_rows=…)."


def _about_title(source: Any, seen: Seen) -> Iterator[str]:
    """Find a title above the header where every line has all delimiters, as spreadsheets write it."""
    form = source.form
    nameless = sum(name == f"column{place}" for place, name in enumerate(source.names, 1))
    if form.columns or len(source.names) < 2 or nameless < len(source.names) - 1 or form.header_rows > 1:
        return
    for place, line in enumerate(_first_lines(source)):
        fields = line.strip().split(form.delimiter.encode())
        if place and len(fields) >= len(source.names) and all(field.strip(b' "') for field in fields):
            yield (
                f"The first line holds one name for {len(source.names)} columns, as a title does: "
                f"say skip_rows={place + form.skip_rows}"
            )
            return


def _first_lines(source: Any) -> list[bytes]:
    with opened(source.path, source.packing) as file:
        file.seek(0)
        begun = file.read(1 << 16)
    return begun.removeprefix(b"\xef\xbb\xbf").split(b"\n")[source.form.skip_rows : source.form.skip_rows + 60]


def _about_delimiter(seen: Seen, source: Any) -> Iterator[str]:
    """Name the delimiter that the values of an only column hold."""
    names, form = source.names, source.form
    if len(names) == 1:
        values = [record[0] for record in seen.first if record[0]]
        for mark, spelt in _DELIMITERS.items():
            if values and mark != form.delimiter and sum(mark in value for value in values) > len(values) / 2:
                yield f"The file has one column whose values hold {mark!r}: say delimiter='{spelt}'"
                break


def _about_names(seen: Seen, source: Any) -> Iterator[str]:
    """Say what names of columns suggest that are missing: row names, or columns without a name."""
    names, form = source.names, source.form
    places = [place for place, name in enumerate(names, 1) if name == f"column{place}"]
    if not places or form.columns or form.row_names:
        return
    listed = [record[places[0] - 1] for record in seen.first]
    if places == [1] and len(set(listed)) == len(listed):
        yield "The first column has no name and no value twice: if these are row names, say row_names=True"
        return
    called = "it" if len(places) == 1 else "them"
    shown = ", ".join(names[place - 1] for place in places[:_MOST_SHOWN]) + (", …" if len(places) > _MOST_SHOWN else "")
    yield f"The header has no name for {_places(places)}; Iris calls {called} {shown}."


def _about_more_header(seen: Seen, form: Any) -> Iterator[str]:
    """Find further rows of a header: words where all other records hold numbers or dates, and what Qualtrics writes."""
    if len(seen.first) <= 10 or form.header_rows != 1:
        return
    imported = [
        place for place, record in enumerate(seen.first[:3]) if any((v or "").startswith('{"ImportId"') for v in record)
    ]
    if imported:
        yield f"The header goes on, as Qualtrics writes it: say header_rows={imported[-1] + 2}"
        return
    columns = range(len(seen.first[0]))
    rest = seen.first[1:200]
    valued = [
        index
        for index in columns
        if (values := [record[index] for record in rest if record[index] is not None])
        and sum(map(_holds_digit, values)) >= 0.95 * len(values)
        and seen.first[0][index] is not None
    ]
    if valued and not any(_holds_digit(value) for value in seen.first[0]):
        yield "The first record holds text where all others hold numbers or dates: say header_rows=2"


def _holds_digit(text: str | None) -> bool:
    return text is not None and any(character.isdigit() for character in text)


# Comments, and what follows the records.


def _about_comments(seen: Seen, form: Any) -> Iterator[str]:
    for mark, number in seen.marked.items():
        if form.comment and mark.startswith(form.comment):
            continue
        lines = [line for line in seen.marked_lines[mark] if not _is_error_or_number(line, form.delimiter)]
        if not lines or number > seen.records / 2:
            continue
        if form.comment:
            yield f"{_records_begin(number)} with {mark} ({lines[0][:40]!r}), and one mark of comments can be declared."
        else:
            yield (
                f"{_records_begin(number)} with {mark} ({lines[0][:40]!r}): if "
                f"{'it is a comment' if number == 1 else 'they are comments'}, say comment='{mark}'."
            )


def _records_begin(number: int) -> str:
    return f"{so_many(number, 'record')} {'begins' if number == 1 else 'begin'}"


def _is_error_or_number(line: str, delimiter: str) -> bool:
    """Tell whether a record begins with an error of a spreadsheet, a code for a missing value, or a number: #7."""
    first = line.partition(delimiter)[0].strip()
    return first in ERRORS or re.fullmatch(r"[#%!/-]+\s*[\d.,]*|%?\w", first) is not None


ERRORS = frozenset(("#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#N/A", "#SPILL!", "#CALC!"))
"""What spreadsheets write for a formula that failed."""


def _about_footer(seen: Seen, form: Any) -> Iterator[str]:
    """Look for totals and notes at the end."""
    if not seen.last:
        return
    usual = sum(_is_sparse(record) for record in seen.first) <= 0.01 * len(seen.first)
    ends = list(zip(reversed(seen.last), reversed(seen.last_widths), strict=True))[:_MOST_FOOTER]
    odd = list(takewhile(lambda end: _is_footer(*end, seen.width, usual), ends))
    odd = [end for end in odd if not _is_comment(end[0], form)] and odd
    if not odd or len(odd) >= seen.records:
        return
    first = next((value for value in odd[-1][0] if value), "")
    rows = "row looks" if len(odd) == 1 else f"{len(odd)} rows look"
    yield f"The last {rows} like a total or a note ({first[:40]!r}): say footer_rows={len(odd) + form.footer_rows}"


def _is_comment(record: Sequence[str | None], form: Any) -> bool:
    first = record[0] or ""
    return not form.comment and first.startswith(COMMENT_MARKS) and not re.fullmatch(r"[-=_ ]+", first)


def _is_sparse(record: Sequence[str | None]) -> bool:
    return len(record) > 1 and sum(value is not None for value in record) <= max(1, len(record) // 4)


def _is_footer(record: Sequence[str | None], fields: int, width: int, usual: bool) -> bool:
    first = next((value for value in record if value), "")
    few = _is_sparse(record)
    whole = all(value is not None for value in record) and fields >= width
    if _TOTAL.fullmatch(first) or (few and (fields < width or usual)):
        return True
    return bool(_NOTE.match(first)) and not whole


# Encoding, and records that occur twice.


def about_encoding(table: Table, seen: Seen, undecodable: int) -> Iterator[str]:
    """Say which encoding the file may be in."""
    encoding = table.encoding or ""
    if undecodable:
        other = "windows-1252" if encoding == "utf-8" else "utf-8"
        verb = "is" if undecodable == 1 else "are"
        yield f"{so_many(undecodable, 'value')} {verb} not {encoding.upper()}, and null: say encoding={other}"
    names = table._source._behind.names
    for what, texts in (("Values", _all_values(seen)), ("Names of columns", names)):
        if any(_MOJIBAKE.search(text) for text in texts):
            if encoding != "utf-8":
                yield f"{what} look like UTF-8 that was read in another encoding: say encoding=utf-8"
            else:
                yield (
                    f"{what} look as if a program had read UTF-8 in another encoding before it wrote the file: "
                    "export the file again."
                )
    if any("\ufffd" in text for text in _all_values(seen)):
        yield "Values hold the mark for a lost character: a program lost it before, so export the file again."


def _all_values(seen: Seen) -> Iterable[str]:
    for each in seen.values:
        yield from each or ()


def expected_by_chance(records: Sequence[Sequence[str | None]], number: int) -> float:
    """Return how many pairs of so many records agree in all columns where these have nothing to do with each other."""
    pairs = len(records) * (len(records) - 1)
    if not pairs:
        return 0.0
    agree = 1.0
    for column in zip(*records, strict=True):
        agree *= max(1, sum(times * (times - 1) for times in Counter(column).values())) / pairs
    return agree * number * (number - 1) / 2
