"""How Sphinx makes the documents; `make docs` runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import crowdcore  # noqa: E402
from docs import generator  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "crowdcore"
author = "the authors of crowdcore"
version = release = crowdcore.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

default_role = "code"  # a docstring's `name` is a name, as in Markdown
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections Parameters and Returns name the types
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "crowdcore"
html_logo = "../dashboard/logo.svg"
html_favicon = "../dashboard/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "collapse_navigation": True,  # the whole tree on every page takes most of the build
}


def setup(app: Sphinx) -> None:
    """Write the reference from the code before anything is read, and fill in the guide."""
    generator.write_reference(HERE / "reference")
    app.connect("source-read", generator.fill_in)
