import json

import pandas as pd
import pytest

from multirater import progress
from multirater.cli.tables import print_facts, print_json, print_table
from multirater.terminal import harmless


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\u202egnp.exe", "\x08\x08", "a\rb", "\x7f"]
)
def test_what_would_steer_a_terminal_is_spelt_out(text, capsys):
    shown = harmless(f"rater {text}")
    assert shown.isprintable()
    assert text not in shown
    print_facts({"raters": f"anna, {text}"})
    print_table(pd.DataFrame({"rater": [text], text: [1.0]}), f"Raters of {text}")
    progress.show_progress(True)
    progress.say(f"fusing {text}")
    progress.show_progress(False)
    said = capsys.readouterr()
    assert (said.out + said.err).replace("\n", "").isprintable()


def test_letters_of_all_languages_and_lines_stay():
    text = "Jürgen\n\t李明\u0301 \N{GRINNING FACE}"
    assert harmless(text) == text


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b31m", "\u202egnp.exe", "\x7f", "ü"])
def test_json_says_the_same_without_steering(text, capsys):
    print_json({"case": text})
    shown = capsys.readouterr().out
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown) == {"case": text}
