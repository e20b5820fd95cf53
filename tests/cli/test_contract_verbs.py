"""What every verb of the command line promises."""

import pytest
import typer

from multirater.cli.app import app

VERBS = typer.main.get_command(app).commands
COMMANDS = {(name,): each for name, each in VERBS.items() if name != "import"}
COMMANDS |= {("import", name): each for name, each in VERBS["import"].commands.items()}

every_verb = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


@every_verb
def test_it_says_what_it_does_and_what_each_option_is_for(run, words):
    status, output, _ = run(*words, "--help")
    assert status == 0
    assert COMMANDS[words].help.splitlines()[0].rstrip(".").split()[-1] in output
    options = [each for each in COMMANDS[words].params if each.param_type_name == "option"]
    assert [each.name for each in options if not each.help] == []
    assert {"quiet", "verbose", "debug"} <= {each.name for each in options}


@every_verb
def test_an_option_that_it_does_not_have_is_refused_in_words(run, words):
    status, output, errors = run(*words, "--no-such-option")
    assert status == 2
    assert "--no-such-option" in errors
    assert not output
