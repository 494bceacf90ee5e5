"""Forms while people fill them in: what is half written is said in its place, and no browser logs it as an error."""

import pytest

from support.watched import watched

HALVES = {"number": ("", "-", "1/", "0.0.", "1e"), "text": ("", '{"', "1/"), "area": ("", '{"a": [', "1, 2\n3")}
GIVEN = {"ask": {}, "design": {"graph": "a b\nb c", "colors": "a: no\n*: yes"}, "check": {}, "read": {"value": "7"}}
"""What stands in each room before, so that every other field counts."""


def quietly(page, name, text):
    """Write in a field as if it had always stood there."""
    page.locator(f"#field-{name}").evaluate("(field, text) => { field.value = text; }", text)


def half_way(page, live, name, text):
    """Write in a field, and wait until the page has said what it has to say; return whether that is a complaint."""
    field = page.locator(f"#field-{name}")
    if not live or field.input_value() == text:
        field.fill(text)
        return False
    with page.expect_response("**/result*") as coming:
        field.fill(text)
    assert coming.value.status == 200
    page.locator("#result:not([aria-busy])").wait_for(state="attached")
    return page.locator("#result [role=alert]").count() == 1


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_half_written_is_no_error_of_the_browser(browser, explorer, release, name):
    """Every field of every room, each where it stands."""
    from irisdp._explorer.app import ROOMS

    room = next(room for room in ROOMS if room.name == name)
    given = GIVEN[name] | ({"release": release} if name == "read" else {})
    complained = set()
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto(f"/{name}")
        for field, text in given.items():
            quietly(page, field, text)
        for one in room.fields:
            if one.kind not in HALVES:
                continue
            way = one.when[0] if isinstance(one.when, tuple) else one.when
            for other, (value, *_) in way.items():
                quietly(page, other, value)
            page.evaluate("showFields()")
            before = page.locator(f"#field-{one.name}").input_value()
            if any([half_way(page, room.live, one.name, text) for text in HALVES[one.kind]]):
                complained.add(one.name)
            quietly(page, one.name, before)
    if room.live:
        assert complained >= {one.name for one in room.fields if one.kind == "number"}
