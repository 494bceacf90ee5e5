"""One setting for all tests: continuous integration tries the same examples every time, people try new ones."""

import os

from hypothesis import settings

settings.register_profile("continuous integration", derandomize=True, deadline=None)
settings.register_profile("people", deadline=None)
settings.load_profile("continuous integration" if os.environ.get("CI") else "people")
