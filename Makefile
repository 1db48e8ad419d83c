# Two commands on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
OTHERS = 3.11 3.13
TWO = -n 2 --dist loadfile --no-loadscope-reorder
EXTRA = dev
EXTRAS = cluster,minigrid,neural,rddl,sb3,sweep,docs
EVERY_PYTHON = -m 'not slow and not one_python' --hypothesis-profile few-examples

# Without bytecode on disk, every command that a test starts compiles every library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce paper test warm others test-others lint docs release bench fuzz audit clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("skillfocus needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; set PYTHON=…") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet --no-compile -e '.[$(EXTRA)]'
	@touch $(READY)

reproduce: $(READY)  ## run the paper's experiments with 5 seeds: report, figures and a gallery of skills in out/
	$(BIN)/skillfocus reproduce --learner planning --seeds 5 --out out
	$(BIN)/skillfocus view --gallery --out out/gallery.html --no-open
	@echo 'report: out/report.html, and skills to watch: out/gallery.html'

paper: $(READY)  ## everything with 50 seeds and all learners (hours; rerun to resume): results/, docs/report.md, docs/results.md
	$(BIN)/skillfocus reproduce --seeds 50 --out out/paper --keep results --markdown docs/report.md --numbers docs/results.md

lint: $(READY)  ## formatting, lint, types, the import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache

test: $(READY)  ## run all checks, some also under the oldest and newest Pythons if installed
	@$(MAKE) --no-print-directory -j 2 lint warm others
	$(BIN)/python -m pytest $(TWO)
	@$(MAKE) --no-print-directory test-others

# What all workers of the tests would compile at once: kernels, and bytecode of all they import.
warm: $(READY)
	@$(BIN)/python -W ignore -c 'import skillfocus.runs.precompile'
	-@$(BIN)/python -m pytest --collect-only -qq >/dev/null

# Does $(1) for every other Python that is installed ($$v is its version, $$p the interpreter), and
# $(2) for those that are not.
define for_others
	@own=$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	for v in $(OTHERS); do \
	  if [ $$v = $$own ]; then continue; fi; \
	  for p in python$$v $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$v.*/bin/python; do \
	    if $$p -c '' 2>/dev/null; then break; fi; p=; \
	  done; \
	  if [ -z "$$p" ]; then $(2); continue; fi; \
	  $(1) || exit 1; \
	done
endef

others: $(READY)
	$(call for_others,$(MAKE) --no-print-directory VENV=.venv-$$v PYTHON=$$p EXTRA=test warm,:)

test-others: $(READY)
	$(call for_others,echo "== Python $$v" && \
	  $(MAKE) --no-print-directory VENV=.venv-$$v PYTHON=$$p EXTRA=test .venv-$$v/.ready && \
	  .venv-$$v/bin/python -m pytest $(TWO) $(EVERY_PYTHON),\
	  echo "== Python $$v is not installed and so not tested")

docs: $(READY)  ## build the site, strictly: out/site/index.html
	$(BIN)/python website/build.py out/site out/website

release: $(READY)  ## compare results, report and site with what is committed; sdist and wheel in dist/
	rm -rf out/release dist
	$(BIN)/skillfocus reproduce --from results --out out/release --markdown out/release/docs/report.md --numbers out/release/docs/results.md
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

audit: $(READY)  ## look up known advisories about the installed packages, with pip-audit
	@$(BIN)/python -c 'import pip_audit' 2>/dev/null || { \
	  echo "nothing was checked: pip-audit is not installed; $(BIN)/pip install pip-audit" >&2; exit 2; }
	@log=$$(mktemp); $(BIN)/python -m pip_audit --skip-editable --progress-spinner off --timeout 15 2>$$log; \
	status=$$?; if [ $$status -eq 0 ] || grep -q '^Found ' $$log; then cat $$log >&2; else \
	  echo "nothing was checked: the database of advisories did not answer ($$(tail -n 1 $$log)); try again online" >&2; \
	fi; rm -f $$log; exit $$status

clean:  ## remove everything that make made
	rm -rf .venv .venv-* out build dist *.egg-info src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
