"""The site of the documentation: settings of Sphinx, for scripts/docs.

The sources are the Markdown files as they are; the table of contents is docs/index.md.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

project = "actiondbg"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/kernels/*.md", "examples/**/README.md"]
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "actiondbg"
html_show_copyright = html_show_sphinx = html_copy_source = False
# What Pygments does not know is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]


_REFERENCE = '<a href="../api/index.html">Reference of all classes</a>'  # written beside the site


def _add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the site's table of contents of the sections of the index and their pages."""
    if name == "docs/api":
        source[0] += f"\n{_REFERENCE}\n"
    if name != root_doc:
        return
    for section in re.split(r"(?m)^## ", source[0])[1:]:
        pages = re.findall(r"(?m)^\| \[[^]]+\]\((\S+?)\.md\)", section)
        listed = "\n".join(
            "/" + page.removeprefix("../") if ".." in page else page for page in pages
        )
        caption = section.partition("\n")[0]
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("source-read", _add_contents)
