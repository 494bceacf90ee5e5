"""An explorer with a table, as a browser without scripts uses it: forms are sent, and pages are read as text."""

import html
import re
import time
from contextlib import contextmanager

from starlette.testclient import TestClient

from irisdp._explorer.app import create_app
from irisdp._explorer.security import Access
from irisdp._explorer.workspace import ServedTable, Workspace

HERE = "http://127.0.0.1:8080"
SURVEY = "id,age,town,vote\n" + "".join(
    f"{number},{20 + number % 60},{('Ely', 'York', 'Bath')[number % 3]},{number % 2}\n" for number in range(300)
)


class Visitor:
    """A browser that was let in.

    Parameters
    ----------
    client : TestClient
    root : str
        The secret path.
    workspace : Workspace
    """

    def __init__(self, client, root, workspace):
        self.client, self.root, self.workspace = client, root, workspace
        self.page = None

    def get(self, address):
        """Open an address."""
        self.page = self.client.get(address if address.startswith("http") else f"{self.root}/{address}")
        return self.text

    def post(self, address, **fields):
        """Send a form."""
        self.page = self.client.post(f"{self.root}/{address}", data=fields)
        return self.text

    @property
    def text(self):
        """What the page says, without its form's fields."""
        body = re.sub(r"<head>.*?</head>|<(select|textarea).*?</\1>", "", self.page.text, flags=re.DOTALL)
        return " ".join(html.unescape(re.sub("<[^>]+>", " ", body)).split())

    def ask(self, **fields):
        """Add a question to the plan."""
        return self.post("plan/questions/new", do="keep", **fields)

    def share(self, **fields):
        """Divide the budget."""
        return self.post("plan", do="show", **fields)

    def offer(self):
        """Open Publish, and return what its form holds; None where it offers no press."""
        self.get("publish")
        found = re.search(r'name="offer" value="([^"]+)"', self.page.text)
        return found and found[1]

    def press(self, offer=None, *, wait=True):
        """Press Publish, and wait for what comes of it."""
        self.post("publish", offer=self.offer() if offer is None else offer)
        end = time.monotonic() + 120
        while wait and 'class="job"' in self.page.text:
            assert time.monotonic() < end, "the job does not end"
            time.sleep(0.1)
            self.get(str(self.page.url))
        return self.text


@contextmanager
def explored(data, **options):
    """Open an explorer with a table and enter it."""
    workspace, access = Workspace(ServedTable(data=str(data), **options)), Access()
    with TestClient(create_app(workspace, access), base_url=HERE) as client:
        entered = client.get("/", params={"token": access.token})
        assert entered.status_code == 200
        yield Visitor(client, access.root, workspace)
