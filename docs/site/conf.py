"""How Sphinx makes the manual: strict, nothing fetched when it is read, light and dark as the reader's machine says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import irisdp

sys.path.insert(0, str(Path(__file__).parent))
import formulas
from api import readable

project = "Iris"
author = "The Iris contributors"
project_copyright = "The Iris contributors. Apache-2.0"
version = release = irisdp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_dmath_allow_space = myst_dmath_allow_digits = False  # "$5 or $6" is no formula
myst_update_mathjax = False
html_math_renderer = "mathml"
myst_heading_anchors = 4
highlight_language = "text"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "  # the button copies what is typed, and not what comes
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
default_role = "code"
smartquotes_action = "qe"  # two hyphens begin an option, and are no dash
nitpicky = False  # types are shown as they are written; what pages link to is checked by -W and by links.py
templates_path: list[str] = []

html_theme = "pydata_sphinx_theme"
html_title = f"Iris {version}"
html_static_path = ["_static"]
html_css_files = ["iris.css"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"start": [], "index": []}  # pages that stand alone have nothing beside them to go to
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Iris"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = napoleon_use_param = False  # types are prose, whose words are no names to be looked up
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"


def setup(app: Any) -> None:
    """Let Sphinx read docstrings as they are meant, and typeset formulas without scripts."""
    formulas.setup(app)
    app.connect("autodoc-process-docstring", _as_meant, priority=100)  # before napoleon, which makes markup of its own


def _as_meant(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [readable(line) for line in lines]
    if what == "property" and lines:
        lines[0] = lines[0].replace(": ", " – ", 1)  # napoleon takes what stands before a colon there for a type
