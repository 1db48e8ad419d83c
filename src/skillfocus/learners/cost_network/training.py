"""Training loop: stretches of updates on the device, estimator updates and checkpoints between."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.errors import UserError
from skillfocus.learners.checkpoint import Checkpoint, keep_compiled_programs, speed
from skillfocus.learners.cost_network.learner import Neural
from skillfocus.learners.cost_network.rewards import GroupReward, NetworkReward, make_rewards
from skillfocus.learners.problem import Problem
from skillfocus.progress import Progress
from skillfocus.skills.network import NeuralPolicy, SkillModel, init_network
from skillfocus.worlds.jax.table import TableWorld
from skillfocus.worlds.jax.world import JaxWorld, where

# -------------------- Replay buffer with event replay
#
# Transitions that change a goal variable ("events") are rare in large worlds, and all learning
# starts from them. So the buffer also stores the latest events of each goal, and a share of every
# batch is sampled from them, uniformly over goals. In stochastic worlds event replay is off,
# because sampling by outcome would bias the targets.


class Transitions(NamedTuple):
    """A batch of transitions; value indices have a small dtype, because millions are stored.

    Attributes:
        state: Value indices, [n, n_variables].
        action: Actions, [n].
        next_state: Value indices after the action, [n, n_variables].
        starts: Two first states, [n, 2, n_variables].
    """

    state: jax.Array
    action: jax.Array
    next_state: jax.Array
    starts: jax.Array


class ReplayBuffer(NamedTuple):
    """Contents of the replay buffer.

    Attributes:
        latest: The latest transitions.
        events: The latest events of each goal, [n_goals, n, ...]; None without event replay.
        n_events: Events of each goal so far, int32 [n_goals].
    """

    latest: Transitions
    events: Transitions | None
    n_events: jax.Array


class Replay:
    """Adds transitions to a `ReplayBuffer` and samples batches from it.

    Args:
        world: The world.
        settings: The learner's settings.

    Attributes:
        goals: Indices of the variables whose changes are events.
        sampled_events: Events per batch.
        kept_events: Capacity for events, per goal.
        kept_updates: Capacity for transitions, in updates.
    """

    def __init__(self, world: JaxWorld, settings: Neural) -> None:
        self.space = world.space
        self.environments, self.batch = settings.environments, settings.batch
        self.goals = np.array([world.space.index(name) for name in world.goals], np.int64)
        has_events = len(self.goals) > 0 and is_deterministic(world)
        self.sampled_events = int(settings.event_share * settings.batch) if has_events else 0
        self.kept_events = max(1, settings.memory // (4 * max(1, len(self.goals))))
        self.kept_updates = max(1, settings.memory // settings.environments)

    def init(self) -> ReplayBuffer:
        """Return an empty buffer."""
        events = self._zeros(len(self.goals), self.kept_events) if self.sampled_events else None
        latest = self._zeros(self.kept_updates * self.environments)
        return ReplayBuffer(latest, events, jnp.zeros(len(self.goals), jnp.int32))

    def _zeros(self, *n: int) -> Transitions:
        small = jnp.int16 if max(self.space.sizes) < 2**15 else jnp.int32
        states = jnp.zeros((*n, len(self.space)), small)
        starts = jnp.zeros((*n, 2, len(self.space)), small)
        return Transitions(states, jnp.zeros(n, jnp.int16), jnp.copy(states), starts)

    def add(self, buffer: ReplayBuffer, new: Transitions, updates: jax.Array) -> ReplayBuffer:
        """Add the transitions of an update and their events, overwriting the oldest."""
        offset = (updates % self.kept_updates) * self.environments

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            where = (offset, *(0,) * (old.ndim - 1))
            return jax.lax.dynamic_update_slice(old, latest.astype(old.dtype), where)

        buffer = buffer._replace(latest=jax.tree.map(write, buffer.latest, new))
        return buffer if buffer.events is None else self._add_events(buffer, buffer.events, new)

    def _add_events(
        self, buffer: ReplayBuffer, events: Transitions, new: Transitions
    ) -> ReplayBuffer:
        changed = (new.state != new.next_state)[:, self.goals].T  # [n_goals, n]
        number = buffer.n_events[:, None] + jnp.cumsum(changed, axis=1)
        index = jnp.where(changed, (number - 1) % self.kept_events, self.kept_events)

        def write(old: jax.Array, latest: jax.Array) -> jax.Array:
            latest = latest.astype(old.dtype)
            return jax.vmap(lambda own, at: own.at[at].set(latest, mode="drop"))(old, index)

        return buffer._replace(events=jax.tree.map(write, events, new), n_events=number[:, -1])

    def sample(self, key: jax.Array, buffer: ReplayBuffer, updates: jax.Array) -> Transitions:
        """Sample a batch, a share of it from the events.

        Args:
            key: Source of randomness.
            buffer: Its contents.
            updates: Number of earlier updates, which tells how much of the buffer is filled.
        """
        filled = jnp.minimum(updates + 1, self.kept_updates) * self.environments
        rows = jax.random.randint(key, (self.batch,), 0, filled)
        batch = jax.tree.map(lambda x: x[rows].astype(jnp.int32), buffer.latest)
        if buffer.events is None:
            return batch
        n = self.sampled_events
        key_goal, key_event = jax.random.split(jax.random.fold_in(key, 1))
        goal = jax.random.randint(key_goal, (n,), 0, len(self.goals))
        stored = jnp.minimum(buffer.n_events, self.kept_events)[goal]
        event = jax.random.randint(key_event, (n,), 0, jnp.maximum(stored, 1))

        def replace_first(sampled: jax.Array, events: jax.Array) -> jax.Array:
            has_events = (stored > 0).reshape(-1, *(1,) * (sampled.ndim - 1))
            first = jnp.where(has_events, events[goal, event].astype(jnp.int32), sampled[:n])
            return sampled.at[:n].set(first)

        return jax.tree.map(replace_first, batch, buffer.events)


def is_deterministic(world: JaxWorld) -> bool:
    """Return whether a world's `step` ignores its key."""
    key = jax.random.key(0)
    state = jax.eval_shape(world.reset, key)
    traced = jax.make_jaxpr(world.step)(key, state, jnp.int32(0)).jaxpr
    used = {id(variable) for equation in traced.eqns for variable in equation.invars}
    return id(traced.invars[0]) not in used


