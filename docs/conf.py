"""How Sphinx builds the documentation (`make docs`): a warning is an error, nothing is fetched."""

import re

import surefoot

project = "Surefoot"
author = "Surefoot contributors"
copyright = "2026, Surefoot contributors"
release = version = surefoot.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
default_role = "code"
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False

html_theme = "furo"
html_title = "Surefoot"
html_static_path = ["_static"]
html_copy_source = False

CLAIM = re.compile(r"(Holds|Does\s+not\s+hold)\s+when:")
BAR = re.compile(r"(``.*?``)|\|", re.DOTALL)


def set_docstring(app, what, name, obj, options, lines):
    """Show an indented formula as typed, |w| as bars, and each claim on a line of its own.

    Docstrings are written to be read in an editor, where none of these needs markup.
    """
    shown = []
    for paragraph in "\n".join(lines).split("\n\n"):
        if paragraph.startswith("    "):
            shown.append("::\n\n" + paragraph)
        elif paragraph.startswith(">>>"):
            shown.append(paragraph)
        else:
            plain = BAR.sub(lambda bar: bar[1] or r"\|", paragraph)
            bold = CLAIM.sub(lambda claim: f"\n\n**{' '.join(claim[0].split())}**", plain)
            shown.append(bold.lstrip("\n"))
    lines[:] = "\n\n".join(shown).split("\n")


def setup(app):
    """Register what autodoc has to know of our docstrings."""
    app.connect("autodoc-process-docstring", set_docstring)
