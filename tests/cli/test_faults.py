"""Faults as the command line prints them."""

from multirater.cli.faults import faults_text
from multirater.errors import Fault


def wrong_path(number, rater):
    return Fault(
        "file does not exist",
        expected="a path",
        fix="correct it",
        file=f"{rater}/{number}.png",
        case=f"c{number}",
        rater=rater,
    )


def test_many_equal_faults_take_few_lines():
    faults = [wrong_path(number, rater) for number in range(300) for rater in ("anna", "bert")]
    lines = faults_text(faults).splitlines()
    assert len(lines) == 6
    assert lines[0] == "case c0, rater anna, file anna/0.png: file does not exist"
    assert lines[3].startswith("and 597 more like this: case c1, case c2, ")
    assert lines[4:] == ["  expected: a path", "  to do: correct it"]


def test_other_faults_are_not_hidden_among_equal_ones():
    faults = [*(wrong_path(number, "anna") for number in range(9)), Fault("is empty", case="c4")]
    text = faults_text([faults[0], faults[-1], *faults[1:-1]])
    assert text.endswith("case c4: is empty")
    assert "and 6 more like this: case c3" in text


def test_a_single_fault_reads_as_it_is():
    fault = wrong_path(1, "anna")
    assert faults_text([fault]) == str(fault)