# -------------------- The training state: environments, replay buffer, parameters


class Environments(NamedTuple):
    """A batch of n environments, each running a skill.

    Attributes:
        state: The world's states.
        skill: Current skills, [n].
        start: Value indices of their first states, [n, n_variables].
        earlier: Value indices of earlier first states, [n, n_earlier, n_variables].
        steps: Steps taken by the current skills, [n].
    """

    state: Any
    skill: jax.Array
    start: jax.Array
    earlier: jax.Array
    steps: jax.Array


class Carry(NamedTuple):
    """Everything that changes during training.

    Attributes:
        key: Source of randomness.
        q_params: Parameters of the cost network.
        target_params: Parameters of the target network.
        optimizer: State of the cost network's optimizer.
        estimators: Parameters of the discriminator networks, by group number.
        estimator_optimizer: State of their optimizer.
        environments: The environments.
        buffer: The replay buffer.
        updates: Updates so far.
    """

    key: jax.Array
    q_params: Any
    target_params: Any
    optimizer: Any
    estimators: Any
    estimator_optimizer: Any
    environments: Environments
    buffer: ReplayBuffer
    updates: jax.Array


class Ends(NamedTuple):
    """Ends of skills: whether one ended, which, its first and last value indices."""

    ended: jax.Array
    skill: jax.Array
    start: jax.Array
    state: jax.Array


# --------------------
#
# One update: all environments step, then the cost network is trained on replayed transitions
#
# Every environment runs one skill after another and adds its transitions (s, a, s') to the replay
# buffer. A sampled transition trains the costs of all skills, because the dynamics do not depend on
# which skill acted or where it started. Each transition is stored with two first states: the
# skill's own and an earlier one of the same environment.
#
#     C(s, a; z) <- c + event costs + min(L(s'), min_a' C(s', a')) + alpha clip(gap(s, a), 0, 1/2)
#
# The gap, C(s, a) - min(L(s), min C(s, .)), increases the margin between the best action and the
# others (advantage learning). A slow copy of the network acts and provides the targets.

MAX_GAP = 0.5
"""Upper bound of the gap in the advantage term."""
OBSERVERS = 512
"""Most environments that report the ends of skills to the estimators."""


