"""Two operations on short rows of doubles, four at a time, which numba would take one by one.

A row holds one number per class, rarely more than a dozen: too few for loops that compilers
vectorise on their own. Addresses are in bytes; `stride` is the length of a row in bytes, a multiple
of 32; n `columns` (int32) say which rows of a table are meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 4
"""Doubles taken at once; rows are padded to a multiple of it."""

_FOUR = ir.VectorType(ir.DoubleType(), WIDTH)
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_BYTES = 8 * WIDTH
_AT_ONCE = 4
"""Vectors of a row that are worked on side by side, so that a column is looked up once for all."""


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


def _over_row(builder: Any, stride: Any, work: Callable[[Any, int], None]) -> None:
    """Have `work(offset, n_vectors)` done over a row: by fours, then the one to three left."""
    step = ir.Constant(_INT64, _AT_ONCE * _BYTES)
    whole = builder.and_(stride, ir.Constant(_INT64, -_AT_ONCE * _BYTES))
    with cgutils.for_range_slice(builder, ir.Constant(_INT64, 0), whole, step) as (offset, _):
        work(offset, _AT_ONCE)
    left = builder.sub(stride, whole)
    for n_vectors in range(1, _AT_ONCE):
        are_left = builder.icmp_unsigned("==", left, ir.Constant(_INT64, n_vectors * _BYTES))
        with builder.if_then(are_left):
            work(whole, n_vectors)


def _places(builder: Any, offset: Any, n_vectors: int) -> list[Any]:
    steps = [ir.Constant(_INT64, number * _BYTES) for number in range(n_vectors)]
    return [builder.add(offset, step) for step in steps]


@intrinsic  # type: ignore[untyped-decorator]
def multiply_rows(
    typing_context: Any, target: Any, first: Any, table: Any, columns: Any, n: Any, stride: Any
) -> Any:
    """Write the product of a first row and n rows of a table to `target`."""
    signature = types.void(*[types.uintp] * 6)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        target, first, table, columns, n, stride = given

        def multiply(offset: Any, n_vectors: int) -> None:
            places = _places(builder, offset, n_vectors)
            products = [cgutils.alloca_once(builder, _FOUR) for _ in places]
            for place, product in zip(places, products, strict=True):
                builder.store(_load(builder, builder.add(first, place)), product)
            with cgutils.for_range(builder, n) as loop:
                row = builder.add(table, _row_offset(builder, columns, loop.index, stride))
                for place, product in zip(places, products, strict=True):
                    factor = _load(builder, builder.add(row, place))
                    builder.store(builder.fmul(builder.load(product), factor), product)
            for place, product in zip(places, products, strict=True):
                _store(builder, builder.load(product), builder.add(target, place))

        _over_row(builder, stride, multiply)
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

        def add(offset: Any, n_vectors: int) -> None:
            places = _places(builder, offset, n_vectors)
            parts = [_load(builder, builder.add(source, place)) for place in places]
            addends = [builder.fmul(part, factors) for part in parts]
            with cgutils.for_range(builder, n) as loop:
                row = builder.add(table, _row_offset(builder, columns, loop.index, stride))
                for place, addend in zip(places, addends, strict=True):
                    here = builder.add(row, place)
                    _store(builder, builder.fadd(_load(builder, here), addend), here)

        _over_row(builder, stride, add)
        return context.get_dummy_value()

    return signature, generate
