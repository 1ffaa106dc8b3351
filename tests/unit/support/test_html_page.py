"""Parts of HTML pages: text is escaped, HTML is kept, and the policy allows the page's script."""

from __future__ import annotations

import base64
import hashlib
import re

from actiondbg.support.html_page import (
    Cell,
    Html,
    TableRow,
    as_script,
    code,
    element,
    facts,
    html_page,
    section,
    table,
)


def test_text_is_escaped_and_html_is_kept() -> None:
    assert element("p", "a < b, ", code('"c"'), kind="n") == (
        '<p class="n">a &lt; b, <code>&quot;c&quot;</code></p>'
    )
    assert section("A & B", "<i>", Html("<b></b>"), name="a") == (
        '<section id="a">\n<h2>A &amp; B</h2>\n&lt;i&gt;\n<b></b>\n</section>'
    )


def test_a_table_aligns_numbers_and_names_rows() -> None:
    cells = ["<", 1234, 0, Cell("5 ms", "n", 0.005)]
    assert table([TableRow(cells, "r1", "best")], ["a", Cell("b", "n")]) == (
        '<table><thead><tr><th scope=col>a</th><th scope=col class="n">b</th></tr></thead>\n'
        '<tbody>\n<tr id="r1" class="best"><td>&lt;</td><td class="n">1,234</td><td class="n"></td>'
        '<td class="n" data-value="0.005">5 ms</td></tr>\n</tbody></table>'
    )
    assert "<tr><th scope=row>LLVM</th><td>22</td></tr>" in facts([("LLVM", "22")])


def test_what_is_empty_is_left_out() -> None:
    assert table([], ["a"]) == ""
    assert section("A", "", table([])) == ""


def test_data_cannot_end_its_script() -> None:
    assert "<" not in as_script({"a": "</script>"})


def test_the_policy_allows_the_script_of_the_page_alone() -> None:
    page = html_page("<T>", "text & more", data=[1], scripts=["let a = 1;", "let b = 2;"])
    (script,) = re.findall("<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert '<script type="application/json" id="data">[1]</script>' in page
    assert "<title>&lt;T&gt;</title>" in page
    assert "text &amp; more" in page
    assert "script-src 'none'" in html_page("t")
