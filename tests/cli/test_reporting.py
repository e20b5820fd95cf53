import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from multirater.cli.app import app


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words])


def test_report_prints_where_the_page_is(run, digits_folder, tmp_path):
    target = tmp_path / "report.html"
    result = run("report", digits_folder, "-o", target, "-q", "-j", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(target)
    assert "data" in target.read_text()


def test_every_case_in_a_folder(run, digits_folder, tmp_path):
    result = run(
        "report", digits_folder, "-o", tmp_path / "r.html", "--cases", "all", "-q", "-j", 1
    )
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "r" / "cases").iterdir())) == 12


@pytest.mark.parametrize("cases", ["0", "few", "-3", "1.5"])
def test_a_wrong_number_of_cases_is_named(run, digits_folder, tmp_path, cases):
    result = run("report", digits_folder, "-o", tmp_path / "r.html", f"--cases={cases}")
    assert result.exit_code == 2
    assert f"--cases {cases}" in result.stderr


def test_what_is_no_data_set_is_named(run, tmp_path):
    result = run("report", tmp_path / "nothing", "-o", tmp_path / "r.html")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
    assert not (tmp_path / "r.html").exists()


def test_view_prints_an_address_of_this_machine_and_serves_it(digits_folder):
    words = [sys.executable, "-m", "multirater", "view", str(digits_folder), "-q", "-j", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert b"multirater report" in answer.read()
        finally:
            process.terminate()