class Trainer:
    """Compiled training of one problem.

    Args:
        world: The world.
        model: The skill model.
        settings: The learner's settings.
        step_limit: Maximum steps of a skill.
    """

    def __init__(
        self, world: JaxWorld, model: SkillModel, settings: Neural, step_limit: int
    ) -> None:
        self.world, self.model, self.settings, self.step_limit = world, model, settings, step_limit
        schedule = optax.cosine_decay_schedule(
            settings.learning_rate, settings.updates, settings.last_rate / settings.learning_rate
        )
        self.optimizer = optax.adam(schedule)
        n = settings.environments
        self.observers = min(OBSERVERS, n // 2)
        self.replay = Replay(world, settings)
        explorers = np.linspace(0, 1, n - n // 2) ** 2
        self.exploration = jnp.asarray(np.append(np.zeros(n // 2), 0.05 + 0.95 * explorers))

    def init(self, key: jax.Array, costs: Any, estimators: Any) -> Carry:
        """Return the initial training state, from the networks' initial parameters."""
        key, key_reset, key_skill = jax.random.split(key, 3)
        n = self.settings.environments
        state = jax.vmap(self.world.reset)(jax.random.split(key_reset, n))
        values = jax.vmap(self.world.values)(state)
        skill = jax.random.randint(key_skill, (n,), 0, self.model.n_skills)
        earlier = jnp.repeat(values[:, None], max(1, self.settings.relabel_starts), axis=1)
        environments = Environments(
            state, skill, jnp.copy(values), earlier, jnp.zeros(n, jnp.int32)
        )
        costs, estimators = jax.tree.map(jnp.asarray, (costs, estimators))
        slow = jax.tree.map(jnp.copy, costs)
        return Carry(
            key, costs, slow, self.optimizer.init(costs), estimators,
            self.optimizer.init(estimators), environments, self.replay.init(), jnp.int32(0),
        )  # fmt: skip

    def run(self, carry: Carry, rewards: Any, n_updates: int) -> tuple[Carry, jax.Array, Ends]:
        """Make updates with fixed rewards; return the state, each loss, and the ends of skills."""

        def body(carry: Carry, _: None) -> tuple[Carry, tuple[jax.Array, Ends]]:
            return self._update(carry, rewards)

        carry, (loss, ends) = jax.lax.scan(body, carry, None, length=n_updates)
        return carry, loss, ends

    def _update(self, carry: Carry, rewards: Any) -> tuple[Carry, tuple[jax.Array, Ends]]:
        model, settings, env = self.model, self.settings, carry.environments
        n = settings.environments
        rewards = {**rewards, "groups": with_networks(rewards["groups"], carry.estimators)}
        key, key_act, key_step, key_next, key_earlier, key_learn = jax.random.split(carry.key, 6)
        slow = {**rewards, "q_params": carry.target_params}
        values = jax.vmap(self.world.values)(env.state)
        rows = jnp.arange(n)

        costs = model.costs(slow, env.start, values)
        losses = model.losses(slow, env.start, values)
        mine, stop_loss = costs[rows, env.skill], losses[rows, env.skill]
        key_explore, key_random = jax.random.split(key_act)
        explores = jax.random.uniform(key_explore, (n,)) < self.exploration
        random_action = jax.random.randint(key_random, (n,), 0, model.n_actions)
        stops = (stop_loss <= mine.min(axis=1)) & ~explores
        ended = stops | (env.steps >= self.step_limit)
        action = jnp.where(explores | ended, random_action, mine.argmin(axis=1))

        after = jax.vmap(self.world.step)(jax.random.split(key_step, n), env.state, action)
        next_values = jax.vmap(self.world.values)(after)

        which = jax.random.randint(key_earlier, (n,), 0, max(1, settings.relabel_starts))
        other = env.earlier[rows, which] if settings.relabel_starts else env.start
        starts = jnp.stack([env.start, other], axis=1)
        new = Transitions(values, action, next_values, starts)
        carry = carry._replace(buffer=self.replay.add(carry.buffer, new, carry.updates))
        loss, fast, optimizer = self._learn(key_learn, carry, rewards)
        moved = optax.incremental_update(fast, carry.target_params, settings.target_rate)
        estimators, estimator_optimizer = self._update_estimators(carry, rewards, values, ended)
        ends = Ends(ended, env.skill, env.start, values)
        ends = jax.tree.map(lambda leaf: leaf[: self.observers], ends)
        env = self._next(key_next, env, after, ended)
        carry = Carry(
            key, fast, moved, optimizer, estimators, estimator_optimizer, env, carry.buffer,
            carry.updates + 1,
        )  # fmt: skip
        return carry, (loss, ends)

    def _update_estimators(
        self, carry: Carry, rewards: Any, values: jax.Array, ended: jax.Array
    ) -> tuple[Any, Any]:
        """Train discriminator networks on visited states (step rewards), or else on last states.

        While rewards are held fixed, they fit a random partition of the states instead.
        """
        if not carry.estimators:
            return carry.estimators, carry.estimator_optimizer
        model, env, half = self.model, carry.environments, self.settings.environments // 2
        states, starts, skills = values[:half], env.start[:half], env.skill[:half]
        weight = jnp.ones(half) if model.objective.reward.timing == "step" else ended[:half]

        def loss_of(estimators: Any) -> jax.Array:
            total = jnp.float32(0)
            for number, estimator in estimators.items():
                group, parts = model.groups[int(number)], rewards["groups"][int(number)]
                component, among = model.component(int(number), skills)
                log_q = model.log_q(group, estimator, starts, states)
                own = jnp.take_along_axis(log_q, component[:, None], axis=1)[:, 0]
                counted = weight * among
                learned = (own * counted).sum() / (counted.sum() + 1e-6)
                scores = model.encode(starts, states, group.variables, ()) @ parts["partition"]
                owner = scores.argmax(axis=1)
                by_partition = jnp.take_along_axis(log_q, owner[:, None], axis=1).mean()
                total -= jnp.where(parts["held"], by_partition, learned)
            return total

        gradient = jax.grad(loss_of)(carry.estimators)
        step, optimizer = self.optimizer.update(
            gradient, carry.estimator_optimizer, carry.estimators
        )
        return optax.apply_updates(carry.estimators, step), optimizer

    def _learn(self, key: jax.Array, carry: Carry, rewards: Any) -> tuple[jax.Array, Any, Any]:
        """Update the cost network on a batch from the replay buffer."""
        model, unit = self.model, rewards["reward_scale"]
        now, action, then, starts = self.replay.sample(key, carry.buffer, carry.updates)
        starts = jnp.concatenate([starts[:, 0], starts[:, 1]])
        now, then, action = (jnp.concatenate([each, each]) for each in (now, then, action))
        targets = self._targets(
            {**rewards, "q_params": carry.target_params}, starts, now, then, action
        )

        def loss_of(parameters: Any) -> jax.Array:
            taken = _taken(model.costs({**rewards, "q_params": parameters}, starts, now), action)
            return optax.losses.huber_loss(taken / unit, targets / unit).mean()

        loss, gradient = jax.value_and_grad(loss_of)(carry.q_params)
        step, optimizer = self.optimizer.update(gradient, carry.optimizer, carry.q_params)
        return loss, optax.apply_updates(carry.q_params, step), optimizer

    def _targets(
        self, slow: Any, starts: jax.Array, now: jax.Array, then: jax.Array, action: jax.Array
    ) -> jax.Array:
        """Return the targets of the costs of the actions taken, [n, n_skills]."""
        model, settings, unit = self.model, self.settings, slow["reward_scale"]
        costs, losses = model.costs(slow, starts, now), model.losses(slow, starts, now)
        ahead = model.costs(slow, starts, then).min(axis=2)
        cost = settings.step_cost * unit + model.penalties(slow, now, then, ~model.reversible)
        if model.objective.reward.timing == "transition":
            cost = cost - model.rewards(slow, now, then)
        else:
            ahead = jnp.maximum(ahead, 0.0)  # without transition rewards, costs are not negative
        ahead = jnp.minimum(model.losses(slow, starts, then), ahead)
        if model.objective.reward.timing == "step":
            cost = cost + (1 - settings.gamma) * losses
            ahead = settings.gamma * ahead
        gap = _taken(costs, action) - jnp.minimum(losses, costs.min(axis=2))
        return cost + ahead + settings.advantage * jnp.clip(gap, 0, MAX_GAP * unit)

    def _next(
        self, key: jax.Array, env: Environments, after: Any, ended: jax.Array
    ) -> Environments:
        """Continue skills; where one ended, start another, possibly after a reset."""
        n = len(ended)
        key_fresh, key_reset, key_skill = jax.random.split(key, 3)
        fresh = ended & (jax.random.uniform(key_fresh, (n,)) < self.settings.reset_share)
        drawn = jax.vmap(self.world.reset)(jax.random.split(key_reset, n))
        kept = where(ended, env.state, after)
        state = where(fresh, drawn, kept)
        start = jax.vmap(self.world.values)(state)
        skill = jax.random.randint(key_skill, (n,), 0, self.model.n_skills)
        shifted = jnp.concatenate([start[:, None], env.earlier[:, :-1]], axis=1)
        earlier = where(ended, shifted, env.earlier)
        earlier = where(fresh, jnp.repeat(start[:, None], earlier.shape[1], axis=1), earlier)
        return Environments(
            state,
            jnp.where(ended, skill, env.skill),
            where(ended, start, env.start),
            earlier,
            jnp.where(ended, 0, env.steps + 1),
        )


def _taken(costs: jax.Array, action: jax.Array) -> jax.Array:
    """Return the costs of the actions taken, [n, n_skills]."""
    return jnp.take_along_axis(costs, action[:, None, None], axis=2)[:, :, 0]


def with_networks(groups: Any, estimators: Any) -> list[Any]:
    """Return the groups' rewards with the current discriminator networks."""
    return [
        {**parts, "network": estimators[str(number)]} if str(number) in estimators else parts
        for number, parts in enumerate(groups)
    ]


TYPICAL_LOSS = 4.0
"""Typical loss of a skill in its unit: about a discriminator's -log q, as settings assume."""


def train(
    settings: Neural, problem: Problem, rng: np.random.Generator, progress: Progress
) -> NeuralPolicy:
    """Train a set of skills.

    Args:
        settings: The learner's settings.
        problem: What to learn.
        rng: Source of every random draw.
        progress: Progress callback.
    """
    keep_compiled_programs()
    checkpoint = Checkpoint(settings, problem, rng)
    world, model = jax_world(problem), make_model(problem)
    trainer = Trainer(world, model, settings, problem.step_limit)
    skills = SkillSet(trainer, rng)
    (carry, estimates), first = checkpoint.read((skills.carry, skills.estimates))
    if first:
        skills.restore(estimates, first)
    stretches = -(-settings.updates // settings.updates_per_jit)
    run = jax.jit(trainer.run, static_argnums=2, donate_argnums=0)
    precision = None if settings.precision == "default" else "BF16_BF16_F32"
    began = time.monotonic()
    for number in range(first, stretches):
        updates = number * settings.updates_per_jit
        steps = (number - first) * settings.updates_per_jit * settings.environments
        progress(
            number / stretches,
            f"update {updates:,} of {settings.updates:,}{speed(began, steps)}",
        )
        with nullcontext() if precision is None else jax.default_matmul_precision(precision):
            carry, loss, ends = run(carry, skills.weights(), settings.updates_per_jit)
        if not np.isfinite(np.asarray(loss)).all():
            advice = "set checkpoint to keep earlier states"
            if checkpoint.path is not None and checkpoint.path.exists():
                advice = f"the last finite state is in {checkpoint.path}"
            raise UserError(
                f"training diverged: the loss is no longer finite after {updates:,} updates; "
                f"lower learning_rate ({advice})"
            )
        if settings.on_metrics is not None:
            done = (number + 1) * settings.updates_per_jit * settings.environments
            metrics = {"steps": float(done), "loss": float(np.mean(loss))}
            settings.on_metrics({**metrics, **_outcomes(problem, ends)})
        skills.observe(ends, (number + 1) / stretches)
        checkpoint.write((carry, skills.estimates), number + 1)
    checkpoint.delete()
    return NeuralPolicy(model, skills.final_weights(carry), problem.modes, world.mdp)


def _outcomes(problem: Problem, ends: Ends) -> dict[str, float]:
    """Return control and side effects of the skills that ended; NaN if none did."""
    ended = np.asarray(ends.ended).ravel()
    if not ended.any():
        return {"control": math.nan, "side_effects": math.nan}
    n_variables = len(problem.world.space)
    starts, states = (
        np.asarray(each).reshape(-1, n_variables)[ended] for each in (ends.start, ends.state)
    )
    is_target = np.zeros((len(problem.kinds), n_variables), dtype=bool)
    for z in range(len(problem.kinds)):
        is_target[z, list(problem.kinds.targets(z))] = True
    own, changed = is_target[np.asarray(ends.skill).ravel()[ended]], starts != states
    return {
        "control": float((changed | ~own).all(axis=1).mean()),
        "side_effects": float((changed & ~own).sum(axis=1).mean()),
    }


def jax_world(problem: Problem) -> JaxWorld:
    """Return the problem's world in JAX; a finite world is converted from its table."""
    world = problem.world
    return world if isinstance(world, JaxWorld) else TableWorld(world, problem.mdp)


def make_model(problem: Problem) -> SkillModel:
    """Return the skill model of a problem."""
    world = problem.world
    one_way = problem.mdp.one_way if world.has_table else world.one_way
    return SkillModel(world.space, one_way, len(world.actions), problem.objective, problem.kinds)


class SkillSet:
    """One set of skills in training: its rewards and initial training state."""

    def __init__(self, trainer: Trainer, rng: np.random.Generator) -> None:
        self.settings, self.model, self.rng = trainer.settings, trainer.model, rng
        penalty = self.model.objective.penalty
        self.rewards: list[GroupReward] = make_rewards(self.model, self.settings.owned_share, rng)
        self.parts = [reward.parts(held=True) for reward in self.rewards]
        temperature = self.settings.temperature if is_deterministic(trainer.world) else 0.0
        self.fixed = {
            "strength": np.float32(0.0 if penalty is None else penalty.strength),
            "temperature": np.float32(temperature),
            "reward_scale": _units(self.model, self.parts),
        }
        hidden = self.settings.hidden
        costs = init_network(
            [self.model.n_inputs, hidden, hidden, self.model.n_outputs], rng,
            output_bias=self.settings.pessimism,
        )  # fmt: skip
        estimators = {
            str(number): reward.network
            for number, reward in enumerate(self.rewards)
            if isinstance(reward, NetworkReward)
        }
        self.carry = trainer.init(jax.random.key(int(rng.integers(2**31))), costs, estimators)

    def weights(self) -> dict[str, Any]:
        """Return the reward parameters of the next stretch."""
        return {**self.fixed, "groups": self.parts}

    def observe(self, ends: Ends, share: float) -> None:
        """Update the estimators from the last states of skills, once the warm-up is over.

        Args:
            ends: Ends of skills in the last stretch.
            share: Share of the training that is done.
        """
        settings, model = self.settings, self.model
        released = share - settings.warmup_fraction
        if released <= 0:
            return
        rate = settings.estimator_rate * min(1.0, 4 * released / (1 - settings.warmup_fraction))
        ended = np.asarray(ends.ended).ravel()
        skills = np.asarray(ends.skill).ravel()[ended]
        starts, states = (
            np.asarray(each).reshape(-1, len(model.space))[ended]
            for each in (ends.start, ends.state)
        )
        for number, reward in enumerate(self.rewards):
            components, among = model.component(number, skills)
            for component in range(reward.group.n_components):
                which = np.flatnonzero(among & (components == component))
                which = self.rng.permutation(which)[: settings.samples_per_update]
                reward.update(np.full(len(which), component), starts[which], states[which], rate)
        self.parts = [reward.parts(held=False) for reward in self.rewards]

    @property
    def estimates(self) -> list[np.ndarray]:
        """The parameters of the estimates that are on the host."""
        return [each.params for each in self.rewards if not isinstance(each, NetworkReward)]

    def restore(self, estimates: Sequence[Any], stretches: int) -> None:
        """Take the parameters of the estimates from a checkpoint after so many stretches."""
        for own, kept in zip(self.estimates, estimates, strict=True):
            own[...] = kept
        share = stretches / -(-self.settings.updates // self.settings.updates_per_jit)
        held = share <= self.settings.warmup_fraction
        self.parts = [reward.parts(held=held) for reward in self.rewards]

    def final_weights(self, carry: Carry) -> dict[str, Any]:
        """Return the weights of the policies, as NumPy arrays."""
        groups = with_networks(self.parts, carry.estimators)
        for parts in groups:
            parts.pop("partition", None)
            parts.pop("held", None)
        return jax.tree.map(
            np.asarray, {**self.fixed, "q_params": carry.target_params, "groups": groups}
        )


def _units(model: SkillModel, parts: list[dict[str, Any]]) -> np.ndarray:
    """Return each skill's unit: 1 for log probabilities, else its typical loss / `TYPICAL_LOSS`."""
    units = np.ones(model.n_skills, np.float32)
    if model.objective.reward.estimate.discriminates:
        return units
    lost = np.zeros(model.n_skills, np.float32)
    for group, part, shares in zip(model.groups, parts, model.shares, strict=True):
        if "table" in part:
            regret = part["table"].max(axis=2, keepdims=True) - part["table"]
            typical = [row[row > 0].mean() if (row > 0).any() else 0.0 for row in regret]
        else:
            typical = model.bound(group, part) / 2
        lost += np.asarray(typical, np.float32) @ shares
    return np.where(lost > 0, lost / TYPICAL_LOSS, units).astype(np.float32)
