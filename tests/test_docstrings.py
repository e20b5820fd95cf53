"""Every example in a docstring of the package is true."""

import doctest
import importlib
import pkgutil

import pytest

import multirater


def _modules_with_examples():
    found = pkgutil.walk_packages(multirater.__path__, "multirater.")
    for each in found:
        if each.name == "multirater.__main__":
            continue
        spec = each.module_finder.find_spec(each.name)
        if ">>> " in spec.loader.get_source(each.name):
            yield each.name


@pytest.mark.parametrize("name", ["multirater", *_modules_with_examples()])
def test_examples_are_true(name):
    module = importlib.import_module(name)
    # Examples that need a user's files are only shown; they count as found.
    examples = [each for test in doctest.DocTestFinder().find(module) for each in test.examples]
    assert examples, "no example was found: is it in the docstring of a wrapped function?"
    assert doctest.testmod(module).failed == 0
