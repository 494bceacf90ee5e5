"""What hands do besides filling in a form: every task by the keyboard alone, sliders, drawing, stopping long work."""

import pytest

from support.accessible import grave_findings, sideways
from support.tasks import TASKS, fill, folded, wait_for
from support.watched import tab_to, watched

LONG = {"n": "100", "delta": "1/1000", "epsilon": "1/10"}
"""What makes the design of a count for one reader take minutes: exact multipliers at a small δ."""


def write(page, name, text):
    """Come to a field, and write in it: letters, or what was copied elsewhere; in a list, what its line begins with."""
    if page.locator(folded(name)).count():
        tab_to(page, folded(name))
        page.keyboard.press("Enter")
    tab_to(page, f"#field-{name}")
    if page.evaluate("document.activeElement.tagName") == "SELECT":
        page.keyboard.type(text)
        assert page.locator(f"#field-{name} option:checked").inner_text() == text
        return
    page.keyboard.press("Control+A")
    if len(text) < 100:
        page.keyboard.type(text)
    else:
        page.keyboard.insert_text(text)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_done_with_the_keyboard_alone(browser, explorer, release, task):
    """From the way in to what is taken away, by Tab, letters and Enter."""
    room, fields, button, says = TASKS[task]
    fields = {"release": release, **fields} if room == "Read" else fields
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto("/")
        tab_to(page, f"nav a[href='{room.lower()}']")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{room.lower()}")
        for name, text in fields.items():
            write(page, name, text)
        tab_to(page, "form button[type=submit]")
        assert page.evaluate("document.activeElement.innerText") == button
        page.keyboard.press("Enter")
        wait_for(page, says)
        page.wait_for_load_state("networkidle")
        if room == "Read":  # its picture is for analysts
            tab_to(page, "#result details.more > summary")
            page.keyboard.press("Enter")
        tab_to(page, "#result figure summary")
        page.keyboard.press("Enter")
        assert page.locator("#result figure details[open] table").count() == 1
        tab_to(page, "#result a[href^='pictures/']")
        tab_to(page, "#result .code button")


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])
def test_the_skip_link_stays_on_its_page(browser, explorer, script):
    """It names its page, whose address changes with the fields."""
    with watched(browser, base_url=explorer, java_script_enabled=script) as context:
        page = context.new_page()
        for address in ("/", "/ask?size=77&within=3", "/nothing/here"):
            context.watch.expected.append("404 (Not Found)")
            page.goto(address)
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.wait_for_url(f"{explorer}{address}#content")
        page.goto("/ask?size=77&within=3")
        if script:
            page.locator("#field-size").fill("99")
            page.wait_for_url("**/ask?*size=99*")
            page.locator("a.skip").focus()
            page.keyboard.press("Enter")
            page.wait_for_url("**/ask?*size=99*#content")
            assert page.locator("#field-size").input_value() == "99"
            assert page.evaluate("document.activeElement.id") == "content"


@pytest.mark.parametrize(("room", "given", "name"), [
    ("ask", {}, "size"),
    ("ask", {"by": "epsilon"}, "epsilon"),
    ("read", {"value": "7", "at_most": "10", "release": None}, "at_most"),
    ("read", {"value": "7", "at_most": "10", "release": None, "loss": "pinball"}, "too_high"),
])  # fmt: skip
def test_sliders_move_the_answer(browser, explorer, release, room, given, name):
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto(f"/{room}?" + "&".join(f"{key}={value}" for key, value in given.items() if value is not None))
        if "release" in given:
            fill(page, "release", release)
        page.locator("#result > dl").wait_for()
        before, value = page.locator("#result").inner_text(), page.locator(f"#field-{name}").input_value()
        page.locator(f"#field-{name} + input[type=range]").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("said => document.querySelector('#result').innerText !== said", arg=before)
        assert float(page.locator(f"#field-{name}").input_value()) > float(value)


