"""Publishing from a notebook's kernel, with and without what draws progress bars there."""

import subprocess
import sys

import pytest

KERNEL = """
import sys, types
class Shell:
    config = {"IPKernelApp": {}}
ipython = types.ModuleType("IPython")
ipython.get_ipython = lambda: Shell
sys.modules["IPython"] = ipython
if sys.argv[1] == "without":
    sys.modules["ipywidgets"] = None
import duckdb
import irisdp
from irisdp._tables.engine import locked_connection
bar = duckdb.connect().execute("SELECT current_setting('enable_progress_bar')").fetchone()
found = irisdp.publish(sys.argv[2], "count", by="town", groups="Ely,York", epsilon=30)
print(*found.answers.values, locked_connection().execute("SELECT current_setting('enable_progress_bar')").fetchone()[0])
"""


@pytest.mark.parametrize("widgets", ["with", "without"])
def test_publishing_needs_no_progress_bar(tmp_path, widgets):
    """The engine refuses to have its bar switched off where it has none; nobody could publish then."""
    data = tmp_path / "d.csv"
    data.write_text("town\n" + "Ely\n" * 7 + "York\n" * 3)
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, widgets, str(data)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("7 3 False\n", "")
