"""JAX's cache of compiled programs on disk: compiling for a GPU takes half a minute, every time."""

from __future__ import annotations

from skillfocus.worlds.exploration_cache import MAX_BYTES, cache_folder


def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles for an accelerator, unless it was told where to keep it.

    Programs for CPUs are not kept: one compiled on another machine of a shared home folder may use
    instructions that this one lacks.
    """
    import jax

    folder = cache_folder()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if folder is None or chosen is not None or jax.default_backend() == "cpu":
        return
    jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)
