"""What people come to the explorer for, step by step, and a count of their steps."""

GRAPH = "a b\nb c\nc d\nd e\ne f\nf g\ng h\n"
COLOURS = "a: no\nb: no\nc: no\n*: yes"
FOREIGN = "0.5,0.3,0.2\n0.25,0.5,0.25\n0.2,0.3,0.5\n"
"""A matrix that some other tool may have written: private at ln 2 between inputs next to each other."""

TASKS = {
    "least ε for a count of 200 off by at most 5": ("Ask", {"size": "200", "within": "5"}, "Show", "ε = 0.5382"),
    "optimal mechanism for a pasted graph of 8 nodes": (
        "Design",
        {"graph": GRAPH, "colors": COLOURS},
        "Design",
        "Proved best: mean probability of missing the first choice 0.103358631",
    ),
    "check a foreign matrix": (
        "Check",
        {"mechanism": FOREIGN, "on": "inputs next to each other", "epsilon": "1"},
        "Check",
        "This keeps ε = 1, exactly",
    ),
    "interpret 7 of at most 10": (
        "Read",
        {"value": "7", "at_most": "10"},
        "Read",
        "Published 7; the truth is probably ",
    ),
}
"""Task → room, what is filled in, what is pressed, how the answer begins."""


def folded(name):
    """Return what unfolds the part of a form in which a field stands, where it is folded."""
    return f"details.part:not([open]):has(#field-{name}) > summary"


def fill(page, name, value):
    """Fill in one field, or choose in it."""
    if page.locator(folded(name)).count():
        page.locator(folded(name)).click()
    field = page.locator(f"#field-{name}")
    if field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(label=value)
    else:
        field.fill(value)


def do(page, task, release):
    """Do a task as a person does, from the way in; return how many steps it took."""
    room, fields, button, says = TASKS[task]
    fields = {"release": release, **fields} if room == "Read" else fields
    page.goto("/")
    page.get_by_role("navigation").get_by_role("link", name=room).click()
    for name, value in fields.items():
        fill(page, name, value)
    page.get_by_role("button", name=button, exact=True).click()
    wait_for(page, says)
    return len(fields) + 2


def wait_for(page, says):
    """Wait until the answer stands there."""
    page.locator(".headline", has_text=says).wait_for()
