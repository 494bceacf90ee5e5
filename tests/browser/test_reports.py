"""A report as its reader sees it: opened from a disk with the network off, in the light and the dark, and printed."""

import re

import pytest

from support.accessible import grave_findings, sideways
from support.pictures import CANARIES, HOSTILE, make_table, publish
from support.watched import watched

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


def test_it_opens_without_a_network(browser, report, look, keep):
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


def test_it_carries_no_canary(report):
    written = report[1].read_text(encoding="utf-8")
    assert [canary for canary in CANARIES if re.search(rf"\b{canary}\b", written)] == []
    assert "<script" not in written
