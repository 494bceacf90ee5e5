"""Say what the values of a column suggest: codes for missing values, marks of numbers, forms of dates, spellings.

Every sentence is for the data owner alone, and names options as Python spells them; the command line rewrites them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from .._exact import so_many
from .checked_table import ColumnCheck, Seen
from .columns import Column
from .date_shapes import ISO, also_fitting, date_forms, date_shape
from .faults_of_rows import ERRORS
from .spellings import PLAIN, Spelling, plain_number, spelt_date

MOST_EXAMPLES = 5
_SHORT, _LONGEST = 40, 60
SPELLINGS = tuple(
    Spelling(decimal, thousands)
    for decimal, thousands in ((",", ""), (",", "."), (".", ","), (",", " "), (".", " "), (".", "'"))
)
"""The marks of numbers that may be suggested."""
_NO_VALUES = frozenset(
    (
        *("na", "n/a", "n.a.", "nan", "nil", "null", "(null)", "<null>", "<na>", "none", "\\n", "void", "undefined"),
        *(
            "missing",
            "(missing)",
            "unknown",
            "notavailable",
            "notapplicable",
            "noanswer",
            "noresponse",
            "nodata",
        ),
        *(
            "notstated",
            "notreported",
            "notknown",
            "refused",
            "dontknow",
            "don'tknow",
            "don’tknow",
            "dk",
            "empty",
            "blank",
        ),
        *(
            "k.a.",
            "ka",
            "k.a",
            "keineangabe",
            "keineangaben",
            "keineantwort",
            "unbekannt",
            "fehlend",
            "leer",
            "weißnicht",
        ),
        *("entfällt", "n.b.", "o.a.", "s.d.", "n.d.", "n.r.", "ns/nr", "inconnu", "nonrenseigné"),
        *(
            "desconocido",
            "sindatos",
            "sconosciuto",
            "-",
            "--",
            "---",
            "–",
            "—",
            ".",
            "..",
            "...",
            "?",
            "??",
            "???",
            "*",
        ),
        *("(blank)", "(empty)", "(leer)", "nonedeclared", "noneprovided", "nichtbekannt"),
    )
)
"""Spellings of a missing value, in small letters and without blanks."""
_SHORT_FORMS = frozenset(("dk", "ka", "nd", "ns", "nsp", "ref", "tba", "tbd", "unk", "x", "*", "#"))
"""More of them, which are names and codes in a column of text."""
_UNIT_SIGN = re.compile(
    r"\s*(?P<before>[$€£¥₹₽]|USD|EUR|GBP|CHF|CAD|AUD|JPY|CNY|INR|SEK|NOK|DKK|PLN|US[$]|R[$]|[<>≤≥~≈])?"
    r"\s*(?P<number>[+\-−]?[\d.,'’ \u00a0\u202f]*\d)\s*"
    r"(?P<after>[$€£¥₹₽%‰+]|[^\W\d_]{1,6}[²³.]?(/[^\W\d_]{1,4})?|°[CF]?|µ[^\W\d_]{1,2})?\s*"
)
_CODED = re.compile(r"-?(?:([789])\1+(?:\.0*|\.\1+)?|9+[78](?:\.0*)?)")
"""Numbers that surveys use for missing values: 77, 88, 99, 997, 998, 999, 99.9, and these below zero."""
_BELOW = frozenset(range(-9, 0))


def is_no_value(text: str, *, short: bool = False) -> bool:
    """Tell whether a text is a usual spelling of a missing value; with `short`, also one that may be a code in text.

    Examples
    --------
    >>> is_no_value("k. A."), is_no_value("Keine Angabe"), is_no_value("Ely"), is_no_value("ND")
    (True, True, False, False)
    """
    plain = "".join(text.split()).casefold() if len(text) <= _LONGEST else text
    return plain in _NO_VALUES or (short and plain in _SHORT_FORMS)


def unit_sign(text: str) -> str | None:
    """Return the sign or the unit beside a number, such as € or kg; None for what is no number with one."""
    match = _UNIT_SIGN.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or not (match["before"] or match["after"]):
        return None
    return f"{match['before'] or ''}{match['after'] or ''}"


def about_values(column: Column, checked: ColumnCheck, seen: Seen, index: int) -> Iterator[str]:
    """Say what the values of a column suggest, and at last what cannot be read and nothing else explains."""
    values, explained = _values_of(column, checked, seen, index), set[str]()
    name, kind = column.name, checked.kind
    errors = [value for value in values if value in ERRORS]
    if errors:
        yield (
            f"{name} holds errors of a spreadsheet ({', '.join(errors)}): correct them there, or say {_codes(errors)}."
        )
    missing = [value for value in values if value not in ERRORS and is_no_value(value, short=kind != "")]
    if missing:
        yield f"{name} holds {_listed(missing)}, which may mean a missing value: say {_codes(missing)}"
    explained |= {*errors, *missing}
    left = {value: times for value, times in values.items() if value not in explained}
    if kind in ("number", "integer"):
        yield from _about_numbers(column, left, checked, explained)
    elif kind == "date":
        yield from _about_dates(column, list(left), explained)
    else:
        yield from _about_mixed(name, list(left))
    yield from _merged(name, list(left), kind)
    if any(re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", value) for value in values):
        yield f"{name} holds control characters: clean the file."
    yield from _about_others(name, checked, explained)


def _values_of(column: Column, checked: ColumnCheck, seen: Seen, index: int) -> dict[str, int]:
    """Return the values that are known with how often they occur, without codes that are declared already."""
    kept = seen.values[index]
    if kept is None:
        records = (*seen.first, *seen.last)
        kept = Counter(value for record in records if (value := record[index]) is not None)
    values = dict(sorted(kept.items()))
    values |= {value: 1 for value in checked.wrong if value not in values}
    return {value: times for value, times in values.items() if value not in column.spelling.missing}


def _about_others(name: str, checked: ColumnCheck, explained: set[str]) -> Iterator[str]:
    others = [value for value in checked.wrong if value not in explained]
    if not others:
        return
    kind = f"{'an' if checked.kind == 'integer' else 'a'} {checked.kind}"
    words = [value for value in others if not any(character.isdigit() for character in value)]
    how = f": if it means a missing value, say {_codes(words[:3])}" if words and len(words) == len(others) else ""
    if explained:
        yield f"{name} also holds {_listed(others)}, which Iris cannot read as {kind}{how}."
    else:
        yield f"{name}: Iris cannot read {so_many(checked.unreadable, 'value')} as {kind} ({_listed(others)}){how}."


def _codes(values: Iterable[str]) -> str:
    """Write codes as the option that declares them; one with a comma in double quotes."""
    listed = ",".join(f'"{value}"' if "," in value else value for value in values)
    return f'missing_codes="{listed}"' if "'" in listed and '"' not in listed else f"missing_codes='{listed}'"


def _listed(values: Sequence[str]) -> str:
    """Write some values for the screen."""
    return ", ".join(repr(value[:_SHORT]) for value in values[:3]) + (", …" if len(values) > 3 else "")


# Numbers.


def _about_numbers(
    column: Column, values: Mapping[str, int], checked: ColumnCheck, explained: set[str]
) -> Iterator[str]:
    name, spelling = column.name, column.spelling
    read = {value: plain_number(value, spelling) for value in values}
    other = [value for value, number in read.items() if number is None]
    best = best_spelling(other, spelling)
    if best is not None:
        fits = [value for value in other if plain_number(value, best) is not None]
        explained |= set(fits)
        yield _marks(name, fits, [value for value in values if read[value] is not None], spelling, best)
        read |= {value: plain_number(value, best) for value in fits}
    grouped = [value for value in values if re.fullmatch(r"\s*-?[0-9]{1,3}[.][0-9]{3}\s*", value)]
    if not spelling.numbers and len(grouped) > 1 and len(grouped) == sum("." in v for v in values) and not other:
        how = "say decimal=',' and thousands='.'"
        yield f"{name} holds {_listed(grouped)}: if full stops stand between thousands, {how}"
    signs = [value for value in other if value not in explained and unit_sign(value)]
    if signs:
        explained |= set(signs)
        yield _signs(name, signs, whole=len(signs) == len(values))
    numbers = {value: float(number) for value, number in read.items() if number is not None}
    yield from _about_codes(name, numbers, values, checked)
    yield from _about_digits(column, list(values), checked)


def best_spelling(values: Sequence[str], spelling: Spelling = PLAIN) -> Spelling | None:
    """Return the marks that read most of some values, and at least a third of them; None if there are none."""
    fitting = {each: sum(plain_number(value, each) is not None for value in values) for each in SPELLINGS}
    best = max(SPELLINGS, key=lambda each: fitting[each])
    return best if fitting[best] >= max(1, len(values) / 3) and best != spelling else None


def _marks(name: str, fits: Sequence[str], plain: Sequence[str], spelling: Spelling, best: Spelling) -> str:
    """Suggest marks of numbers, if they read the other values as well."""
    kept = [value for value in plain if plain_number(value, best) is not None]
    if len(kept) < len(plain) and best.decimal != spelling.decimal and len(plain) - len(kept) > len(fits) / 10:
        return (
            f"{name} holds {_listed(fits)} beside {_listed([value for value in plain if value not in kept])}: "
            "no option reads two decimal marks in one column, so write all numbers alike in the file."
        )
    options = [f"decimal='{best.decimal}'"] if best.decimal != spelling.decimal else []
    options += [f'thousands="{best.thousands}"'] if best.thousands and best.thousands != spelling.thousands else []
    return f"{name} holds {_listed(fits)}: say {' and '.join(options)}"


def _signs(name: str, signs: Sequence[str], *, whole: bool) -> str:
    """Say what to do with numbers that carry a sign or a unit; where each begins with one sign, an expression helps."""
    said = f"{name} holds numbers with a sign or a unit ({_listed(signs)}); no option reads them"
    begin = {value[:1] for value in signs}
    rest = [value[1:].strip() for value in signs]
    if whole and len(begin) == 1 and not begin & set("+-0123456789") and all(plain_number(v, PLAIN) for v in rest):
        return f'{said}. Write the numbers alone in the file, or use "number = CAST(SUBSTR({name}, 2) AS DOUBLE)".'
    return f"{said}. Write the numbers alone in the file (find and replace), and the unit in the column's name."


def _about_codes(
    name: str, numbers: Mapping[str, float], times: Mapping[str, int], checked: ColumnCheck
) -> Iterator[str]:
    """Name numbers that look like codes for missing values: apart from all others, or far more frequent than these."""
    spelt: dict[float, list[str]] = {}
    counts: Counter[float] = Counter()
    for value, number in numbers.items():
        spelt.setdefault(number, []).append(value)
        counts[number] += times[value]
    for extreme in (checked.least, checked.largest):
        if extreme is not None and extreme not in counts:
            spelt[extreme], counts[extreme] = [f"{extreme:g}"], 1
    coded = {number for number in counts if _CODED.fullmatch(f"{number:.10g}") or number in _BELOW}
    coded |= _single_digits(set(counts))
    rest = sorted(set(counts) - coded)
    if len(rest) < 2:
        return
    apart = sorted(number for number in coded if _is_apart(number, rest, counts) or _is_frequent(number, counts))
    if apart:
        shown = [_spelling_of_code(number, spelt[number]) for number in apart]
        verb = ("is a code", "its number stands") if len(apart) == 1 else ("are codes", "their numbers stand")
        it = "it" if len(apart) == 1 else "they"
        yield (
            f"{name} holds {_listed([spelt[number][0] for number in apart])}, apart from all other values or far more "
            f"often: if {it} {verb[0]} for missing values, say {_codes(shown)}."
        )


def _spelling_of_code(number: float, spellings: Sequence[str]) -> str:
    """Return a code as the file writes it, or as a number where a comma in it would part two codes."""
    written = min(spellings, key=len).strip()
    if re.fullmatch(r"[+-]?\d+([.]\d+)?", written) and len(spellings) == 1:
        return written
    return str(int(number)) if number == int(number) else f"{number:.10g}"


def _single_digits(numbers: set[float]) -> set[float]:
    """Return 7, 8 and 9 where all else is a scale such as 1 to 5."""
    codes = numbers & {7.0, 8.0, 9.0}
    rest = numbers - codes - _BELOW
    is_scale = 2 <= len(rest) <= 6 and rest <= set(range(7)) and max(rest) == min(rest) + len(rest) - 1
    return codes if codes and is_scale and min(codes) - max(rest) >= 2 else set()


def _is_apart(number: float, rest: Sequence[float], counts: Mapping[float, int]) -> bool:
    """Tell whether a gap stands between a number and all others that is larger than theirs."""
    inner = sorted(after - before for before, after in pairwise(rest))
    largest, usual = inner[-1], median(inner)
    gap = max(rest[0] - number, number - rest[-1])
    if gap <= 0:
        return False
    if number < 0 <= rest[0]:
        return number not in _continued(rest[0], counts) or counts[number] > 3 * counts[rest[0]]
    # One value far out, such as an honest maximum, says nothing of the gaps between most.
    return gap > 2 * largest or (gap >= 5 * usual and gap > largest and counts[number] > 1)


def _continued(start: float, counts: Mapping[float, int]) -> set[float]:
    """Return the negative whole numbers that go down one by one from the least of all others, as honest values do."""
    found: set[float] = set()
    while start - 1 in counts:
        start -= 1
        found.add(start)
    return found


def _is_frequent(number: float, counts: Mapping[float, int]) -> bool:
    """Tell whether a whole number occurs far more often than those near to it in size."""
    if number != int(number) or abs(number) < 10:
        return False
    near = sorted(counts, key=lambda other: abs(other - number))[1:21]
    usual = sorted(counts[other] for other in near)
    records = sum(counts.values())
    return len(near) >= 5 and counts[number] >= max(5, 0.01 * records, 5 * usual[int(0.9 * len(usual))])


def _about_digits(column: Column, values: Sequence[str], checked: ColumnCheck) -> Iterator[str]:
    name = column.name
    zeros = [value for value in values if re.fullmatch(r"\s*0[0-9]+\s*", value)]
    if zeros:
        yield (
            f"{name} holds numbers with leading zeros ({_listed(zeros)}): if they are codes, declare the type text "
            f"({_declared(name, 'text')})."
        )
    if any(re.fullmatch(r"\s*[0-9]{16,}\s*", value) for value in values):
        yield (
            f"{name} holds whole numbers of more than 15 digits, which lose digits as numbers: declare the type text "
            f"({_declared(name, 'text')})."
        )
    if checked.read_as.startswith("integer") and any(
        re.fullmatch(r"\s*-?[0-9]+[.][0-9]*[1-9][0-9]*\s*", value) for value in values
    ):
        yield (
            f"{name} holds fractions, and is declared as integer: declare the type number "
            f"({_declared(name, 'number')})."
        )
    days = [value for value in values if re.fullmatch(r"(19|20)[0-9]{6}", value) and spelt_date(value, "%Y%m%d")]
    if len(days) > 4 and len(days) == len(values) and not column.spelling.date_format:
        yield f"{name} holds whole numbers that may be dates ({_listed(days)}): if so, say date_format='%Y%m%d'."


def _declared(name: str, kind: str) -> str:
    return f"types=… with {{{_quoted(name)}: {_quoted(kind)}}}"


def _quoted(text: str) -> str:
    return f'"{text}"'


# Dates.


def _about_dates(column: Column, values: Sequence[str], explained: set[str]) -> Iterator[str]:
    """Name the forms of the dates of a column, and the format that reads them, if one does."""
    name, declared = column.name, column.spelling.date_format
    known = [value for value in values if (spelt_date(value, declared) if declared else _is_iso(value))]
    other = [value for value in values if value not in set(known) and date_shape(value) is not None]
    explained |= set(other)
    forms = date_forms(other)
    unread = [value for value in other if not (shape := date_shape(value)) or not shape.formats]
    if unread:
        shape = date_shape(unread[0])
        yield (
            f"{name} holds dates such as {_listed(unread)}, which no format reads: "
            f"{shape.fault if shape else ''}. Write them in the file as 2024-12-31."
        )
    if not forms:
        return
    form, texts = next(iter(forms.items()))
    if len(forms) == 1 and not known and not unread:
        others = also_fitting(texts, form)
        said = " or ".join(f"date_format='{each}'" for each in sorted((form, *others[:1])))
        doubt = "; both fit all values, so ask the author of the file" if others else ""
        yield f"{name} holds dates such as {_listed(texts)}: say {said}{doubt}."
        return
    several = ([(declared or ISO, known)] if known else []) + list(forms.items())
    if len(several) > 1:
        yield f"{name} holds dates in several formats: {_forms(several)}. {_DOUBT[_is_turned(several)]}"
    else:
        yield f"{name} also holds dates such as {_listed(texts)}, in the format {form}: write all of them in one."


_DOUBT = {
    False: "No option reads several: write all of them in one, such as 2024-12-31.",
    True: (
        "Some put the day first, some the month, so others cannot be told apart: ask the author of the file, and write "
        "all of them as 2024-12-31."
    ),
}


def _forms(several: Sequence[tuple[str, Sequence[str]]]) -> str:
    return ", ".join(f"{form} ({_listed(texts[:1])})" for form, texts in several[:4])


def _is_turned(several: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Tell whether one format puts the day before the month, and another one behind."""
    orders = {
        form.find("%d") < form.find("%m") for form, _ in several if "%d" in form and "%m" in form and form[1] in "dm"
    }
    return len(orders) > 1


