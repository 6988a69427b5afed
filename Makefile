# `make dashboard` and `make test` do all of their own set-up; `make install` does it alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: dashboard test install clean
.DELETE_ON_ERROR:

dashboard: install
	$(BIN)/crowdcore dashboard

test: install $(VENV)/development chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses 2 --dist loadgroup

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
	rm -rf $(VENV) build dist *.egg-info
