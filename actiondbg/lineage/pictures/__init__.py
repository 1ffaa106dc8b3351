"""Pictures and pages of a lineage: SVG, Graphviz and HTML, drawn without other programs.

May import: everything below, and actiondbg.lineage.questions.
"""
