"""Tables are kept in blocks, and say the same whether kernels read them plain or packed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillfocus as sf
from probes import corridor
from skill_sets import moody_skills
from skillfocus.errors import UserError
from skillfocus.rollout import look_up, run_many
from skillfocus.skills.policy import Packer, TabularPolicy


@pytest.fixture(scope="module")
def plain():
    return moody_skills(1, corridor())


@pytest.fixture(scope="module")
def packed(plain):
    """The same skills, as kernels read large ones."""
    policies = plain.tabular.pick(range(len(plain)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skillfocus.skills.policy.MAX_UNPACKED", plain.tabular.index.n_entries - 1)
        assert policies.arrays.actions.dtype == np.uint32
    return sf.Skills(plain.world, policies, plain.targets, plain.step_limit, plain.info)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_blocks_hold_every_table(width, n_states, n_actions, seed):
    rng = np.random.default_rng(seed)
    packer, tables, numbers = Packer(n_actions), [], []
    for _ in range(3):
        few = rng.integers(n_actions + 1, size=(3, width)).astype(np.uint8)
        tables.append(few[rng.integers(3, size=n_states)])
        numbers.append(packer.pack(tables[-1]))
    blocks = packer.blocks
    assert len(np.unique(blocks, axis=0)) == len(blocks)
    for table, places in zip(tables, numbers, strict=True):
        whole = blocks[places].reshape(n_states, -1)
        assert (whole[:, :width] == table).all()
        assert (whole[:, width:] == n_actions).all()


def test_they_say_the_same(plain, packed):
    policy = packed.tabular
    assert packed == plain
    assert packed.to_bytes() == plain.to_bytes()
    assert plain.arrays.actions.dtype == np.uint8
    assert plain.arrays.actions.size == plain.tabular.index.n_entries
    assert (policy.flat_actions == plain.tabular.flat_actions).all()
    values = plain.mdp.values
    for z in range(len(plain)):
        for mode in range(plain.n_modes[z]):
            assert (packed.policy_of(z, mode) == plain.policy_of(z, mode)).all()
            for start in values:
                starts = np.broadcast_to(start, values.shape)
                expected = plain.policies.actions(z, starts, values, mode)
                assert (packed.policies.actions(z, starts, values, mode) == expected).all()
    arrays = policy.arrays
    for z, s, column in ((0, 3, 1), (1, 5, 2)):
        begin = arrays.offsets[z] + s * arrays.widths[z]
        expected = plain.tabular.columns(z)[s, column]
        assert look_up(arrays.actions, arrays.blocks, begin, column) == expected


def test_they_run_alike(plain, packed):
    chosen = np.arange(400) % len(plain)
    starts = np.arange(400) % plain.mdp.n_states
    runs = [each.run(chosen, starts, np.random.default_rng(5)) for each in (plain, packed)]
    assert (runs[0].numbers == runs[1].numbers).all()
    assert (runs[0].actions == runs[1].actions).all()
    assert run_many.signatures  # compiled for both kinds of arrays
    effects = [sf.metrics.side_effects(each) for each in (plain, packed)]
    for expected, got in zip(*effects, strict=True):
        assert (expected.ends == got.ends).all()


def test_arrays_of_another_kind_are_refused(plain):
    mdp, variables = plain.mdp, plain.context_variables
    good = plain.tabular
    for numbers, blocks in (
        (good.numbers.astype(np.int64), good.blocks),
        (good.numbers[1:], good.blocks),
        (good.numbers, good.blocks[:, 1:]),
    ):
        with pytest.raises(UserError):
            TabularPolicy(mdp, variables, numbers, plain.n_modes, blocks)


def test_pages_show_them(packed, tmp_path):
    page = packed.view(tmp_path / "packed.html")
    assert page.stat().st_size > 10_000
