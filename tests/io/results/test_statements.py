import pytest

from multirater.errors import InputError
from multirater.io.results.layout import TRUST
from multirater.io.results.statements import read_json, read_trust, write_trust
from multirater.trust import Finding, Trust


def test_a_trust_statement_is_read_as_it_was_written(tmp_path):
    assert read_trust(tmp_path) is None
    trust = Trust("Careful.", (Finding("caution", "few", "few", {"n": 2.0}, raters=("anna",)),))
    write_trust(tmp_path, trust)
    assert read_trust(tmp_path) == trust


@pytest.mark.parametrize(("content", "message"), [("{", "is no JSON"), ("[1]", "no JSON object")])
def test_damaged_files_are_named(tmp_path, content, message):
    (tmp_path / TRUST).write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        read_json(tmp_path / TRUST)
    assert TRUST in str(raised.value)
