# Two commands on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
OTHER = 3.13
EXTRA = dev
EXTRAS = cluster,minigrid,neural,rddl,sb3,sweep,docs
PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal

# Without bytecode on disk, every command that a test starts compiles every library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce paper test check lint docs release bench fuzz kills audit clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("skillfocus needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; set PYTHON=…") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet --no-compile -e '.[$(EXTRA)]'
	@touch $(READY)

reproduce: $(READY)  ## run the paper's experiments with 5 seeds: report, figures and a gallery of skills in out/
	$(BIN)/python -m paper --learner planning --seeds 5 --out out
	$(BIN)/python -m paper gallery --out out
	@echo 'report: out/report.html, and skills to watch: out/gallery.html'

paper: $(READY)  ## everything with 50 seeds and all learners (hours; rerun to resume): results/, docs/report.md, docs/results.md
	$(BIN)/python -m paper --seeds 50 --out out/paper --keep results --markdown docs/report.md --numbers docs/results.md

lint: $(READY)  ## formatting, lint, types, the import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache

test: $(READY)  ## lint and all tests but the slow ones
	@$(MAKE) --no-print-directory lint
	$(PYTEST) -m 'not slow'

check: $(READY)  ## the slow tests (commands, pages, site, wheel, tutorials, benchmarks) and a second Python
	$(PYTEST) -m slow
	@for python in python$(OTHER) $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$(OTHER).*/bin/python; do \
	  if $$python -c '' 2>/dev/null; then \
	    $(MAKE) --no-print-directory VENV=.venv-$(OTHER) PYTHON=$$python EXTRA=test .venv-$(OTHER)/.ready && \
	    exec .venv-$(OTHER)/bin/python -m pytest -n 2 --dist worksteal -m 'not slow and not one_python' --hypothesis-profile few-examples; exit; \
	  fi; \
	done; echo "Python $(OTHER) is not installed and so not tested"

docs: $(READY)  ## build the site, strictly: out/site/index.html
	$(BIN)/python -m website.build out/site out/website

release: $(READY)  ## compare results, report and site with what is committed; sdist and wheel in dist/
	rm -rf out/release dist
	$(BIN)/python -m paper --from results --out out/release --markdown out/release/docs/report.md --numbers out/release/docs/results.md
	diff -u docs/results.md out/release/docs/results.md
	diff -u docs/report.md out/release/docs/report.md
	diff -ur --exclude='*.png' docs/report out/release/docs/report
	$(MAKE) --no-print-directory docs
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/pip install --quiet --dry-run --ignore-installed "$$(ls dist/*.whl)[$(EXTRAS)]"
	@echo 'the committed report is the one that results/ give; to release: RELEASING.md'

bench: $(READY)  ## speed, as ratios within one run
	$(BIN)/python -W ignore benchmarks/bench.py

fuzz: $(READY)  ## feed 50,000 damaged inputs to everything that reads input: out/fuzz.md
	@mkdir -p out
	$(BIN)/python -W ignore benchmarks/fuzz.py --inputs 50000 --seed 0 --out out/fuzz.md

kills: $(READY)  ## kill trainings, sweeps and experiments 20 times each, and compare what they leave
	$(BIN)/python benchmarks/kills.py --kills 20

audit: $(READY)  ## look up known advisories about the installed packages, with pip-audit
	@$(BIN)/python -c 'import pip_audit' 2>/dev/null || { \
	  echo "nothing was checked: pip-audit is not installed; $(BIN)/pip install pip-audit" >&2; exit 2; }
	@log=$$(mktemp); $(BIN)/python -m pip_audit --skip-editable --progress-spinner off --timeout 15 2>$$log; \
	status=$$?; if [ $$status -eq 0 ] || grep -q '^Found ' $$log; then cat $$log >&2; else \
	  echo "nothing was checked: the database of advisories did not answer ($$(tail -n 1 $$log)); try again online" >&2; \
	fi; rm -f $$log; exit $$status

clean:  ## remove everything that make made
	rm -rf .venv .venv-* .cache out build dist *.egg-info src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
