"""The outcome of all tries, at the end of a session."""

import pandas as pd
from damage import COUNTS


def pytest_terminal_summary(terminalreporter):
    if COUNTS:
        columns = ["tries", "refused", "unchanged", "otherwise", "tracebacks", "hangs"]
        table = pd.DataFrame(COUNTS).T.reindex(columns=columns).fillna(0).astype(int)
        terminalreporter.section("damaged on purpose")
        terminalreporter.write_line(table.sort_index().to_string())
