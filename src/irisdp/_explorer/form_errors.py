"""What is wrong with a form, in the form's own words: the labels on the page, never names that nobody sees there.

Check the values of fields before a page computes: numbers are written plainly, and choices are in their list. A refusal
is then put into the words of the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .._exact import rational
from ..errors import BadInput
from .forms import Field, stands, ways

_LONGEST_NUMBER, _LONGEST_POWER = 24, 6
"""Letters; a number with many more digits, or a large power of ten, takes long by them alone."""
_LARGEST = 10**12
_EXPONENT = re.compile(r"e[+-]?\d+$", re.IGNORECASE)
_LETTERS = {"epsilon": "ε", "delta": "δ"}


class WrongForm(BadInput):
    """Several fields of a form are wrong: `faults` has what is wrong with each, in the order of the form.

    As an error by itself it is the first of them.
    """

    def __init__(self, field: str, rule: str, remedy: str, faults: Sequence[BadInput] = ()) -> None:
        super().__init__(field, rule, remedy)
        self.faults = tuple(faults)


def faults_in(error: BadInput) -> tuple[BadInput, ...]:
    """Return all that an error says is wrong with a form."""
    return (isinstance(error, WrongForm) and error.faults) or (error,)


def faults_of(fields: tuple[Field, ...], values: Mapping[str, str]) -> list[BadInput]:
    """Return what is wrong with the choices and numbers of a form that stand, one fault a field.

    That is an invalid choice, and a number that is missing or is not written as Iris reads numbers.
    """
    faults = []
    for field in fields:
        if not stands(field, values):
            continue
        try:
            if field.kind == "choice" and values[field.name] not in dict(field.choices):
                raise BadInput(field.name, "is not one of the choices", "choose one of them")
            if field.needed and not values[field.name].strip():
                raise BadInput(field.name, "is missing", f"write for example {_example(field)}")
            if field.kind == "number":
                _check_number(field, values[field.name].strip())
        except BadInput as error:
            faults.append(error)
    return faults


def raise_faults(fields: tuple[Field, ...], faults: Sequence[BadInput]) -> None:
    """Raise all faults together, in the order of the form; nothing where there are none.

    Raises
    ------
    WrongForm
    """
    if faults:
        places = {field.name: place for place, field in enumerate(fields)}
        first, *others = sorted(faults, key=lambda fault: places.get(fault.field, len(places)))
        raise WrongForm(first.field, first.rule, first.remedy, (first, *others))


def check_form(fields: tuple[Field, ...], values: Mapping[str, str]) -> None:
    """Look at the choices and numbers of a form, where they stand.

    Raises
    ------
    WrongForm
        For all fields at once, as `faults_of` says.
    """
    raise_faults(fields, faults_of(fields, values))


def check_length(name: str, text: str, remedy: str = "write a shorter number, such as 0.5") -> None:
    """Refuse a number whose digits alone would take long.

    Raises
    ------
    BadInput
    """
    if len(text) > _LONGEST_NUMBER or (_EXPONENT.search(text) and len(text) > _LONGEST_POWER):
        rule = f"has more than {_LONGEST_NUMBER} letters, or {_LONGEST_POWER} with a power of ten"
        raise BadInput(name, rule, remedy)


def field_meant(fields: tuple[Field, ...], values: Mapping[str, str], name: str) -> Field | None:
    """Return the field on the page that an error speaks of; None where it speaks of none."""
    # A plan names the question before its key: "question 2 (by ward): epsilon".
    wanted = name.rpartition(": ")[2].partition("[")[0].partition(".")[0].strip("-").replace("-", "_")
    standing = [one for one in reversed(fields) if one.kind != "file" and stands(one, values)]
    # What stands under a choice comes after it, and says more than the choice itself.
    for names in ((wanted,), ("*",)):
        for one in standing:
            if set(names) & {one.name, *one.also}:
                return one
    return None


class FormFault(NamedTuple):
    """What is wrong with a form, in its own words.

    Parameters
    ----------
    field : Field or None
        None where it is about no field of the page.
    beside : str
        The text next to the field.
    line : str
        The whole message in one line, which names the field.
    """

    field: Field | None
    beside: str
    line: str


def all_in_words(fields: tuple[Field, ...], values: Mapping[str, str], error: BadInput) -> tuple[FormFault, ...]:
    """Return all that an error says is wrong with a form, in the words of the form."""
    return tuple(in_words(fields, values, each) for each in faults_in(error))


def in_words(fields: tuple[Field, ...], values: Mapping[str, str], error: BadInput) -> FormFault:
    """Return the field of an error, the text next to it, and the whole message in one line.

    Examples
    --------
    >>> fields = (Field(name="upper", label="Values are at most"), Field(name="lower", label="Values are at least"))
    >>> error = BadInput("lower", "must be below upper=", "give less than upper=5")
    >>> print(in_words(fields, {}, error)[2])
    Values are at least: must be below “Values are at most”; give less than “Values are at most” 5
    """
    one = field_meant(fields, values, error.field)
    _, bracket, key = error.field.partition("[")
    part = f"{key.partition(']')[0].strip()}: " if bracket else ""
    told = in_labels(f"{part}{error.rule}; {error.remedy}", fields, values)
    return FormFault(one, told, f"{one.label}: {told}" if one else f"{told[:1].upper()}{told[1:]}")


def not_used(fields: tuple[Field, ...], given: Mapping[str, str]) -> str:
    """Say which fields a link fills in that do not stand by its other choices; nothing where all do."""
    values = {one.name: given.get(one.name, one.default) for one in fields}
    left = [
        one
        for one in fields
        if given.get(one.name, "").strip() and not stands(one, values) and not _holds_anyway(one, fields, values)
    ]
    if not left:
        return ""
    named = ", ".join(f"{one.label} ({_shortened(_choice(one, given[one.name]))})" for one in left)
    return f"Not used, by what else is chosen: {named}."


def _check_number(one: Field, text: str) -> None:
    like = f"write {'a whole number' if one.whole else 'a number'}, such as {_example(one)}"
    if not text:
        if one.default:
            raise BadInput(one.name, "is empty", like)
        return
    if "%" in text:
        raise BadInput(one.name, "has a percent sign", "write 95 % as 0.95")
    if re.fullmatch(r"[+-]?\d{1,3}([,'’ _\u00a0\u202f]\d{3})+(\.\d+)?", text):
        plain = re.sub(r"[^\d.+-]", "", text)
        point = f", or {text.replace(',', '.')} if that is meant" if text.count(",") == 1 and "." not in text else ""
        raise BadInput(one.name, "has thousands set apart", f"write {plain}{point}")
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        raise BadInput(one.name, "has a comma", f"write {text.replace(',', '.')}")
    check_length(one.name, text, like)
    try:
        number = rational(text, one.name)
    except BadInput:
        raise BadInput(one.name, "is no number", like) from None
    if one.whole and not one.fractions and number.denominator != 1:
        raise BadInput(one.name, "must be a whole number", f"write {number.numerator // number.denominator}")
    most = _LARGEST if one.most is None else one.most
    if abs(number) > most:
        raise BadInput(one.name, f"must be at most {most:,} here", "use the command line for more")


def _holds_anyway(one: Field, fields: tuple[Field, ...], values: Mapping[str, str]) -> bool:
    """Tell whether a choice that does not stand brings a field that stands without it: then it is as was said."""
    value = values[one.name]
    return one.kind == "choice" and any(
        value in way.get(one.name, ()) for other in fields if stands(other, values) for way in ways(other)
    )


def _example(one: Field) -> str:
    return one.default or one.example or ("3" if one.whole else "0.5")


def in_labels(text: str, fields: tuple[Field, ...], values: Mapping[str, str]) -> str:
    """Replace the names of fields in a text with their labels, and `epsilon` and `delta` with Greek letters."""
    for field in fields:
        for name in (field.name, *field.also):
            dashed = name.replace("_", "-")
            label = f"“{field.label}”" if stands(field, values) else None
            if name == "*" or label is None:
                continue
            text = re.sub(rf"(?<![\w-])(--{dashed}|{name})=(?=[^\s.,;)])", f"{label} ", text)
            text = re.sub(rf"(?<![\w-])(--{dashed}(?![\w-])|{name}=)", label, text)
            if "_" in name:
                text = re.sub(rf"(?<![\w\"]){name}(?![\w\"])", label, text)
    for name, letter in _LETTERS.items():
        text = re.sub(rf"(?<![a-zA-Z_\"]){name}(?![a-zA-Z_\"])=?", letter, text)
    return text


def _choice(one: Field, value: str) -> str:
    return dict(one.choices).get(value, value)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else f"{words[:39]}…"
