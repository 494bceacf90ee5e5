"""The manual as people meet it: on a phone and a desktop, in the light and the dark, and through its search."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.accessible import sideways

SOURCE = Path(__file__).parents[2]

PAGES = [
    "index", "start", "howto/counts", "howto/teams", "notebooks/reader", "theory", "proofs/plurality",
    "reference/api/irisdp/Session", "reference/commands/publish", "project/known-limitations", "pictures",
]  # fmt: skip
"""One page of each kind, and those with the widest tables, formulas and pictures."""

SOUGHT = {
    "epsilon": "howto/choosing-epsilon", "install": "index", "mean": "howto/totals-and-means",
    "median": "howto/medians", "average income": "howto/totals-and-means", "crosstab": "howto/counts",
    "contingency table": "howto/counts", "budget": "start", "pandas": "howto/other-files", "winner": "howto/ballots",
    "postgres": "howto/server-tables",
}  # fmt: skip
"""What people look for, and the page that must be among the first three."""


@pytest.fixture(scope="module")
def manual(chromium):
    """Return the folder of the manual, made now."""
    pytest.importorskip("pydata_sphinx_theme", reason="needs the tools of the manual: make site")
    made = subprocess.run(
        [sys.executable, "docs/site/build.py"], cwd=SOURCE, check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return SOURCE / "build" / "site"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits(browser, manual, look, keep, page):
    context = browser.new_context(
        viewport={"width": 360 if look["phone"] else 1280, "height": 800},
        color_scheme="dark" if look["dark"] else "light",
    )
    opened = context.new_page()
    opened.goto((manual / f"{page}.html").as_uri())
    assert opened.locator("h1").count() == 1
    keep(opened, f"manual {page} {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")
    assert sideways(opened) <= 0
    context.close()


@pytest.mark.parametrize("words", SOUGHT)
def test_the_search_leads_to_the_page(browser, manual, words):
    page = browser.new_page()
    page.goto(f"{(manual / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    results = page.locator("#search-results ul.search > li > a")
    results.first.wait_for()
    first = [link.get_attribute("href").partition("?")[0].partition("#")[0] for link in results.all()[:3]]
    assert f"{SOUGHT[words]}.html" in first
    page.close()


def test_a_tab_holds_for_the_whole_page(browser, manual):
    page = browser.new_page()
    page.goto((manual / "start.html").as_uri())
    assert not page.get_by_text("import irisdp").first.is_visible()
    page.get_by_text("Python", exact=True).first.click()
    assert page.get_by_text("survey.count(").first.is_visible()
    assert not page.get_by_text("$ irisdp publish").first.is_visible()
    page.close()
