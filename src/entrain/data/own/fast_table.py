"""Tables of plain numbers read by pandas, where it is installed: ten times as fast."""

from __future__ import annotations

import importlib.util
import warnings
from typing import BinaryIO

import numpy as np

from entrain.data.own import examples

_CHUNK = 2**22  # bytes


def read_plain(
    file: BinaryIO, delimiter: str, columns: int, label: int
) -> tuple[np.ndarray, list[str]] | None:
    """Features (n, D) and labels of a table with a header; None if a cell is not plain, so that
    the slow reader has to decide."""
    if importlib.util.find_spec("pandas") is None or not _is_plain(file):
        return None
    import pandas

    file.seek(0)
    # From version 3 on, numbers are rounded correctly by default.
    exact = {} if int(pandas.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    dtypes = {column: str if column == label else np.float64 for column in range(columns)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of rows that are too long
            frame = pandas.read_csv(
                file,
                sep=delimiter,
                encoding="utf-8-sig",
                header=0,
                names=range(columns),
                index_col=False,
                dtype=dtypes,
                keep_default_na=False,
                quoting=3,  # csv.QUOTE_NONE
                **exact,
            )
    except (ValueError, OverflowError, Warning):  # ParserError and UnicodeError are ValueErrors
        return None
    texts = frame.pop(label).tolist()
    values = frame.to_numpy(np.float64)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return None
    if not np.isfinite(values).all():
        return None
    return np.ascontiguousarray(values), [text.strip() for text in texts]


def _is_plain(file: BinaryIO) -> bool:
    """True for text in UTF-8 without quotation marks, small enough for a few copies in memory."""
    if file.seek(0, 2) > examples.LIMIT // 8:
        return False
    file.seek(0)
    while chunk := file.read(_CHUNK):
        if b'"' in chunk or b"\0" in chunk:  # UTF-16 has zero bytes
            return False
    return True
