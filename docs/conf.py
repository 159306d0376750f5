"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the extension that is kept here

project = "pollwait"
author = "The pollwait developers"
copyright = author  # noqa: A001 - the name that Sphinx reads
release = metadata.version("pollwait")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "waiter_tables"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the Args sections say it in words; signatures stay on one line
napoleon_custom_sections = [("Timing", "notes_style"), ("Source", "notes_style")]
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"pollwait {release}"
