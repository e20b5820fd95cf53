import pandas as pd

from multirater.cli.tables import print_table


def test_of_a_hundred_columns_those_are_shown_that_can_be_read(capsys):
    names = [f"class {number}" for number in range(100)]
    frame = pd.DataFrame(0.5, index=pd.Index(["anna"], name="rater"), columns=names)
    print_table(frame, "Raters")
    shown = capsys.readouterr().out
    assert "anna" in shown
    assert "0.500" in shown
    assert "77 more columns are not shown: --json has all" in shown


def test_a_table_of_few_columns_is_shown_whole(capsys):
    print_table(pd.DataFrame({f"measure {number}": [0.25] for number in range(14)}), "Cases")
    shown = capsys.readouterr().out
    assert shown.count("0.250") == 14
    assert "not shown" not in shown


def test_of_thousands_of_rows_the_first_are_shown(capsys):
    print_table(pd.DataFrame({"a": range(5000)}), "many")
    said = capsys.readouterr().out
    assert "4000 more rows are not shown: --json has all" in said
    assert len(said.splitlines()) < 1010
