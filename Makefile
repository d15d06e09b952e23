# make demo | test | test-all | deep | lint | bench. Each sets up what it needs in .venv, once per state of the pyprojects.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := eagle_core plugins/eagle_cpu
KEY := $(shell cat pyproject.toml $(PACKAGES:=/pyproject.toml) | sha256sum | cut -c1-16)
READY := $(VENV)/ready-$(KEY)
TOOLS := $(VENV)/tools-$(KEY)
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-all deep lint bench clean

demo: $(READY)
	$(BIN)/eagle demo
	@echo
	$(BIN)/python examples/solar_system.py

test: $(TOOLS)
	$(PYTEST) -n 2 -m "not slow"

test-all: $(TOOLS)
	$(PYTEST) -m slow

deep: $(TOOLS)
	$(PYTEST) -n 2 -m property --hypothesis-profile deep --hypothesis-show-statistics -v

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES:=/src) examples benchmarks
	$(BIN)/mypy tests

bench: $(TOOLS)
	$(BIN)/python benchmarks/graph_costs.py
	$(BIN)/python benchmarks/pictures.py

clean:
	rm -rf $(VENV) build

# The environment is made anew when a pyproject changes; examples come with it, tools for work are added when needed.
$(READY):
	@$(PYTHON) -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "eagle needs Python 3.11 or newer with the venv module: make PYTHON=python3.12, or install python3-venv"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(PACKAGES:%=-e %) --group examples
	@touch $@

$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --group test --group lint --group build
	@touch $@
