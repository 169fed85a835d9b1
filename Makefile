# Everything here needs Python 3.11+, make and the package registry; nothing else.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# `uv` from the path, else one of our own in a local venv.
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
STAMP := $(VENV)/.locked
# Environments of users, one for each LangGraph that graphs are run with in tests.
ENVS := $(patsubst tests/envs/%.txt,.envs/%/.locked,$(wildcard tests/envs/*.txt))
# Bytecode is made here, once: tests start hundreds of Pythons that import LangGraph, and where
# PYTHONDONTWRITEBYTECODE is set each of them would compile it for itself, which takes twice as long.
COMPILED := --compile-bytecode

.PHONY: help setup envs demo test check bench fuzz screenshots lock clean

help: ## Show this help
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 16

.uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Retrograph needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv

$(STAMP): requirements.lock pyproject.toml | $(filter .uv/bin/uv,$(UV))
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	$(UV) pip sync --quiet $(COMPILED) --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

.envs/%/.locked: tests/envs/%.txt | $(STAMP)
	@test -x .envs/$*/bin/python || $(UV) venv --quiet --python $(BIN)/python .envs/$*
	$(UV) pip sync --quiet $(COMPILED) --python .envs/$*/bin/python --require-hashes $<
	@touch $@

setup: $(STAMP) ## Make .venv from the lock, with the project editable

envs: $(ENVS)

demo: setup ## Open the demo (without a terminal: print its tree)
	@$(BIN)/retrograph demo

test: setup envs ## Run all tests
	@$(BIN)/python -m compileall -q engine loaders tui
	$(BIN)/python -m pytest -n auto --dist loadgroup $(ARGS)

check: setup ## Format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## Measure ours against the baselines; writes tests/bench/results.md
	$(BIN)/python -m tests.bench $(ARGS)

fuzz: setup ## Fuzz the decoders for a long while
	RETROGRAPH_FUZZ=1000000 $(BIN)/python -m pytest -q -p no:xdist tests/engine/test_fuzz.py $(ARGS)

screenshots: setup ## Draw the pictures in screenshots/ from the demo
	PYTHONPATH=tests $(BIN)/python -m piloting.shoot

lock: | $(filter .uv/bin/uv,$(UV)) ## Resolve requirements.lock again
	$(UV) pip compile --quiet --universal --generate-hashes --no-header --all-extras --group dev \
		--python-version 3.11 pyproject.toml -o requirements.lock
	for env in tests/envs/*.in; do $(UV) pip compile --quiet --universal --generate-hashes --no-header \
		--no-annotate --python-version 3.11 $$env -o $${env%.in}.txt; done

clean: ## Remove what set-up and tests made
	rm -rf $(VENV) .envs .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
