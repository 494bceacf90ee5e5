"""Whether whoever cannot see, or has a narrow screen, can use a page: axe-core (bundled by axe-playwright-python)."""

GRAVE = {"serious", "critical"}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""All that axe-core knows of WCAG 2.2 A and AA, and its list of good practice."""


def findings(page):
    """Return what axe-core finds in a page, each as a line: how grave, which rule, where."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]})
    return [
        f"{violation['impact']}: {violation['id']}: {node['target']}: {node['html'][:160]}"
        for violation in found.response["violations"]
        for node in violation["nodes"]
    ]


def grave_findings(page):
    """Return those that hinder people."""
    return [line for line in findings(page) if line.partition(":")[0] in GRAVE]


def sideways(page):
    """Return how many pixels of a page lie beyond its right edge, which people would have to scroll to."""
    return page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth")
