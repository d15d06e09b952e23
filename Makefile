# make demo | test | test-all | deep | lint | sanitize | bench | performance | gpu-check. Each sets up what it needs in .venv, once per
# state of the pyprojects and of the C++. make deep takes 40 minutes on two cores; make deep PATIENCE=0.1 a tenth of that.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := eagle_core plugins/eagle_ir plugins/eagle_hawk plugins/eagle_cpu plugins/eagle_cuda \
  plugins/eagle_torch plugins/eagle_jax plugins/eagle_warp
NATIVE := plugins/eagle_cpu/CMakeLists.txt $(sort $(shell find plugins/eagle_cpu/src/native -type f))
KEY := $(shell cat pyproject.toml $(PACKAGES:=/pyproject.toml) $(NATIVE) | sha256sum | cut -c1-16)
PATIENCE ?= 1
READY := $(VENV)/ready-$(KEY)
TOOLS := $(VENV)/tools-$(KEY)
LIBRARIES := $(VENV)/frameworks-$(KEY)
PYTEST := $(BIN)/python -m pytest
# What runs on the emulated CUDA device: a run of its own, because there is a GPU in the process then.
EMULATED := tests/cuda_emulator tests/eagle_cuda tests/graph_suite tests/eagle_hawk \
	tests/system/test_loops.py tests/system/test_loop_faults.py tests/system/test_plans.py tests/system/test_rebinding.py \
	tests/system/test_kernels.py
# What goes another way with a driver that has no conditional nodes.
OLDER := tests/graph_suite tests/system/test_loops.py tests/system/test_loop_faults.py tests/system/test_rebinding.py \
	$(patsubst %,tests/eagle_cuda/test_%.py,older_drivers device_loops conditions kernel_faults refused_captures tiers \
	callers_order random_kernel_graphs every_edge_matters)
# What needs torch, Warp and JAX, which are large: a part of test-all.
FRAMEWORKS := tests/eagle_torch tests/eagle_jax tests/eagle_warp

.PHONY: demo test test-all deep lint sanitize bench performance gpu-check clean

demo: $(READY)
	$(BIN)/eagle demo
	@echo
	$(BIN)/python examples/solar_system.py
	@echo
	@mkdir -p build
	$(BIN)/python examples/orbits.py 100000 build/orbits.svg

test: $(TOOLS)
	$(PYTEST) -n 2 -m "not slow"
	$(PYTEST) -n 2 -m "not slow" --emulated $(EMULATED)
	$(PYTEST) -n 2 -m "not slow" --emulated --driver 12.2 $(OLDER)

test-all: $(LIBRARIES)
	$(PYTEST) -m slow
	$(PYTEST) -n 2 --frameworks $(FRAMEWORKS)

deep: $(TOOLS)
	$(PYTEST) -n 2 --maxschedchunk 1 -m property --hypothesis-profile deep --deep $(PATIENCE) -q
	$(PYTEST) -n 2 --maxschedchunk 1 --emulated -m property --hypothesis-profile deep --deep $(PATIENCE) -q $(EMULATED)

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES:=/src) examples benchmarks
	$(BIN)/mypy tests

sanitize: $(TOOLS)
	tests/native/run
	tests/native/run_generated $(BIN)/python
	tests/native/run_binding $(BIN)/python

# The tests of the emulated CUDA device on the real one of this machine, then figures, in at most eight minutes. NVIDIA's
# compiler and CuPy come first, where there is a device to use them. PEERS=../shared/peers adds the arms of that folder.
gpu-check: $(TOOLS)
	@if $(BIN)/python tests/gpu_check.py --device; then $(BIN)/python -m pip install --quiet --group gpu; fi
	PEERS=$(abspath $(PEERS)) $(BIN)/python tests/gpu_check.py

bench: $(LIBRARIES)
	$(BIN)/python benchmarks/graph_costs.py
	@echo
	$(BIN)/python benchmarks/pictures.py
	@echo
	$(BIN)/python benchmarks/reductions.py
	@echo
	$(BIN)/python benchmarks/fused_reductions.py
	@echo
	$(BIN)/python benchmarks/cuda_graphs.py
	@echo
	$(BIN)/python benchmarks/frameworks.py
	@echo
	$(BIN)/python -m benchmarks.frameworks_warp_jax
	@echo
	PEERS=$(PEERS) $(BIN)/python benchmarks/loops.py
	@echo
	PEERS=$(PEERS) $(BIN)/python -m benchmarks.graphs

# docs/performance.md and its plots, in about six minutes on an idle machine. ARGS="--only loops,graphs" measures parts again,
# ARGS=--missing what an interruption left out, ARGS=--page nothing.
performance: $(TOOLS)
	PEERS=$(PEERS) $(BIN)/python -m benchmarks.performance $(ARGS)

clean:
	rm -rf $(VENV) build

# The environment is made anew when a pyproject or the C++ changes. Examples come with it; tools for work are added when
# needed.
$(READY):
	@$(PYTHON) -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "eagle needs Python 3.11 or newer with the venv module: make PYTHON=python3.12, or install python3-venv"; exit 1; }
	@{ command -v "$${CXX:-c++}" || command -v g++ || command -v clang++; } > /dev/null && \
	  $(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || \
	  { echo "eagle-cpu is built here, which needs a C++ compiler and Python's headers: apt-get install g++ python3-dev"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet $(PACKAGES:%=-e %) --group examples
	@touch $@

$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --group test --group lint --group build --group cuda
	@touch $@

$(LIBRARIES): $(TOOLS)
	$(BIN)/python -m pip install --quiet --group frameworks
	@touch $@
