"""Fields of a form: what may be written in them, and how they are shown.

Every field works without a script. Where there is one, a number between two ends also gets a slider, and fields that
stand under a choice come and go with it (``when``).
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .._html import Html, element, joined
from .results import Answer, Values

Takes = Callable[[Sequence[tuple[str, bytes]]], Mapping[str, str]]
"""From files to values of fields; raises `BadInput` for files that do not belong together."""

When = Mapping[str, tuple[str, ...]]
"""Values of other fields, by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field.

    Parameters
    ----------
    name, label : str
        In the query string, and for people.
    kind : str
        ``number`` (a number as `irisdp` reads it, such as 1/2 or 0.5), ``text``, ``choice``, ``area`` (many lines), or
        ``file`` (what is uploaded stands in for the ``area`` that `fills` names).
    default, help, unit, example : str
    choices : tuple of (value, label)
    low, high : float, optional
        Ends of a number's slider; what is typed may lie beyond.
    logarithmic, whole : bool
        How the slider moves; what is typed is whole, too, but where `fractions` says otherwise.
    fractions : bool
    when : mapping, or several
        The field stands only where each of these other fields has one of these values; of several, by one of them.
    most : int, optional
        The largest number that is looked at here.
    needed : bool
        Whether it may not be empty where it stands.
    suggestions : tuple of str
        What browsers offer in a text field while one types.
    also : tuple of str
        Other names by which errors speak of it; ``*`` for all that are no field's.
    fills : str
    takes : callable, optional
        Of a ``file``: it takes several, and this turns their names and contents into values of other fields.
    part : str
        The heading under which the field is folded, with its neighbours of the same part, until somebody opens it.
    rows : int
        Lines of an ``area``.
    linked : bool
        Whether links carry it; what files hold they do not.
    """

    name: str
    label: str
    kind: Literal["number", "text", "choice", "area", "file"] = "text"
    default: str = ""
    help: str = ""
    unit: str = ""
    example: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    low: float | None = None
    high: float | None = None
    logarithmic: bool = False
    whole: bool = False
    fractions: bool = False
    when: When | tuple[When, ...] = field(default_factory=dict)
    most: int | None = None
    needed: bool = False
    suggestions: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    fills: str = ""
    takes: Takes | None = None
    part: str = ""
    rows: int = 8
    linked: bool = True


def read_values(fields: tuple[Field, ...], given: Mapping[str, str]) -> dict[str, str]:
    """Return a value for every field: what was given, else its default; names that are no field's are not looked at."""
    return {field.name: given.get(field.name, field.default) for field in fields if field.kind != "file"}


def stands(one: Field, values: Mapping[str, str]) -> bool:
    """Say whether a field stands, by the values of the others."""
    return any(all(values.get(name) in allowed for name, allowed in when.items()) for when in ways(one))


def show_field(one: Field, values: Mapping[str, str], wrong: str | None) -> Html:
    """Show a field with its label, its help, and what is wrong with it."""
    named = f"field-{one.name}"
    told = [f"{named}-{part}" for part, words in (("help", one.help), ("wrong", wrong)) if words]
    common: dict[str, str | bool | None] = {
        "id": named,
        "name": one.name,
        "aria_describedby": " ".join(told) or None,
        "aria_invalid": "true" if wrong else None,
        "disabled": not stands(one, values),
    }
    unit = element("span", one.unit, class_="unit") if one.unit else None
    label = element("label", one.label, " " if unit else None, unit, for_=named)
    return element(
        "div",
        label,
        _control(one, values.get(one.name, one.default), common),
        element("p", one.help, class_="help", id=f"{named}-help") if one.help else None,
        element("p", wrong, class_="wrong", id=f"{named}-wrong") if wrong else None,
        class_=f"field {one.kind}",
        hidden=not stands(one, values),
        data_when=_written(one) or None,
    )


def ways(one: Field) -> tuple[When, ...]:
    """Return what lets a field stand: each alone does."""
    return one.when if isinstance(one.when, tuple) else (one.when,)


def _written(one: Field) -> str:
    """Write for the script when a field stands: ``a=1,2 b=3|c=4`` is a and b, or c."""
    return "|".join(" ".join(f"{name}={','.join(allowed)}" for name, allowed in when.items()) for when in ways(one))


def _control(one: Field, value: str, common: Mapping[str, str | bool | None]) -> Html:
    if one.kind == "choice":
        known = [
            element("option", label, value=key, selected=key == value)
            for key, label in (*one.choices, *(() if value in dict(one.choices) else ((value, value),)))
        ]
        return element("select", *known, **common)
    if one.kind == "area":
        return _area(value, one, common)
    if one.kind == "file":
        several = one.takes is not None
        return element("input", type="file", multiple=several, data_fills=one.fills or None, **common)
    slider: dict[str, str | float | bool | None] = {}
    if one.low is not None and one.high is not None:
        slider = {
            "data_low": one.low,
            "data_high": one.high,
            "data_scale": "log" if one.logarithmic else "linear",
            "data_whole": one.whole,
        }
    listed = f"field-{one.name}-list" if one.suggestions else None
    mode = {"number": "numeric" if one.whole and not one.fractions else "decimal"}.get(one.kind)
    written = element(
        "input",
        type="text",
        value=value,
        inputmode=mode,
        placeholder=one.example or None,
        autocomplete="off",
        spellcheck="false",
        list=listed,
        **slider,
        **common,
    )
    if listed is None:
        return written
    return joined(written, element("datalist", [element("option", value=each) for each in one.suggestions], id=listed))


def _area(value: str, one: Field, common: Mapping[str, str | bool | None]) -> Html:
    # What was pasted goes back as it came, letters that cannot be seen too; a first line end would be swallowed.
    content = Html("\n" + html.escape(value))
    return element("textarea", content, rows=one.rows, spellcheck="false", placeholder=one.example or None, **common)


# The interface of a page: a form, and a pure function from its fields to an answer, without HTTP.


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A page of the explorer, as `rooms.ROOMS` lists it.

    Parameters
    ----------
    name : str
        Its address, such as ``ask``.
    title, summary, introduction : str
        Its heading, a sentence for the way there, and one or two at its top.
    fields : tuple of Field
    answer : callable
        From values to a `Result`, to another address (`Moved`), or to what is to be filled in first (`Hint`). Raises
        `BadInput` and `Refusal` in words. May depend on nothing but the values, because answers are cached.
    submit : str
        What the button says.
    live : bool
        Whether it answers as fields move: only where that takes no longer than a blink.
    posts : bool
        Whether the form is posted, since it may hold a file; links carry what is short enough all the same.
    bounded : bool
        Whether every result is quick and small. Results are then kept for repeated requests, and links from other sites
        may open them.
    example : callable, optional
        Returns values of fields for a link that fills in an example.
    private : bool
        Whether its results depend on single records: then nothing is read until the button is pressed.
    """

    name: str
    title: str
    summary: str
    introduction: str
    fields: tuple[Field, ...]
    answer: Callable[[Values], Answer]
    submit: str = "Show"
    live: bool = False
    posts: bool = False
    bounded: bool = False
    example: Callable[[], Mapping[str, str]] | None = None
    private: bool = False
