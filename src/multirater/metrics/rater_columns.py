"""How the classes stand in tables: in columns of `raters.csv`, and in rows beside `all`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

_ENDS = ("_low", "_high")


def column_words(classes: Sequence[Hashable]) -> tuple[str, ...]:
    """Return the classes as they stand in names of columns, such as `cm[true,observed]`.

    They stand as they are called. A name is put into quotation marks only where two columns would
    be called alike: with the classes `a`, `b`, `a,b` and `b,a`, `cm[a,b,a]` could be of two pairs,
    and with `x` and `x_low`, `sensitivity x_low` could be of one class or the end of an interval.

    Example:
        >>> column_words(["a,b", "c"])
        ('a,b', 'c')
        >>> column_words(["x", "x,x"]), column_words(["x", "x_low"])
        (('x', '"x,x"'), ('x', '"x_low"'))
    """
    names = [str(each) for each in classes]
    pairs = {f"{true},{observed}" for true in names for observed in names}
    is_clear = len(pairs) == len(names) ** 2
    known = set(names)
    return tuple(
        _quoted(name)
        if (not is_clear and ("," in name or '"' in name))
        or any(name.endswith(end) and name.removesuffix(end) in known for end in _ENDS)
        else name
        for name in names
    )


def matrix_columns(classes: Sequence[Hashable]) -> list[str]:
    """Return the columns of a confusion matrix, row by row.

    Example:
        >>> matrix_columns(["no", "yes"])
        ['cm[no,no]', 'cm[no,yes]', 'cm[yes,no]', 'cm[yes,yes]']
    """
    words = column_words(classes)
    return [f"cm[{true},{observed}]" for true in words for observed in words]


def row_words(classes: Sequence[str]) -> tuple[str, ...]:
    """Return the classes as they stand in rows, beside the row of all of them, which is `all`.

    Example:
        >>> row_words(["all", "some"])
        ('"all"', 'some')
    """
    return tuple(_quoted(name) if name == "all" else name for name in classes)


def class_of_word(word: str) -> str:
    """Return the class that stands so in the name of a column.

    Example:
        >>> class_of_word('"x,x"'), class_of_word("a,b")
        ('x,x', 'a,b')
    """
    if len(word) > 2 and word[0] == word[-1] == '"':
        return word[1:-1].replace('""', '"')
    return word


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
