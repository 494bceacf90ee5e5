"""The page of what is printed and recomputed, as its reader sees it: from a disk, with the network off."""

import pytest

from support.accessible import grave_findings, sideways
from support.watched import watched


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of all items."""
    import irisdp

    folder = tmp_path_factory.mktemp("reproduced")
    assert irisdp.reproduce(out=folder).holds
    return folder / "index.html"


def test_it_opens_without_a_network(browser, written, look, keep):
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