def _is_iso(value: str) -> bool:
    shape = date_shape(value)
    return shape is not None and ISO in shape.formats


# Text.


def _about_mixed(name: str, values: Sequence[str]) -> Iterator[str]:
    numbers = {value for value in values if plain_number(value, PLAIN) is not None}
    if len(values) > 20 and len(numbers) >= len(values) / 2:
        yield f"{name} holds numbers and text ({_listed([value for value in values if value not in numbers])})."
        return
    dates = {value for value in values if date_shape(value) is not None}
    if len(values) > 20 and len(dates) >= len(values) / 2:
        yield f"{name} holds dates and text ({_listed([value for value in values if value not in dates])})."


def _merged(name: str, values: Sequence[str], kind: str) -> Iterator[str]:
    """Name values that differ in case, blanks, zeros or a fraction alone: one reading keeps them apart, another not."""
    keys: dict[str, list[str]] = {}
    for value in values:
        keys.setdefault(_key(value), []).append(value)
    several = [sorted(spellings) for spellings in keys.values() if len(spellings) > 1]
    if several:
        shown = "; ".join(" = ".join(map(repr, spellings[:3])) for spellings in several[:MOST_EXAMPLES])
        how = "declare a type to read them as one" if kind else "write them alike, or use lower(…) and trim(…)"
        yield f"{name} spells {so_many(len(several), 'value')} in several ways ({shown[:300]}): {how}."
    blanks = [value for value in values if value != value.strip() and not kind]
    if blanks and not several:
        yield f"{name} holds values with blanks around them ({_listed(blanks)}): trim(…) removes them."


def _key(value: str) -> str:
    plain = " ".join(value.replace("\u00a0", " ").split()).casefold()
    number = plain_number(plain, PLAIN)
    if number is None or "e" in plain:
        return plain
    try:
        return repr(float(number)) if len(number) < 16 else plain
    except ValueError:
        return plain
