"""HTML as values, for pages; see `irisdp._html`."""

from __future__ import annotations

import html
from collections.abc import Iterable

# HTML as values: whatever is no `Html` is text, and text is never markup.
#
# Letters that steer what is around them, such as those that turn the direction of writing, are shown by their number.

_VOID = {"base", "input", "link", "meta", "img", "br", "hr"}


class Html(str):
    """Markup that was built here."""

    __slots__ = ()


Content = str | int | float | None | Iterable["Content"]


def element(tag: str, *content: Content, **attributes: str | int | float | bool | None) -> Html:
    """Build an element; `class_` and `for_` are the attributes of these names, `aria_label` is ``aria-label``.

    Attributes that are None or False are left out, those that are True stand without a value.

    Examples
    --------
    >>> element("p", "a < b", element("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{said}>")
    return Html(f"<{tag}{said}>{joined(*content)}</{tag}>")


def joined(*content: Content) -> Html:
    """Put markup and text one after the other; None is nothing.

    Examples
    --------
    >>> joined("<", Html("<br>"), None, ["a", 1])
    '&lt;<br>a1'
    """
    return Html("".join(_text(part) for part in content))


def visible(text: str) -> str:
    """Return a text without letters that cannot be seen, but for line ends; they are shown by their number.

    Examples
    --------
    >>> visible("a\u202eb")
    'a\\\\u202eb'
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()
        for letter in text.replace("\r\n", "\n")
    )


def _text(part: Content) -> str:
    if part is None:
        return ""
    if isinstance(part, Html):
        return part
    if isinstance(part, str | int | float):
        return html.escape(visible(str(part)))
    return joined(*part)


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    known = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {known}"
    # What somebody wrote in a field goes back as it came.
    return f' {known}="{html.escape(str(value) if name == "value" else visible(str(value)))}"'
