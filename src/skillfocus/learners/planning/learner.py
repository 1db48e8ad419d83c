"""Planning: exact value iteration that alternates with updates of the rewards.

Each round, the values of every skill are swept towards the optimum of its current reward (see
`sweeps.py`), the skills are run, and what they did updates the rewards' parameters. The
first round solves for the values: after two sweeps a skill whose target is ten steps away would
still stay where it is, and a discriminator that sees it stay rewards it for staying. At the end the
values are solved from scratch, because warm-started values adapt slowly to rewards that fell.

Where the policies of all skills would have more than `MAX_CELLS` entries, the skills of one target
are learned at a time, with memory for them alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.learners.planning import problem as problem_builder
from skillfocus.learners.planning.estimators import require_slots
from skillfocus.learners.planning.problem import (
    TabularProblem,
    count_cells,
    require_cells,
    tabular_problem,
)
from skillfocus.learners.planning.rewards import (
    MAX_ENTRIES,
    Params,
    check_rewards,
    make_intrinsic_reward,
    outcome_cost,
    skill_prior,
    state_reward,
    update_estimates,
)
from skillfocus.learners.planning.sweeps import (
    TOLERANCE,
    Backup,
    gather_columns,
    greedy,
    new_stamps,
    product_model,
    scatter_columns,
    sweep,
)
from skillfocus.learners.problem import Learned, Learner, Problem
from skillfocus.machine import map_on_cores
from skillfocus.mdp import TabularMDP, ValueIndex
from skillfocus.objectives.kinds import group_skills
from skillfocus.objectives.objective import Timing
from skillfocus.progress import Progress, part_of
from skillfocus.rollout import PolicyArrays, mdp_arrays, run_many
from skillfocus.skills.intrinsic_reward import IntrinsicReward, join_rewards
from skillfocus.skills.policy import MAX_UNPACKED, Packer, TabularPolicy

# --------------------
#
# Value iteration for all skills of a learning problem, and the policies that it finds
#
# Worlds whose actions have very many outcomes are swept by matrix products (`ProductModel`),
# others by kernels.

BLOCK = 256
"""Contexts swept together: few enough for their values to stay in the cache."""
KEPT_VALUES = 512_000_000
"""Values kept from round to round, 2 GB; of more, every round solves its contexts from scratch."""
MAX_GAMMA = 0.9999
"""With gamma = 1, paths that never arrive tie with the best."""


def check_gamma(gamma: float) -> None:
    """Raise a `UserError` unless gamma is a discount."""
    if not 0 < gamma <= 1:
        raise UserError(f"gamma is {gamma}; it must be above 0 and at most 1")


def step_share_of(timing: Timing, gamma: float) -> float:
    """Return e, the share of its reward that a skill earns by passing through a state."""
    return 1 - gamma if timing == "step" else 0.0


class Model:
    """A learning problem laid out for sweeps, with the values and policies found so far.

    Args:
        problem: The learning problem.
        gamma: Discount.
        keeps_earning: Whether a skill that terminates goes on earning a reward of every step.
        on_all_cores: Whether to sweep blocks of contexts side by side.
    """

    def __init__(
        self,
        problem: TabularProblem,
        gamma: float,
        keeps_earning: bool = True,
        on_all_cores: bool = False,
    ) -> None:
        gamma = min(gamma, MAX_GAMMA)
        self.problem = problem
        self.gamma = np.float32(gamma)
        self.step_share = np.float32(step_share_of(problem.objective.reward.timing, gamma))
        self.stop_share = (
            self.step_share if self.step_share and not keeps_earning else np.float32(1)
        )
        # What is earned at every step does not wait for the end, so its losses are discounted.
        self.loss_discount = self.gamma if self.step_share else np.float32(1 / gamma)
        mdp, widths = problem.mdp, problem.index.widths
        self.product = product_model(mdp)
        # Sweeps with many outcomes take minutes, too. Other runs have a core each.
        self._on_each = map_on_cores if on_all_cores or self.product is not None else map
        n_outcomes = mdp.successors.shape[2]
        padding = ((0, 0), (0, 0), (0, -n_outcomes % 4 if n_outcomes > 1 else 0))
        self.successors = np.ascontiguousarray(np.pad(mdp.successors, padding))
        self.probabilities = np.pad(mdp.probabilities, padding).astype(np.float32)
        self.known = [np.zeros(width, dtype=bool) for width in widths]
        """[skill][context]: whether values have been swept. Those that have not start as what
        terminating at once would earn."""
        self.keeps_values = problem.index.n_entries <= KEPT_VALUES
        """Whether values are kept from one call of `improve` to the next."""
        sizes = widths if self.keeps_values else np.zeros_like(widths)
        self.values = [np.zeros((mdp.n_states, size), dtype=np.float32) for size in sizes]
        """[skill]: values, float32 [n_states, n_contexts]."""
        self.actions = [np.zeros((mdp.n_states, 0), np.uint8) for _ in widths]
        """[skill]: actions in the contexts that were improved last, uint8 [n_states, n]."""
        self._columns = [np.zeros(width, dtype=np.int32) for width in widths]
        self._costs: dict[int, np.ndarray] = {}

    @property
    def policy_arrays(self) -> PolicyArrays:
        """The policies in the contexts that were improved last, for kernels."""
        index = self.problem.index
        widths = np.array([table.shape[1] for table in self.actions], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(widths * self.problem.mdp.n_states)])
        contexts = [self._columns[z][index.contexts[z]] for z in range(len(self._columns))]
        flat = np.concatenate([table.ravel() for table in self.actions])
        return PolicyArrays(flat, offsets, widths, np.stack(contexts), index.n_modes)

    def backup(self, z: int, params: Params) -> Backup:
        """Return what sweeps of skill z need."""
        fixed = self.problem.objective.reward.timing != "transition"
        if not fixed or z not in self._costs:  # the expected cost of each action
            costs = outcome_cost(self.problem, params, z)
            self._costs[z] = (self.problem.mdp.probabilities * costs).sum(axis=2).astype(np.float32)
        return Backup(
            self.successors, self.probabilities, self._costs[z], self.gamma, self.loss_discount,
            self.step_share, self.stop_share,
        )  # fmt: skip

    def improve(
        self, z: int, params: Params, sweeps: int, contexts: np.ndarray | None = None
    ) -> None:
        """Sweep skill z's values in some contexts (default: all), and find its policy there."""
        contexts = np.arange(len(self.known[z])) if contexts is None else contexts
        blocks = [policy for _, policy in self.solve_blocks(z, params, sweeps, contexts)]
        self.actions[z] = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        self._columns[z][contexts] = np.arange(len(contexts))
        self.known[z][contexts] = True

    def solve_blocks(
        self, z: int, params: Params, sweeps: int, contexts: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sweep skill z's values block by block; yield the contexts of each and its policy."""
        problem, known, values = self.problem, self.known[z], self.values[z]
        backup = self.backup(z, params)

        def one(first: int) -> tuple[np.ndarray, np.ndarray]:
            block = contexts[first : first + BLOCK]
            t = state_reward(problem, params, z, block)
            all_known = self.keeps_values and known[block].all()
            here = gather_columns(values, block) if all_known else self.stop_share * t
            if self.keeps_values and not all_known:
                np.copyto(here, gather_columns(values, block), where=known[block])
            policy = self.solve(here, t, backup, sweeps)
            if self.keeps_values:
                scatter_columns(here, block, values)
            return block, policy

        yield from self._on_each(one, range(0, len(contexts), BLOCK))

    def solve(self, values: np.ndarray, t: np.ndarray, backup: Backup, sweeps: int) -> np.ndarray:
        """Sweep values in place until they change no more, and return the best actions.

        Args:
            values: float32 [n_states, n_contexts].
            t: The values of terminating, float32 [n_states, n_contexts].
            backup: What sweeps need.
            sweeps: Most sweeps.

        Returns:
            uint8 [n_states, n_contexts].
        """
        if self.product is not None:
            # The n-th of these sweeps finds what is best with n steps to go.
            most = min(sweeps, self.problem.step_limit)
            return self.product.solve(values, t, backup, most, TOLERANCE)
        n, stamps = len(values), new_stamps(len(values))
        for number in range(sweeps):
            if sweep(values, t, backup, number % 2 == 1, stamps, number * n) < TOLERANCE:
                break
        return greedy(values, t, backup)


# --------------------
#
# Learning problems that fall apart: skills that share no estimate can be learned on their own
#
# Skills that are rewarded by one discriminator, such as all that target a variable, decide each
# other's rewards. Others do not, so where all together would need too much memory they are learned
# part by part.


def independent_parts(problem: Problem) -> list[tuple[int, ...]]:
    """Return the smallest sets of skills, by number, that share no estimate with the others."""
    parts: list[tuple[set[object], tuple[int, ...]]] = []
    for skill, first in enumerate(problem.first_modes):
        targets = problem.kinds.targets(first)
        terms = problem.objective.terms(targets, len(problem.world.space))
        keys: set[object] = {(term.variables, term.target) for term in terms}
        sharing = [part for part in parts if part[0] & keys]
        members = sorted([skill, *(z for _, others in sharing for z in others)])
        parts = [part for part in parts if not part[0] & keys]
        parts.append((keys.union(*(known for known, _ in sharing)), tuple(members)))
    return sorted(members for _, members in parts)


def part_of_problem(problem: Problem, skills: Sequence[int]) -> Problem:
    """Return the problem of learning some of the skills."""
    firsts = problem.first_modes
    chosen = [firsts[z] + mode for z in skills for mode in range(problem.modes[z])]
    return replace(
        problem,
        kinds=group_skills([problem.kinds.skills[z] for z in chosen]),
        modes=tuple(problem.modes[z] for z in skills),
        known_mdp=problem.mdp,
    )


def interleave_modes(packer: Packer, modes: Sequence[np.ndarray], n_contexts: int) -> np.ndarray:
    """Return the packed policy of a skill from those of its modes.

    Args:
        packer: Numbers the blocks.
        modes: Per mode, the numbers of its blocks, uint32 [n_states, n].
        n_contexts: How many contexts each mode has.
    """
    if len(modes) == 1:
        return modes[0]
    width = packer.blocks.shape[1]
    packed = []
    for k in range(modes[0].shape[1]):
        tables = [packer.blocks[numbers[:, k]] for numbers in modes]
        columns = np.stack(tables, axis=2)[:, : n_contexts - k * width]
        packed.append(packer.pack(columns.reshape(len(columns), -1)))
    return np.concatenate(packed, axis=1)


class JoinedParts:
    """What was learned of the skills so far, to be joined in the order of the problem's.

    Args:
        problem: The whole problem.
        packer: Numbers the blocks of all policies.
    """

    def __init__(self, problem: Problem, packer: Packer) -> None:
        self._problem, self.packer = problem, packer
        self._packed: dict[int, tuple[tuple[str, ...], np.ndarray]] = {}
        self._rewards: dict[int, tuple[IntrinsicReward | None, int]] = {}

    def add(
        self,
        skills: Sequence[int],
        tabular: TabularProblem,
        packed: Sequence[np.ndarray],
        params: Params,
    ) -> None:
        """Add the skills of one part.

        Args:
            skills: Their numbers in the whole problem.
            tabular: The part's problem as arrays.
            packed: Per skill or mode of the part, the numbers of its blocks.
            params: The parameters of the part's rewards.
        """
        names, z = tabular.mdp.space.names, 0
        modes = [self._problem.modes[skill] for skill in skills]
        reward = make_intrinsic_reward(tabular, params, modes)
        for place, (skill, count) in enumerate(zip(skills, modes, strict=True)):
            context = tabular.skills[z].context_variables
            numbers = interleave_modes(
                self.packer, packed[z : z + count], tabular.skills[z].context.size
            )
            self._packed[skill] = tuple(names[j] for j in context), numbers
            self._rewards[skill] = reward, place
            z += count

    def join(self) -> Learned:
        """Return the policies and rewards of all skills; no rewards if one is missing or all are
        too large."""
        parts = [self._packed[z] for z in range(len(self._packed))]
        flat = np.concatenate([numbers.ravel() for _, numbers in parts])
        policies = TabularPolicy(
            self._problem.mdp, [names for names, _ in parts], flat, self._problem.modes,
            self.packer.blocks.copy(),
        )  # fmt: skip
        joined = join_rewards([self._rewards[z] for z in range(len(self._rewards))])
        fits = joined is not None and joined.n_entries <= MAX_ENTRIES
        return Learned(policies, joined if fits else None)


# --------------------
#
# Which (state, context) pairs of a policy can occur: those its skill can reach from a start


@njit(cache=True, nogil=True)
def _search(columns, contexts, states, begins, successors, probabilities, again, limit):
    """See `keep_reachable`; columns are [n_contexts, n_states], searched breadth-first."""
    terminate = successors.shape[1]
    n = columns.shape[1]
    kept = np.full(columns.shape, np.uint8(terminate))
    found = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    for i in range(columns.shape[0]):
        actions, into = columns[i], kept[i]
        end = 0
        for k in range(begins[contexts[i]], begins[contexts[i] + 1]):
            queue[end] = states[k]
            found[states[k]] = i
            end += 1
        done = 0
        for _ in range(limit):
            last = end
            while done < last:
                s = queue[done]
                done += 1
                a = actions[s]
                into[s] = a
                if a == terminate:
                    continue
                for m in range(successors.shape[2]):
                    if probabilities[s, a, m] > 0.0:
                        for following in (successors[s, a, m], again[s, a, m]):
                            if found[following] != i:
                                found[following] = i
                                queue[end] = following
                                end += 1
            if end == last:
                break
    return kept


def keep_reachable(
    mdp: TabularMDP, policy: np.ndarray, contexts: np.ndarray, index: ValueIndex, step_limit: int
) -> np.ndarray:
    """Return a policy with "terminate" wherever its skill never has to act.

    A pair of state and context is kept if the skill, started in any state with that context, can
    be in that state with steps left. Nothing that the skill does changes.

    Args:
        mdp: The MDP.
        policy: uint8 [n_states, n], actions in some contexts.
        contexts: int [n], which ones.
        index: Numbers of all contexts.
        step_limit: Most steps of the skill.
    """
    kept = _search(
        np.ascontiguousarray(policy.T), contexts.astype(np.int64), *index.states, mdp.successors,
        mdp.probabilities, mdp.again, step_limit,
    )  # fmt: skip
    return np.ascontiguousarray(kept.T)


@dataclass(frozen=True)
class Planning(Learner):
    """Exact planning, in alternation with updates of the rewards.

        skills = sf.discover(world, objective, seed=0, learner=sf.Planning(rounds=20))

    Attributes:
        rounds: How often values and rewards are updated in turn.
        sweeps: Sweeps of value iteration per round after the first.
        rollouts: Runs of each skill per round that update the rewards.
        gamma: Discount.
        final_sweeps: Most sweeps of a solution from scratch: the first round's and the last.
        warm_start: Whether a round sweeps on from the last one's values; otherwise every round
            solves from scratch. A reward that falls leaves values that are too high for a while:
            two neighbouring states promise each other's, and a skill walks back and forth.
        start_where_controllable: Whether runs start only where the skill's targets can change.
        sees_start: Whether policies see their start. Without, they see the current state alone, and
            so do their rewards; penalties are as expected over the starts of training.
        keeps_earning: Whether a skill that terminates goes on earning a reward of every step.
        name: Name in files and tables.
    """

    rounds: int = 40
    sweeps: int = 2
    rollouts: int = 500
    gamma: float = 0.99
    final_sweeps: int = 300
    warm_start: bool = True
    start_where_controllable: bool = True
    sees_start: bool = True
    keeps_earning: bool = True
    name: str = "planning"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if min(self.rounds, self.sweeps, self.rollouts, self.final_sweeps) < 1:
            raise UserError("rounds, sweeps, rollouts and final_sweeps must be at least 1")

    def learn(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
        """Alternate value iteration and updates of the rewards; see `Learner.learn`.

        Where all policies together are too large, the skills of one discriminator are learned at a
        time, each part with random numbers of its own.
        """
        parts, sources, large = [tuple(range(len(problem.modes)))], [rng], False
        if self.sees_start:
            cells = sum(count_cells(problem))
            large = cells > MAX_UNPACKED
            if cells > problem_builder.MAX_CELLS:
                parts = independent_parts(problem)
                self._check_parts(problem, parts)
                sources = rng.spawn(len(parts))
        learned = JoinedParts(problem, Packer(problem.mdp.n_actions))
        for number, (members, source) in enumerate(zip(parts, sources, strict=True)):
            label = f"part {number + 1} of {len(parts)}" if len(parts) > 1 else ""
            share = part_of(progress, number / len(parts), (number + 1) / len(parts), label)
            self._learn_part(
                part_of_problem(problem, members), members, learned, source, share, large
            )
        return learned.join()

    def _check_parts(self, problem: Problem, parts: Sequence[Sequence[int]]) -> None:
        """Raise a `UserError` for policies that are too large even if they are packed, or whose one
        discriminator of whole states is."""
        if not problem.objective.targeted and problem.objective.reward.estimate.discriminates:
            require_slots(len(problem.kinds))
        counts = (count_cells(part_of_problem(problem, skills)) for skills in parts)
        require_cells([cells for part in counts for cells in part], self._max_cells)

    @property
    def _max_cells(self) -> int:
        return problem_builder.PACKED_CELLS * problem_builder.MAX_CELLS

    def _learn_part(
        self,
        part: Problem,
        members: tuple[int, ...],
        learned: JoinedParts,
        rng: np.random.Generator,
        progress: Progress,
        large: bool,
    ) -> None:
        """Learn some of the skills, and pack their policies."""
        if not self.sees_start:
            reward = part.objective.reward.without_start()
            part = replace(part, objective=replace(part.objective, reward=reward))
        tabular = tabular_problem(
            part, use_context=self.sees_start,
            start_where_controllable=self.start_where_controllable, max_cells=self._max_cells,
        )  # fmt: skip
        tabular = tabular if self.sees_start else tabular.average_penalties()
        model = Model(tabular, self.gamma, self.keeps_earning, on_all_cores=large)
        params = self._run_rounds(tabular, model, rng, progress)
        n, packed = len(tabular.skills), []
        for z in range(n):
            progress((self.rounds + z / n) / (self.rounds + 1), f"solving for skill {z} of {n}")
            model.known[z][:] = False
            index, numbers = tabular.index.of_skill[z], []
            solved = model.solve_blocks(z, params, self.final_sweeps, np.arange(index.size))
            for contexts, policy in solved:
                if large:  # blocks that are alike are stored once
                    policy = keep_reachable(tabular.mdp, policy, contexts, index, part.step_limit)
                numbers.append(learned.packer.pack(policy))
            packed.append(np.concatenate(numbers, axis=1))
        learned.add(members, tabular, packed, params)

    def _run_rounds(
        self, tabular: TabularProblem, model: Model, rng: np.random.Generator, progress: Progress
    ) -> Params:
        """Return the rewards' parameters after all rounds."""
        params = tabular.initial_params(rng)
        check_rewards(tabular, params)
        learns = tabular.estimator.update is not None  # else the last solution is all there is
        for number in range(self.rounds if learns else 0):
            progress(number / (self.rounds + 1), f"round {number + 1} of {self.rounds}")
            skills, starts = draw_starts(tabular, params, self.rollouts, rng)
            for z, skill in enumerate(tabular.skills):
                contexts, sweeps = None, self.sweeps
                if skill.context.size > self.rollouts:  # more than a round's runs can start in
                    contexts = np.unique(skill.context.of_state[starts[skills == z]])
                    sweeps *= -(-skill.context.size // self.rollouts)  # as many in all as others
                if number == 0 or not (self.warm_start and model.keeps_values):
                    sweeps = self.final_sweeps
                    model.known[z][:] = False
                model.improve(z, params, sweeps, contexts)
            paths, steps = run_many(
                mdp_arrays(tabular.mdp), model.policy_arrays, skills, starts, tabular.step_limit,
                tabular.mdp.n_marks, rng, None,
            )  # fmt: skip
            update_estimates(tabular, params, skills, paths, steps, rng)
        check_rewards(tabular, params)
        return params


def draw_starts(
    problem: TabularProblem, params: Params, per_skill: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw skills to run, uniformly or by a learned prior, and their start states.

    Args:
        problem: The learning problem.
        params: Per group, the estimator's parameters.
        per_skill: Runs per skill, on average.
        rng: Source of the draws.

    Returns:
        Skill numbers and state numbers, int64 [n_runs] each, in random order.
    """
    n = per_skill * len(problem.skills)
    proposed = rng.integers(problem.mdp.n_states, size=n)
    prior = skill_prior(problem, params)
    if prior is None:
        skills = rng.integers(len(problem.skills), size=n)
    else:
        shares = prior.cumsum(axis=0)[:, proposed]
        skills = np.minimum((rng.random(n) >= shares).sum(axis=0), len(problem.skills) - 1)
    starts = np.empty(n, dtype=np.int64)
    for z, skill in enumerate(problem.skills):
        mine = np.flatnonzero(skills == z)
        allowed = np.isin(proposed[mine], skill.starts)
        other = skill.starts[rng.integers(len(skill.starts), size=len(mine))]
        starts[mine] = np.where(allowed, proposed[mine], other)
    return skills, starts
