from xml.etree import ElementTree

import pytest

from multirater.report.charts import group_chart, interval_bar, line_chart, scatter_chart
from multirater.report.raters import Figure

WICKED = "<b>&"


def parsed(markup):
    return ElementTree.fromstring(str(markup))


def test_lines_stay_inside_and_rise_upwards():
    chart = parsed(line_chart({"a": [(1, 0.5), (2, 0.9)]}, title="t", x="epoch", y="loss"))
    (path,) = chart.findall(".//path")
    (x0, y0), (x1, y1) = (map(float, p.split(",")) for p in path.get("d")[1:].split("L"))
    assert 0 < x0 < x1 < 480
    assert 0 < y1 < y0 < 250


@pytest.mark.parametrize("points", [[(1, 2.0)], [(1, 2.0), (2, 2.0)]])
def test_a_flat_or_single_value_can_be_drawn(points):
    parsed(line_chart({"a": points}, title="t", x="epoch", y="loss"))


def test_names_are_escaped_and_the_legend_lists_them():
    figures = {"low": Figure(0.5, 0.4, 0.6)}
    chart = group_chart({WICKED: figures, "b": {}}, ["low"], title=WICKED, y="Dice")
    legend = [item.find("span").tail for item in parsed(chart).findall(".//li")]
    assert legend == [WICKED, "b"]
    assert WICKED not in str(chart)


def test_points_lie_where_they_belong():
    chart = parsed(scatter_chart({"a": [(0, 0), (1, 1)]}, title="t", x="x", y="y"))
    first, second = chart.findall(".//circle")
    assert float(first.get("cx")) < float(second.get("cx"))
    assert float(first.get("cy")) > float(second.get("cy"))


def test_a_bar_without_value_is_empty_and_without_interval_has_no_whisker():
    assert str(interval_bar(Figure(float("nan")))) == ""
    assert "whisker" not in str(interval_bar(Figure(0.5)))
    assert "whisker" in str(interval_bar(Figure(0.5, 0.4, 0.6)))
