# Everything a stranger needs: `make demo` and `make test`; `make check` for daily work.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo check test lint fuzz dist docs tutorials lowest clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: setup
	$(BIN)/multirater demo --output demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Contracts, and the unit tests that train nothing and read no images; new ones are found by place.
TRAINS := tests/test_demo.py tests/test_docs.py tests/test_estimator.py tests/test_wheel.py
QUICK := $(addprefix tests/,fuse fusion metrics sanity samples verbs io/tables io/results io/drawings) \
  $(filter-out $(TRAINS),$(wildcard tests/test_*.py)) \
  $(shell find tests -name 'test_contract_*.py' -not -path 'tests/fuse/*' -not -path 'tests/metrics/*')

check: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --quiet $(QUICK)

test: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

fuzz: setup
	MULTIRATER_FUZZ=500 $(BIN)/python -m pytest tests/fuzz

# Wheel and sdist, in dist/.
dist: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

# The site, in site/: warnings are errors, and it is read without a network.
docs: setup
	$(BIN)/codespell
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Run the tutorials and write what they print and draw into their pages and notebooks.
tutorials: setup
	MULTIRATER_WRITE_TUTORIALS=1 $(BIN)/python -m pytest --quiet tests/documents/test_tutorials.py

# The oldest versions that pyproject.toml allows, without networks (needs uv): .venv-lowest.
LIGHT := shapes itk dicom figures coco parquet dask grabcut lazy-snapping fast
BOUND := $(addprefix tests/,fuse/test_contract_fusers.py fuse/test_dawid_skene.py fusion \
  metrics/test_contract_metrics.py io/tables/test_manifest.py io/formats/test_nifti.py \
  io/formats/test_raster.py io/formats/test_tiff.py io/formats/test_dicom_seg.py \
  io/importers/test_coco.py simulate/test_contract_simulate.py report/figures)

lowest:
	uv venv --clear --python $(PYTHON) .venv-lowest
	uv pip install --quiet --python .venv-lowest --resolution lowest-direct --requirement pyproject.toml \
	  $(addprefix --extra ,$(LIGHT))
	uv pip install --quiet --python .venv-lowest pytest hypothesis
	PYTHONPATH=src .venv-lowest/bin/python -m pytest --quiet $(BOUND)

clean:
	rm -rf $(VENV) .venv-lowest demo out dist site
