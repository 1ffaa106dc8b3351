"""How the report of a bisection looks, beside what all pages share."""

from __future__ import annotations

STYLE = """\
.verdict { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
#side:not(:checked) ~ table.side, #unified:not(:checked) ~ table.unified { display: none; }
@media print { details { display: none; } }
"""
