"""Write what was found of each task as Parquet, in the order the tasks first appear."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fusion.answer_parts import FIRST, LABEL, POSTERIOR, TASKS
from multirater.io.results.layout import CASES_PARQUET
from multirater.io.tables.manifest import Row

_ROWS_AT_ONCE = 1 << 21


def write_cases(folder: Path, parts: Sequence[Path], classes: Sequence[str], n_rows: int) -> None:
    """Merge the parts into one table: case, label, and the probability of each class.

    Args:
        folder: of the fusion.
        parts: with labels and posteriors.
        classes: names.
        n_rows: of the file that was read, over which first appearances run.
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    opened = [_Part(each, len(classes)) for each in parts]
    fields = [("case", opened[0].tasks.type), ("label", pa.large_string())]
    fields += [(f"probability[{name}]", pa.float64()) for name in classes]
    schema = pa.schema(fields)
    names = pa.array([*classes, None], pa.large_string())
    path = folder / CASES_PARQUET
    with parquet.ParquetWriter(path, schema, write_page_checksum=True) as to:
        for end in range(_ROWS_AT_ONCE, n_rows + _ROWS_AT_ONCE, _ROWS_AT_ONCE):
            slices = [each.up_to(end) for each in opened]
            order = np.argsort(np.concatenate([first for first, *_ in slices]))
            label = np.concatenate([label for _, _, label, _ in slices])[order]
            posterior = np.concatenate([found for *_, found in slices])[order]
            tasks = pa.concat_arrays([task for _, task, _, _ in slices]).take(pa.array(order))
            columns = [tasks, names.take(pa.array(label % len(names)))]
            columns += [pa.array(np.ascontiguousarray(each)) for each in posterior.T]
            to.write_table(pa.table(columns, schema=schema))


class _Part:
    """A part that is read once, from its first task to its last."""

    def __init__(self, folder: Path, n_classes: int) -> None:
        import pyarrow as pa

        self.folder, self.n_classes = folder, n_classes
        self.first = np.fromfile(folder / FIRST, dtype=np.int64)
        stream = pa.memory_map(str(folder / TASKS))
        self.tasks = pa.ipc.open_file(stream).get_batch(0).column(0)
        self.done = 0

    def up_to(self, end: int) -> tuple[NDArray[np.int64], Any, NDArray[Any], NDArray[Any]]:
        """Return first row, name, label and posterior of the next tasks that appear before end."""
        start, self.done = self.done, int(np.searchsorted(self.first, end))
        n, k = self.done - start, self.n_classes
        label = np.fromfile(self.folder / LABEL, dtype=np.int32, count=n, offset=4 * start)
        path = self.folder / POSTERIOR
        posterior = np.fromfile(path, dtype=float, count=n * k, offset=8 * k * start)
        tasks = self.tasks.slice(start, n)
        return self.first[start : self.done], tasks, label, posterior.reshape(n, k)


def case_tables(folder: Path, method: str) -> tuple[pd.DataFrame, list[Row]]:
    """Return what `cases.parquet` says as the tables of a data set: of cases, and the manifest."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(folder / CASES_PARQUET).to_pandas()
    cases = table["case"].astype(str)
    rows = [
        Row(case, rater=method, label=label)
        for case, label in zip(cases, table["label"].fillna(""), strict=True)
    ]
    named = table.drop(columns=["case", "label"])
    named.columns = pd.Index([name.removeprefix("probability[")[:-1] for name in named.columns])
    return named.set_index(pd.Index(cases, name="case")), rows
