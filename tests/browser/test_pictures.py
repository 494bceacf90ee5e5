"""Every picture as a page of its own: opened from a disk with the network off, drawn, read aloud, and on a phone."""

import re

import pytest

from support.accessible import grave_findings, sideways
from support.pictures import CANARIES, HOSTILE, PICTURES, make_table, publish
from support.watched import watched


@pytest.fixture(scope="module", params=PICTURES)
def picture(request, chromium, tmp_path_factory):
    """A picture under its name, and the page it was written to."""
    pytest.importorskip("altair", reason='needs pictures: pip install "irisdp[plots]"')
    made = PICTURES[request.param](tmp_path_factory.mktemp("pictures"))
    path = tmp_path_factory.mktemp("pages") / "picture.html"
    path.write_text(made.to_html(), encoding="utf-8")
    return request.param, made, path


def test_it_opens_without_a_network(browser, picture, look, keep):
    name, made, path = picture
    with watched(browser, files=[path], **look) as context:
        # Said of legends of one line that is told apart in two ways, of which one is shown: it is as it should be.
        context.watch.expected.append('Conflicting legend property "disable"')
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector(".vega-embed svg")  # drawn by the script in the page, not the drawing that came with it
        assert context.watch.requests == [path.as_uri()]
        assert page.locator("h1").inner_text() == made.title
        assert page.locator(".vega-embed svg [role='graphics-symbol'], .vega-embed svg path").count() > 2
        page.wait_for_timeout(100)
        keep(page, f"picture {name} {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
        assert grave_findings(page) == []
        assert sideways(page) <= 0
        page.locator("summary").focus()
        page.keyboard.press("Enter")
        assert page.locator("details table tbody tr").count() == len(made.rows)
        assert sideways(page) <= 0


def test_it_needs_no_script(browser, picture):
    """Mail programs and strict browsers run none, nor does a printer: the drawing is in the page."""
    _, made, path = picture
    with watched(browser, files=[path], java_script_enabled=False) as context:
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        drawn = page.locator("main svg").bounding_box()
        assert drawn["width"] > 100 and drawn["height"] > 50
        assert page.locator("main svg > title").text_content() == made.title


def test_it_carries_no_canary(picture):
    _, _, path = picture
    written = path.read_text(encoding="utf-8")
    assert [canary for canary in CANARIES if re.search(rf"\b{canary}\b", written)] == []


# A report as its reader sees it: opened from a disk with the network off, in the light and the dark, and printed.

ASKED = {
    "counts": (("count", "income > 20000"), {}),
    "majorities": (("majority", "income > 20000"), {}),
    "means": (("mean", "income"), {"lower": 0, "upper": 100_000, "step": 1}),
}
BATCH = [
    {"query": "count", "expression": "income > 20000"},
    {"query": "count", "by": "region", "groups": ["north", "south", HOSTILE], "weight": 2},
    {"query": "majority", "expression": "income > 20000", "by": "region", "groups": ["north", "south"]},
]


@pytest.fixture(scope="module", params=[*ASKED, "a batch"])
def report(request, chromium, tmp_path_factory):
    """The kind of a report, and the page it was written to."""
    import irisdp

    folder = tmp_path_factory.mktemp("reports")
    if request.param in ASKED:
        words, options = ASKED[request.param]
        irisdp.report(publish(folder, *words, **options), out=folder / "report.html")
    else:
        plan = {
            "data": make_table(folder),
            "budget": {"epsilon": 1},
            "ledger": folder / "ledger.db",
            "questions": BATCH,
        }
        irisdp.batch({**plan, "out": folder / "out.csv"}, report=folder / "report.html")
    return request.param, folder / "report.html"


def test_it_opens_without_a_network_as_a_report(browser, report, look, keep):
    kind, path = report
    with watched(browser, files=[path], **look) as context:
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_load_state("networkidle")
        assert context.watch.requests == [path.as_uri()]
        assert page.locator("h1").count() == 1
        keep(page, f"report of {kind} {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
        assert grave_findings(page) == []
        assert sideways(page) <= 0


def test_it_prints(browser, report, keep):
    kind, path = report
    with watched(browser, files=[path], java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 700, "height": 1000})
        keep(page, f"report of {kind} printed")
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_it_carries_no_canary_as_a_report(report):
    written = report[1].read_text(encoding="utf-8")
    assert [canary for canary in CANARIES if re.search(rf"\b{canary}\b", written)] == []
    assert "<script" not in written


# The page of what is printed and recomputed, as its reader sees it: from a disk, with the network off.


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of all items."""
    import irisdp

    folder = tmp_path_factory.mktemp("reproduced")
    assert irisdp.reproduce(out=folder).holds
    return folder / "index.html"


def test_it_opens_without_a_network_as_recomputed(browser, written, look, keep):
    with watched(browser, files=[written], **look) as context:
        context.set_offline(True)
        page = context.new_page()
        page.goto(written.as_uri())
        page.wait_for_load_state("networkidle")
        assert context.watch.requests == [written.as_uri()]
        assert page.locator("h1").count() == 1
        keep(page, f"reproduction {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
        assert grave_findings(page) == []
        assert sideways(page) <= 0
