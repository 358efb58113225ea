# Two commands on a fresh machine with Python 3.11 or later: `make demo` and `make test`.

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python3.14,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $(name))))
VENV ?= .venv
BIN := $(VENV)/bin
# Twice the cores: tests wait for timers as much as they compute.
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) * 2 )))
ROCETUNE := $(BIN)/rocetune

.PHONY: demo test bench docs lint clean

# A stamp per extra: the install runs again only when pyproject.toml changed.
$(VENV)/.stamp-%: pyproject.toml
	@test -n "$(PYTHON)" || { echo "rocetune needs Python 3.11 or later; none was found"; exit 2; }
	@test -x $(BIN)/python || { echo "creating $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

# The main job on emulated devices: from factory settings to a verified rack. Again: no changes.
demo: $(VENV)/.stamp-lab
	@sh scripts/demo.sh $(abspath $(ROCETUNE))

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

bench: $(VENV)/.stamp-dev
	$(BIN)/python tests/benchmarks/run.py

# Pages that are computed: what auto becomes, and computed against published headroom.
docs: $(VENV)/.stamp-dev
	$(BIN)/python scripts/auto_values.py
	$(BIN)/python scripts/reproduction.py
	$(BIN)/python -m rocetune.report.profile_reference docs
	$(BIN)/python -m rocetune.site.schema schemas

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	-@$(ROCETUNE) lab stop 2>/dev/null
	rm -rf $(VENV) .rocetune dist build
