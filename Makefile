# make demo · make test — each sets up all it needs in .venv, with nothing but Python 3.11 or later.

PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
BIN := $(VENV)/bin
# Two at a time, each with a server of its own; the tests of one file stay together.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile
# Where Debian puts it. By env and not by a shell, which would outlive a killed make, and keep the tests running.
SYSTEM_POSTGRES := $(wildcard /usr/lib/postgresql/15/bin)

.PHONY: demo test lint lock clean

demo: $(STAMP)
	$(BIN)/tickwork demo

test: lint
	$(PYTEST)
ifneq ($(SYSTEM_POSTGRES),)
	env TICKWORK_TEST_BINARIES=$(SYSTEM_POSTGRES) $(PYTEST) tests/database
endif

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy shared infra/local tests
	$(foreach main,$(wildcard functions/*/main.py),$(BIN)/mypy $(main) &&) true
	$(BIN)/lint-imports

# requirements.lock holds the exact versions and hashes of everything in pyproject.toml.
lock: $(STAMP)
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate --no-header --extra dev \
	  --python-version 3.11 pyproject.toml -o requirements.lock

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	UV_COMPILE_BYTECODE=1 $(BIN)/uv pip sync --quiet --python $(BIN)/python requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) .cache .tickwork .tickwork-demo
