# `make dashboard` and `make test` do all of their own set-up; `make install` does it alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Golden numbers and promises must hold whatever vector instructions a processor has.
OTHER_PROCESSOR := ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Haswell

.PHONY: dashboard test torture docs install clean
.DELETE_ON_ERROR:

dashboard: install
	$(BIN)/crowdcore dashboard

test: install $(VENV)/development chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses 2 --dist loadgroup
	$(OTHER_PROCESSOR) $(BIN)/pytest --numprocesses 2 tests/conformance tests/test_warm_start.py

# Hours of ill-treatment, summed up in one table; `make test` runs a sample of it.
# `make torture TORTURE="faults --budget 1000"` runs a part.
TORTURE ?=
torture: install $(VENV)/development chromium
	$(BIN)/python -m tests.torture $(TORTURE)

# The guide, the reference and the notes for developers, as pages for a browser.
docs: $(VENV)/development
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/development: $(VENV)/installed
	$(PIP) --editable '.[dev]'
	touch $@

# The browser tests drive the system's Chromium; it is installed where there is none.
.PHONY: chromium
chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || { \
	  SUDO=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$SUDO apt-get update -qq && $$SUDO apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

clean:
	rm -rf $(VENV) build dist *.egg-info docs/_build docs/reference
