"""The watch itself: what it must notice, it notices."""

import pytest

from support.accessible import grave_findings, sideways
from support.watched import watched

STRICT = "default-src 'none'; style-src 'self'; script-src 'self'"


@pytest.fixture(autouse=True)
def strays_are_meant(nothing_leaves, nowhere):
    """Forget what these tests ask for on purpose, before it is held against them."""
    yield
    nowhere.forget()


@pytest.fixture
def write(tmp_path):
    def write(body, head=""):
        path = tmp_path / "page.html"
        path.write_text(
            f'<!doctype html><html lang="en"><head><title>A page</title><meta charset="utf-8">{head}</head>'
            f"<body><main><h1>A page</h1>{body}</main></body></html>",
            encoding="utf-8",
        )
        return path

    return write


def opened(browser, path, **options):
    with watched(browser, files=[path], **options) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_load_state("networkidle")


def test_a_quiet_page_passes(browser, write):
    opened(browser, write("<p>Nothing to see.</p>"))


@pytest.mark.parametrize("body", [
    '<img alt="" src="http://example.org/picture.png">',
    '<img alt="" src="http://192.0.2.1/picture.png">',
    "<script>fetch('https://example.org/')</script>",
    "<script>navigator.sendBeacon('https://example.org/', 'told')</script>",
    '<link rel="stylesheet" href="https://fonts.example.org/font.css">',
    '<iframe title="other" src="https://example.org/"></iframe>',
    "<script>console.error('wrong')</script>",
    "<script>throw new Error('wrong')</script>",
])  # fmt: skip
def test_what_leaves_or_complains_is_noticed(browser, write, body):
    with pytest.raises(AssertionError, match=r"a page (asked|complained)"):
        opened(browser, write(body))


def test_the_proxy_notices_what_is_no_request_of_a_page(browser, write, nowhere):
    """Browsers do not ask extensions, or who watches them, about a WebSocket's first step."""
    with pytest.raises(AssertionError, match="asked"):
        opened(browser, write("<script>new WebSocket('ws://example.org/')</script>"))
    assert [line for line in nowhere.of_pages() if "example.org" in line]


def test_what_a_policy_forbids_is_noticed(browser, write):
    head = f'<meta http-equiv="Content-Security-Policy" content="{STRICT}">'
    with pytest.raises(AssertionError, match="complained"):
        opened(browser, write('<p style="color: red">Red</p>', head))
    with pytest.raises(AssertionError, match="complained"):
        opened(browser, write("<script>document.title = 'run'</script>", head))


def test_another_file_is_noticed(browser, write, tmp_path):
    (tmp_path / "other.js").write_text("document.title = 'other'", encoding="utf-8")
    with pytest.raises(AssertionError, match="asked"):
        opened(browser, write('<script src="other.js"></script>'))


def test_what_nobody_can_read_is_noticed(browser, write):
    path = write('<p style="color: #ddd; background: #fff">pale</p><img src="data:,">')
    with watched(browser, files=[path]) as context:
        context.watch.expected.append("")
        page = context.new_page()
        page.goto(path.as_uri())
        found = grave_findings(page)
    assert any("color-contrast" in line for line in found) and any("image-alt" in line for line in found)


def test_what_is_too_wide_is_noticed(browser, write):
    path = write('<div style="width: 1000px; background: silver">wide</div>')
    with watched(browser, files=[path], phone=True) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        assert sideways(page) > 100
