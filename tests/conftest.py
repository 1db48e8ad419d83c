from __future__ import annotations

import os
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import skillfocus as sf
from browsing import launched, quiet_page
from paths import ROOT

os.environ["SKILLFOCUS_CACHE"] = "off"  # tests that explore do explore, commands they start too

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("few-examples", settings.get_profile("repeatable"), max_examples=5)
settings.load_profile("repeatable")

PROGRAMS = ROOT / ".cache" / "jax"
"""Programs that JAX has compiled, kept from one run of the tests to the next."""
MOST_BYTES = 2_000_000_000
ONE_PYTHON = {"continuous", "jax", "neural", "paper"}
"""Folders of tests whose results XLA computes, which sees traced programs and no Python, or which
read stored results: one Python runs them. Numba compiles Python's bytecode, so its tests run under
each."""


def pytest_configure(config):
    """Give every worker a folder of compiled programs, as JAX may read what another process is
    still writing, and share at the start what the workers have compiled before."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    try:
        folder = PROGRAMS / version("jax")
    except ModuleNotFoundError:
        return
    if worker is None:
        _share_programs(folder, [f"gw{n}" for n in range(config.getoption("numprocesses", 0) or 0)])
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder / (worker or "gw0"))
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.1"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def _share_programs(folder: Path, workers: list[str]) -> None:
    programs = {path.name: path for path in folder.glob("*/*") if path.is_file()}
    if sum(path.stat().st_size for path in programs.values()) > MOST_BYTES:
        shutil.rmtree(PROGRAMS)
        return
    for worker in workers:
        (folder / worker).mkdir(parents=True, exist_ok=True)
        for name, path in programs.items():
            if not (folder / worker / name).exists():
                os.link(path, folder / worker / name)


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by their marks
def pytest_collection_modifyitems(items):
    """Mark what one Python tests and what a browser shows, and put the latter last: while the
    browser is open, its event loop is the main thread's."""
    for item in items:
        if ONE_PYTHON & {*item.path.relative_to(Path(__file__).parent).parts}:
            item.add_marker(pytest.mark.one_python)
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "browser" in item.fixturenames)


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
