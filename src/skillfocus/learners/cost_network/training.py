"""Training of a cost network: stretches of updates on the device, estimator updates between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.learners.cost_network.learner import Neural
from skillfocus.learners.cost_network.rewards import SkillRewards
from skillfocus.learners.network_training import Checkpoint, train
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
        self.reset, self.step = jax.vmap(world.reset), jax.vmap(world.step)
        self.values = jax.vmap(world.values)
        schedule = optax.cosine_decay_schedule(
            settings.learning_rate, settings.updates, settings.last_rate / settings.learning_rate
        )
        self.optimizer = optax.adam(schedule)
        n = settings.environments
        self.observers = min(OBSERVERS, n // 2)
        self.replay = Replay(world, settings)
        explorers = np.linspace(0, 1, n - n // 2) ** 2
        self.exploration = jnp.asarray(np.append(np.zeros(n // 2), 0.05 + 0.95 * explorers))

    def init(self, rng: np.random.Generator) -> tuple[Carry, SkillRewards]:
        """Return the initial training state, and the rewards."""
        model, settings, n = self.model, self.settings, self.settings.environments
        temperature = settings.temperature if is_deterministic(self.world) else 0.0
        rewards = SkillRewards(model, settings, temperature, rng)
        sizes = [model.n_inputs, settings.hidden, settings.hidden, model.n_outputs]
        q_params = init_network(sizes, rng, output_bias=settings.pessimism)
        q_params, estimators = jax.tree.map(jnp.asarray, (q_params, rewards.networks))
        key, key_reset, key_skill = jax.random.split(jax.random.key(int(rng.integers(2**31))), 3)
        state = self.reset(jax.random.split(key_reset, n))
        start = self.values(state)
        skill = jax.random.randint(key_skill, (n,), 0, model.n_skills)
        earlier = jnp.repeat(start[:, None], max(1, settings.relabel_starts), axis=1)
        environments = Environments(state, skill, jnp.copy(start), earlier, jnp.zeros(n, jnp.int32))
        carry = Carry(
            key, q_params, jax.tree.map(jnp.copy, q_params), self.optimizer.init(q_params),
            estimators, self.optimizer.init(estimators), environments, self.replay.init(),
            jnp.int32(0),
        )  # fmt: skip
        return carry, rewards

    def run(self, carry: Carry, rewards: Any, n_updates: int) -> tuple[Carry, jax.Array, Ends]:
        """Make updates with fixed rewards; return the state, each loss, and the ends of skills."""
        carry, (loss, ends) = jax.lax.scan(
            lambda carry, _: self._update(carry, rewards), carry, None, length=n_updates
        )
        return carry, loss, ends

    def _update(self, carry: Carry, rewards: Any) -> tuple[Carry, tuple[jax.Array, Ends]]:
        settings, env, n = self.settings, carry.environments, self.settings.environments
        weights = {**rewards, "groups": with_networks(rewards["groups"], carry.estimators)}
        key, key_act, key_step, key_next, key_earlier, key_learn = jax.random.split(carry.key, 6)
        values = self.values(env.state)
        action, ended = self._act(
            key_act, {**weights, "q_params": carry.target_params}, env, values
        )
        after = self.step(jax.random.split(key_step, n), env.state, action)

        which = jax.random.randint(key_earlier, (n,), 0, max(1, settings.relabel_starts))
        other = env.earlier[jnp.arange(n), which] if settings.relabel_starts else env.start
        starts = jnp.stack([env.start, other], axis=1)
        new = Transitions(values, action, self.values(after), starts)
        carry = carry._replace(buffer=self.replay.add(carry.buffer, new, carry.updates))
        loss, q_params, optimizer = self._learn(key_learn, carry, weights)
        moved = optax.incremental_update(q_params, carry.target_params, settings.target_rate)
        estimators, estimator_optimizer = self._update_estimators(carry, weights, values, ended)
        ends = Ends(ended, env.skill, env.start, values)
        ends = jax.tree.map(lambda leaf: leaf[: self.observers], ends)
        env = self._next(key_next, env, after, ended)
        carry = Carry(
            key, q_params, moved, optimizer, estimators, estimator_optimizer, env, carry.buffer,
            carry.updates + 1,
        )  # fmt: skip
        return carry, (loss, ends)

    def _act(
        self, key: jax.Array, weights: Any, env: Environments, values: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Return the environments' actions, and where their skill ended, [n] each."""
        n = self.settings.environments
        mine = self.model.costs(weights, env.start, values)[jnp.arange(n), env.skill]
        stop_loss = self.model.losses(weights, env.start, values)[jnp.arange(n), env.skill]
        key_explore, key_random = jax.random.split(key)
        explores = jax.random.uniform(key_explore, (n,)) < self.exploration
        random_action = jax.random.randint(key_random, (n,), 0, self.model.n_actions)
        stops = (stop_loss <= mine.min(axis=1)) & ~explores
        ended = stops | (env.steps >= self.step_limit)
        return jnp.where(explores | ended, random_action, mine.argmin(axis=1)), ended

    def _learn(self, key: jax.Array, carry: Carry, weights: Any) -> tuple[jax.Array, Any, Any]:
        """Update the cost network on a batch from the replay buffer."""
        model, unit = self.model, weights["reward_scale"]
        now, action, then, starts = self.replay.sample(key, carry.buffer, carry.updates)
        starts = jnp.concatenate([starts[:, 0], starts[:, 1]])
        now, then, action = (jnp.concatenate([each, each]) for each in (now, then, action))
        slow = {**weights, "q_params": carry.target_params}
        targets = self._targets(slow, starts, now, then, action)

        def loss_of(q_params: Any) -> jax.Array:
            taken = _taken(model.costs({**weights, "q_params": q_params}, starts, now), action)
            return optax.losses.huber_loss(taken / unit, targets / unit).mean()

        return self._descend(loss_of, carry.q_params, carry.optimizer)

    def _descend(
        self, loss_of: Callable[[Any], jax.Array], params: Any, state: Any
    ) -> tuple[jax.Array, Any, Any]:
        """Make a step of Adam; return the loss, the new parameters and the optimizer's state."""
        loss, gradient = jax.value_and_grad(loss_of)(params)
        step, state = self.optimizer.update(gradient, state, params)
        return loss, optax.apply_updates(params, step), state

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

    def _update_estimators(
        self, carry: Carry, weights: Any, values: jax.Array, ended: jax.Array
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
            for number, network in estimators.items():
                group, partition = model.groups[number], weights["groups"][number]["partition"]
                component, among = model.component(number, skills)
                log_q = model.log_q(group, network, starts, states)
                own = jnp.take_along_axis(log_q, component[:, None], axis=1)[:, 0]
                counted = weight * among
                learned = (own * counted).sum() / (counted.sum() + 1e-6)
                owner = (model.encode(starts, states, group.variables, ()) @ partition).argmax(
                    axis=1
                )
                by_partition = jnp.take_along_axis(log_q, owner[:, None], axis=1).mean()
                fits_partition = weights["held"] & (group.sign > 0)
                total -= jnp.where(fits_partition, by_partition, learned)
            return total

        return self._descend(loss_of, carry.estimators, carry.estimator_optimizer)[1:]

    def _next(
        self, key: jax.Array, env: Environments, after: Any, ended: jax.Array
    ) -> Environments:
        """Continue skills; where one ended, start another, possibly after a reset."""
        n = len(ended)
        key_fresh, key_reset, key_skill = jax.random.split(key, 3)
        fresh = ended & (jax.random.uniform(key_fresh, (n,)) < self.settings.reset_share)
        drawn = self.reset(jax.random.split(key_reset, n))
        state = where(fresh, drawn, where(ended, env.state, after))
        start = self.values(state)
        skill = jax.random.randint(key_skill, (n,), 0, self.model.n_skills)
        shifted = jnp.concatenate([start[:, None], env.earlier[:, :-1]], axis=1)
        earlier = where(ended, shifted, env.earlier)
        earlier = where(fresh, jnp.repeat(start[:, None], earlier.shape[1], axis=1), earlier)
        return Environments(
            state, jnp.where(ended, skill, env.skill), where(ended, start, env.start), earlier,
            jnp.where(ended, 0, env.steps + 1),
        )  # fmt: skip


def _taken(costs: jax.Array, action: jax.Array) -> jax.Array:
    """Return the costs of the actions taken, [n, n_skills]."""
    return jnp.take_along_axis(costs, action[:, None, None], axis=2)[:, :, 0]


def with_networks(groups: Sequence[Any], networks: Mapping[int, Any]) -> list[Any]:
    """Return the groups' rewards with the current discriminator networks."""
    return [
        {**group, "network": networks[i]} if i in networks else group
        for i, group in enumerate(groups)
    ]


def train_skills(
    settings: Neural, problem: Problem, rng: np.random.Generator, progress: Progress
) -> NeuralPolicy:
    """Train a set of skills.

    Args:
        settings: The learner's settings.
        problem: What to learn.
        rng: Source of every random draw.
        progress: Progress callback.
    """
    checkpoint = Checkpoint(settings, problem, rng)
    world, model = jax_world(problem), make_model(problem)
    trainer = Trainer(world, model, settings, problem.step_limit)
    carry, rewards = trainer.init(rng)
    compiled = jax.jit(trainer.run, static_argnums=2, donate_argnums=0)
    precision = None if settings.precision == "default" else "BF16_BF16_F32"
    stretch = settings.updates_per_jit
    n = -(-settings.updates // stretch) * stretch

    def run(state: Any, count: int) -> tuple[Any, jax.Array, dict[str, Any]]:
        carry, rewards.params = state
        done = int(carry.updates)
        with nullcontext() if precision is None else jax.default_matmul_precision(precision):
            carry, loss, ends = compiled(carry, rewards.weights(done / n), count)
        ended = finished(ends)
        rewards.update(*ended, (done + count) / n)
        metrics = {} if settings.on_metrics is None else outcomes(problem, *ended)
        return (carry, rewards.params), loss, {"loss": loss, **metrics}

    carry, rewards.params = train(
        settings, checkpoint, progress, (carry, rewards.params), run, unit="update", n_units=n,
        units_per_call=stretch, steps_per_unit=settings.environments,
    )  # fmt: skip
    groups = [
        {name: array for name, array in group.items() if name != "partition"}
        for group in with_networks(rewards.weights(1.0)["groups"], carry.estimators)
    ]
    weights = {**rewards.fixed, "q_params": carry.target_params, "groups": groups}
    return NeuralPolicy(model, jax.tree.map(np.asarray, weights), problem.modes, world.mdp)


def finished(ends: Ends) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the skills that ended, [n], and their first and last values, [n, n_variables]."""
    ended, skill, start, state = map(np.asarray, ends)
    return skill[ended], start[ended], state[ended]


def outcomes(
    problem: Problem, skills: np.ndarray, starts: np.ndarray, states: np.ndarray
) -> dict[str, float]:
    """Return control and side effects of the skills that ended; NaN if none did."""
    if not len(skills):
        return {"control": math.nan, "side_effects": math.nan}
    is_target = np.zeros((len(problem.kinds), len(problem.world.space)), dtype=bool)
    for z, row in enumerate(is_target):
        row[list(problem.kinds.targets(z))] = True
    own, changed = is_target[skills], starts != states
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
