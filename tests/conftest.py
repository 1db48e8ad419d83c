from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import skillfocus as sf
from browsing import launched, quiet_page

os.environ["SKILLFOCUS_CACHE"] = "off"  # tests that explore do explore, commands they start too

# Tests that train or step the same program compile it once. Every worker has a folder of its own, as
# JAX may read what another process is still writing.
_PROGRAMS = tempfile.mkdtemp(prefix="skillfocus-tests-jax-")
atexit.register(shutil.rmtree, _PROGRAMS, ignore_errors=True)
os.environ["JAX_COMPILATION_CACHE_DIR"] = _PROGRAMS
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.1"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("few-examples", settings.get_profile("repeatable"), max_examples=5)
settings.load_profile("repeatable")

ONE_PYTHON = (
    "experiments/",
    "learners/neural/",
    "metrics/test_effects_without_table.py",
    "safety/",
    "skills/continuous/",
    "tasks/neural/",
    "viewer/test_continuous.py",
    "worlds/jax/",
)
"""What these test is computed by XLA, which sees traced programs and no Python, or by NumPy, or
comes from stored results: one Python tests it. Numba's kernels are no such case, since Numba
compiles Python's bytecode; safety's is in the samples."""
EVERY_PYTHON = (
    "experiments/test_registry.py",
    "learners/neural/test_training.py",
    "safety/test_planning.py",
    "skills/continuous/test_continuous_skills.py",
    "tasks/neural/test_memory.py",
    "worlds/jax/test_continuous.py",
)
"""Samples of the above that every Python tests."""


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by their marks
def pytest_collection_modifyitems(items):
    """Mark what one Python tests, and order files: those with many slow tests first, so that all
    workers end at about the same time. Pages come last, and files with pages after those without:
    while the browser is open, its event loop is the main thread's."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    with_pages = {item.path for item in items if "browser" in item.fixturenames}
    for item in items:
        file = item.path.relative_to(Path(__file__).parent).as_posix()
        if file.startswith(ONE_PYTHON) and file not in EVERY_PYTHON:
            item.add_marker(pytest.mark.one_python)
    items.sort(
        key=lambda item: (
            "browser" in item.fixturenames,
            item.path in with_pages,
            -slow[item.path],
            item.path,
        )
    )


@pytest.fixture(scope="session")
def four_rooms():
    return sf.make("FourRooms-v0")


@pytest.fixture(scope="session")
def four_rooms_table(four_rooms):
    return sf.tabulate(four_rooms)


@pytest.fixture(scope="session")
def focused_vic(four_rooms):
    """Focused VIC skills in FourRooms, planned for fewer rounds than by default."""
    return sf.discover(four_rooms, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=30))


@pytest.fixture
def unoptimized():
    """Lets XLA compile in half the time, where a test reads what is measured and not the numbers."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()  # they are not told apart by that setting, and later tests compare bits


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def browser():
    """Chromium, opened once."""
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser):
    """An empty page: `page.goto(path.as_uri())` and the test fails if it errs or asks for anything."""
    with quiet_page(browser) as page:
        yield page