def test_a_graph_is_drawn_coloured_and_designed(browser, explorer, look, keep):
    """A triangle: three presses for nodes, two for each edge, one for another colour; the text says the same."""
    with watched(browser, base_url=explorer, **look) as context:
        page = context.new_page()
        page.goto("/design")
        page.get_by_text("Draw it").click()
        board = page.locator("svg.board")
        board.scroll_into_view_if_needed()
        box = board.bounding_box()
        a, b, c = [(box["width"] * x, box["height"] * y) for x, y in ((0.25, 0.25), (0.75, 0.25), (0.5, 0.75))]

        def press(*places):
            for x, y in places:
                board.click(position={"x": x, "y": y})

        press(a, b, c, a, b, b, c, c, a)
        assert sorted(page.locator("#field-graph").input_value().splitlines()) == ["a b", "b c", "c a"]
        page.get_by_role("button", name="Colours").click()
        press(c)
        assert page.locator("#field-colors").input_value().splitlines() == ["a: no", "b: no", "c: yes"]
        assert board.locator("rect").count() == 1 and board.locator("circle").count() == 2
        keep(page, f"graph drawn {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
        assert grave_findings(page) == [] and sideways(page) <= 0
        page.get_by_role("button", name="Design", exact=True).click()
        wait_for(page, "Proved best")
        page.get_by_text("Draw it").click()
        page.get_by_role("button", name="Remove").click()
        assert board.locator("circle").count() == 2, "what was asked is drawn again"


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])
def test_a_long_design_is_stopped_by_a_person(browser, explorer, script, look, keep):
    """It says how far it is, is stopped by the keyboard, and leaves the form as it was; the next design is answered."""
    with watched(browser, base_url=explorer, java_script_enabled=script, **look) as context:
        page = context.new_page()
        page.goto("/design")
        design = page.get_by_role("button", name="Design", exact=True)
        page.locator("#field-kind").select_option("consumer")
        if not script:  # the fields of that kind stand there once it was sent
            design.click()
        for name, value in LONG.items():
            fill(page, name, value)
        design.click()
        page.wait_for_url("**/jobs/*")
        page.get_by_text("seconds so far").wait_for()
        if script:
            first = page.locator(".elapsed").inner_text()
            page.wait_for_function("said => document.querySelector('.elapsed').innerText !== said", arg=first)
            assert grave_findings(page) == [] and sideways(page) <= 0
        keep(page, f"long design {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
        page.get_by_role("button", name="Cancel").focus()
        page.keyboard.press("Enter")
        page.get_by_text("cancelled; press the button again").wait_for()
        assert page.locator("#field-n").input_value() == "100"
        page.locator("#field-kind").select_option("geometric")
        fill(page, "n", "3")
        design.click()
        wait_for(page, "Proved best")


def test_all_that_is_wrong_with_a_form_leads_to_its_fields(browser, explorer, look, keep):
    """Sent by the button; each line above the form leads to its field, which says the same and keeps what was typed."""
    with watched(browser, base_url=explorer, **look) as context:
        page = context.new_page()
        page.goto("/design")
        page.locator("#field-kind").select_option("consumer")
        for name, text in {"epsilon": "0,5", "n": "ten", "delta": "1%"}.items():
            fill(page, name, text)
        context.watch.expected.append("400 (Bad Request)")
        page.get_by_role("button", name="Design", exact=True).click()
        note = page.locator("main > .wrong-note")
        assert note.get_by_role("link").count() == 3
        for name in ("epsilon", "delta", "n"):
            beside = page.locator(f"#field-{name}-wrong").inner_text()
            link = note.get_by_role("link").filter(has_text=beside).first
            link.focus()
            page.keyboard.press("Enter")
            page.wait_for_function("id => document.activeElement.id === id", arg=f"field-{name}")
        assert page.locator("#field-n").input_value() == "ten"
        assert grave_findings(page) == [] and sideways(page) <= 0
        keep(page, f"all that is wrong {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")


def test_without_a_script_the_list_of_what_is_wrong_leads_to_the_fields(browser, explorer):
    with watched(browser, base_url=explorer, java_script_enabled=False) as context:
        page = context.new_page()
        context.watch.expected.append("400 (Bad Request)")
        page.goto("/ask?size=many&within=")
        page.locator("main > .wrong-note").get_by_role("link").nth(1).click()
        page.wait_for_url("**#field-within")
        assert page.locator("#field-size").input_value() == "many"
        assert page.locator("#field-within-wrong").inner_text().startswith("is empty")


# Forms while people fill them in: what is half written is said in its place, and no browser logs it as an error.

HALVES = {"number": ("", "-", "1/", "0.0.", "1e"), "text": ("", '{"', "1/"), "area": ("", '{"a": [', "1, 2\n3")}
GIVEN = {"ask": {}, "design": {"graph": "a b\nb c", "colors": "a: no\n*: yes"}, "check": {}, "read": {"value": "7"}}
"""What stands in each room before, so that every other field counts."""


def quietly(page, name, text):
    """Write in a field as if it had always stood there."""
    page.locator(f"#field-{name}").evaluate("(field, text) => { field.value = text; }", text)


def half_way(page, live, name, text):
    """Write in a field, and wait until the page has said what it has to say; return whether that is a complaint."""
    if page.locator(folded(name)).count():
        page.locator(folded(name)).click()
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
