"""Pictures of lineages: they are complete, well-formed and say what they summarise."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from tests.elements import some

pytest.importorskip("duckdb")

from actiondbg.lineage.pictures.matrix_page import matrix_page
from actiondbg.lineage.pictures.sankey import flows_title, sankey_page, sankey_svg
from actiondbg.lineage.pictures.tracking_picture import (
    Picture,
    picture,
    picture_dot,
    picture_page,
    picture_svg,
    tracked_ways,
)
from actiondbg.lineage.questions.flows import flows
from actiondbg.lineage.questions.matrix import matrix, unexplained
from actiondbg.lineage.units import rolled_up
from tests.fakes.lineage.lineage import FakeLineage, convolutions, replaced, written_stage

SVG = "{http://www.w3.org/2000/svg}"


LABEL = re.compile(r'^ +(n\d+) \[label="([^"\\]*)')
EDGE = re.compile(r'^ +(n\d+) -> (n\d+) \[label="([^"]*)"')


def edges(dot: str) -> list[tuple[str, str, str]]:
    """Return the edges of a graph: the titles of two boxes, and the label."""
    lines = dot.splitlines()
    titles = {box[1]: box[2] for line in lines if (box := LABEL.match(line))}
    found = [edge for line in lines if (edge := EDGE.match(line))]
    return [(titles[edge[1]], titles[edge[2]], edge[3]) for edge in found]


def drawn(lineage: FakeLineage, kind: str = "tosa.conv2d") -> Picture:
    operations = lineage.stages[0].named(kind)
    return picture(lineage, operations, lineage.track(operations, lineage.stages[-1]))


def test_the_picture_of_a_few_operations() -> None:
    found = drawn(convolutions(1, 1, 1))
    assert found.columns == ("input", "pass:decompose #10", "pass:tosa-to-linalg #20")
    boxes = [(box.column, box.title, box.detail, box.kind) for box in found.boxes]
    assert boxes == [
        (0, "@1 tosa.conv2d", "model.mlir:1:5", "end"),
        (0, "@2 tosa.conv2d", "model.mlir:2:5", "end"),
        (0, "@3 tosa.conv2d", "folded by #2 pattern:FoldConv", "lost"),
        (1, "@30001 tosa.matmul", "model.mlir:1:5", "box"),
        (2, "@10001 linalg.matmul", "model.mlir:1:5", "end"),
        (2, "@20002 linalg.conv_2d", "", "end"),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in found.edges] == [
        (0, 3, "replaced #11 pattern:ConvIsMatmul"),
        (3, 4, "replaced #21 pattern:MatmulConverter"),
        (1, 5, "replaced #22 pattern:ConvConverter"),
    ]
    assert found.note == ""


def test_many_operations_are_summarised() -> None:
    found = drawn(convolutions(40, 30, 5))
    assert [box.title for box in found.boxes] == [
        *("70 x tosa.conv2d", "5 x tosa.conv2d", "40 x tosa.matmul"),
        *("40 x linalg.matmul", "30 x linalg.conv_2d"),
    ]
    assert "185 operations are drawn as 5 boxes" in found.note
    assert found.note in picture_svg(found)


def test_the_svg_shows_all_boxes_and_edges() -> None:
    found = drawn(convolutions(2, 2, 1))
    root = ET.fromstring(picture_svg(found))
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {box.title for box in found.boxes} <= texts
    assert {edge.label for edge in found.edges} <= texts
    assert len(list(root.iter(f"{SVG}rect"))) == len(found.boxes)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for box in root.iter(f"{SVG}rect"):
        x, y, wide, high = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and x + wide <= width and y >= 0 and y + high <= height


def test_boxes_do_not_overlap() -> None:
    root = ET.fromstring(picture_svg(drawn(convolutions(12, 12, 2))))
    boxes = [
        tuple(float(box.attrib[name]) for name in ("x", "y", "height"))
        for box in root.iter(f"{SVG}rect")
    ]
    pairs = [
        (upper, lower)
        for upper, lower in itertools.permutations(boxes, 2)
        if upper[0] == lower[0] and upper[1] < lower[1]
    ]
    for (_, y, height), lower in some(pairs):
        assert y + height <= lower[1]


def test_names_are_escaped() -> None:
    first = written_stage("a<b", '1 a.x loc("<&>.mlir":1:1)')
    lineage = FakeLineage([first, written_stage("out", "1 a.x")], [])
    found = drawn(lineage, "a.x")
    ET.fromstring(picture_svg(found))
    assert "<&>" not in picture_page(found)
    assert picture_dot(found).count('"') % 2 == 0


def test_a_unit_answers_for_the_end_of_a_way() -> None:
    lineage = convolutions(1, 1, 0)
    operations = lineage.stages[0].named("tosa.conv2d")
    tracking = rolled_up(lineage.track(operations, lineage.stages[-1]), "function")
    found = picture(lineage, operations, tracking)
    unit = next(at for at, box in enumerate(found.boxes) if box.title == "@91001 func.func")
    assert [(edge.label, edge.target) for edge in found.edges][-1] == ("inside", unit)


def test_the_origins_are_inside_their_unit() -> None:
    first = written_stage("input", "1 func.func @f\n  2 a.x\n  3 a.y")
    last = written_stage("output", "4 func.func @f\n  5 b.x\n  6 b.y")
    lineage = FakeLineage([first, last], [replaced(2, 5, 1), replaced(3, 6, 1)], {1: "pass:p"})
    operations = [*last.named("b.x"), *last.named("b.y")]
    tracking = tracked_ways(lineage, operations, first, level="function")
    assert edges(picture_dot(picture(lineage, operations, tracking))) == [
        ("@2 a.x", "@5 b.x", "replaced #1 pass:p"),
        ("@3 a.y", "@6 b.y", "replaced #1 pass:p"),
        ("@2 a.x", "@1 func.func", "inside"),
        ("@3 a.y", "@1 func.func", "inside"),
    ]


def test_each_operation_has_a_way_to_what_they_all_became() -> None:
    first = written_stage("input", "1 func.func @f\n  2 a.x\n  3 a.y")
    last = written_stage("output", "1 func.func @f\n  5 b.x")
    steps = [replaced(2, 5, 1), replaced(3, 5, 1)]
    lineage = FakeLineage([first, last], steps, {1: "pass:p"})
    operations = [*first.named("a.x"), *first.named("a.y")]
    tracking = tracked_ways(lineage, operations, last)
    assert edges(picture_dot(picture(lineage, operations, tracking))) == [
        ("@2 a.x", "@5 b.x", "replaced #1 pass:p"),
        ("@3 a.y", "@5 b.x", "replaced #1 pass:p"),
    ]


def test_a_loop_that_one_operation_became_answers_for_what_is_in_it() -> None:
    first = written_stage("input", "1 func.func @f\n  2 a.x\n  3 a.y")
    last = written_stage("output", "1 func.func @f\n  11 scf.for\n    12 scf.for\n      13 b.y")
    steps = [replaced(2, 12, 1), replaced(3, 13, 1)]
    lineage = FakeLineage([first, last], steps, {1: "pass:p"})
    operations = [*first.named("a.x"), *first.named("a.y")]
    tracking = tracked_ways(lineage, operations, last, level="loop")
    assert {one.index for one in tracking.operations} == {2}, "the inner loop"


def test_an_operation_that_stays_is_inside_its_unit() -> None:
    first = written_stage("input", "1 func.func @f\n  2 a.x")
    last = written_stage("output", "1 func.func @f\n  2 a.x")
    lineage = FakeLineage([first, last], [])
    operations = first.named("a.x")
    tracking = tracked_ways(lineage, operations, last, level="function")
    dot = picture_dot(picture(lineage, operations, tracking))
    assert edges(dot) == [("@2 a.x", "@1 func.func", "inside")]


def test_dot_names_each_box_and_edge() -> None:
    found = drawn(convolutions(1, 1, 1))
    text = picture_dot(found)
    assert text.count("[label=") == len(found.boxes) + len(found.edges)
    assert 'n0 -> n3 [label="replaced #11 pattern:ConvIsMatmul"];' in text


def test_the_sankey_diagram() -> None:
    found = flows(convolutions(3, 4, 1), "tosa.conv2d", after=["decompose"])
    title = flows_title(found)
    assert title == "What 8 operations became: input to after decompose to output"
    root = ET.fromstring(sankey_svg(found, title))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for label in ("tosa.conv2d 8", "tosa.matmul 3", "folded 1", "linalg.conv_2d 4"):
        assert label in texts
    widths = [float(path.attrib["style"].rpartition(":")[2]) for path in root.iter(f"{SVG}path")]
    assert len(widths) == len(found.flows)
    assert sorted(widths) == pytest.approx(
        sorted(520 / 8 * flow.value for flow in found.flows), 0.01
    )


def test_the_page_of_flows_has_the_licence_of_its_script() -> None:
    found = flows(convolutions())
    page = sankey_page(found, flows_title(found))
    assert "Copyright 2015, Mike Bostock" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_the_page_of_a_matrix_names_each_orphan() -> None:
    found = matrix(convolutions())
    page = matrix_page(found, unexplained(found))
    for word in ("folded", "pattern:FoldConv", "tensor.empty", "@main"):
        assert word in page
