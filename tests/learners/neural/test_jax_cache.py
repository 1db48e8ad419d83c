from __future__ import annotations

import pytest

from skillfocus.learners.network_training import enable_compilation_cache

jax = pytest.importorskip("jax")


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """JAX's settings that change, on a machine with a GPU and a cache."""
    changed, before = {}, jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    monkeypatch.setenv("SKILLFOCUS_CACHE", str(tmp_path))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with monkeypatch.context() as patch:
        patch.setattr(jax.config, "update", changed.__setitem__)
        yield changed
    jax.config.update("jax_compilation_cache_dir", before)


def test_programs_for_a_gpu_are_kept(settings, tmp_path):
    enable_compilation_cache()
    assert settings["jax_compilation_cache_dir"] == str(tmp_path / "jax")


def test_programs_for_a_cpu_are_not(settings, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    enable_compilation_cache()
    assert not settings


def test_a_cache_that_is_off_stays_off(settings, monkeypatch):
    monkeypatch.setenv("SKILLFOCUS_CACHE", "off")
    enable_compilation_cache()
    assert not settings
