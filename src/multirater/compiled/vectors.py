"""Two operations on short rows of doubles, four at a time, which numba would take one by one.

A row holds one number per class, rarely more than a dozen: too few for loops that compilers
vectorise on their own. Addresses are in bytes; `stride` is the length of a row in bytes, a multiple
of 32; n `columns` (int32) say which rows of a table are meant.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 4
"""Doubles taken at once; rows are padded to a multiple of it."""

_FOUR = ir.VectorType(ir.DoubleType(), WIDTH)
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_NONE, _STEP = ir.Constant(_INT64, 0), ir.Constant(_INT64, 8 * WIDTH)


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _FOUR.as_pointer())


def _load(builder: Any, address: Any) -> Any:
    value = builder.load(_at(builder, address))
    value.align = 8
    return value


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, _at(builder, address)).align = 8


def _row_offset(builder: Any, columns: Any, number: Any, stride: Any) -> Any:
    places = builder.inttoptr(columns, _INT32.as_pointer())
    column = builder.load(builder.gep(places, [number]))
    return builder.mul(builder.zext(column, _INT64), stride)


@intrinsic  # type: ignore[untyped-decorator]
def multiply_rows(
    typing_context: Any, target: Any, first: Any, table: Any, columns: Any, n: Any, stride: Any
) -> Any:
    """Write the product of a first row and n rows of a table to `target`."""
    signature = types.void(*[types.uintp] * 6)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        target, first, table, columns, n, stride = given
        product = cgutils.alloca_once(builder, _FOUR)
        with cgutils.for_range_slice(builder, _NONE, stride, _STEP) as (offset, _):
            builder.store(_load(builder, builder.add(first, offset)), product)
            part = builder.add(table, offset)
            with cgutils.for_range(builder, n) as loop:
                row = builder.add(part, _row_offset(builder, columns, loop.index, stride))
                factor = _load(builder, row)
                builder.store(builder.fmul(builder.load(product), factor), product)
            _store(builder, builder.load(product), builder.add(target, offset))
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def add_to_rows(
    typing_context: Any, table: Any, source: Any, factor: Any, columns: Any, n: Any, stride: Any
) -> Any:
    """Add a row, times a factor, to n rows of a table."""
    signature = types.void(types.uintp, types.uintp, types.float64, *[types.uintp] * 3)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        table, source, factor, columns, n, stride = given
        factors = ir.Constant(_FOUR, ir.Undefined)
        for place in range(WIDTH):
            factors = builder.insert_element(factors, factor, ir.Constant(_INT32, place))
        with cgutils.for_range_slice(builder, _NONE, stride, _STEP) as (offset, _):
            addend = builder.fmul(_load(builder, builder.add(source, offset)), factors)
            part = builder.add(table, offset)
            with cgutils.for_range(builder, n) as loop:
                row = builder.add(part, _row_offset(builder, columns, loop.index, stride))
                _store(builder, builder.fadd(_load(builder, row), addend), row)
        return context.get_dummy_value()

    return signature, generate
