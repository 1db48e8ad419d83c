"""One update: all environments step, then the cost network is trained on replayed transitions.

Every environment runs one skill after another and adds its transitions (s, a, s') to the replay
buffer. A sampled transition trains the costs of all skills, because the dynamics do not depend on
which skill acted or where it started. Each transition is stored with two first states: the skill's
own and an earlier one of the same environment.

    C(s, a; z) <- c + event costs + min(L(s'), min_a' C(s', a')) + alpha clip(gap(s, a), 0, 1/2)

The gap, C(s, a) - min(L(s), min C(s, .)), increases the margin between the best action and the
others (advantage learning). A slow copy of the network acts and provides the targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.learners.neural.replay import Replay, Transitions
from skillfocus.learners.neural.training_state import Carry, Ends, Environments
from skillfocus.skills.neural.model import SkillModel
from skillfocus.worlds.jax.pytrees import where
from skillfocus.worlds.jax.world import JaxWorld

if TYPE_CHECKING:
    from skillfocus.learners.neural.learner import Neural

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

    def init(self, key: jax.Array, costs: Any, judges: Any) -> Carry:
        """Return the initial training state, from the networks' initial parameters."""
        key, key_reset, key_skill = jax.random.split(key, 3)
        n = self.settings.environments
        state = jax.vmap(self.world.reset)(jax.random.split(key_reset, n))
        values = jax.vmap(self.world.values)(state)
        skill = jax.random.randint(key_skill, (n,), 0, self.model.n_skills)
        earlier = jnp.repeat(values[:, None], max(1, self.settings.earlier_starts), axis=1)
        environments = Environments(
            state, skill, jnp.copy(values), earlier, jnp.zeros(n, jnp.int32)
        )
        costs, judges = jax.tree.map(jnp.asarray, (costs, judges))
        slow = jax.tree.map(jnp.copy, costs)
        return Carry(
            key, costs, slow, self.optimizer.init(costs), judges, self.optimizer.init(judges),
            environments, self.replay.init(), jnp.int32(0),
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
        rewards = {**rewards, "groups": with_judges(rewards["groups"], carry.judges)}
        key, key_act, key_step, key_next, key_earlier, key_learn = jax.random.split(carry.key, 6)
        slow = {**rewards, "costs": carry.slow}
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

        which = jax.random.randint(key_earlier, (n,), 0, max(1, settings.earlier_starts))
        other = env.earlier[rows, which] if settings.earlier_starts else env.start
        starts = jnp.stack([env.start, other], axis=1)
        new = Transitions(values, action, next_values, starts)
        carry = carry._replace(buffer=self.replay.add(carry.buffer, new, carry.updates))
        loss, fast, optimizer = self._learn(key_learn, carry, rewards)
        moved = optax.incremental_update(fast, carry.slow, settings.slow_rate)
        judges, judge_optimizer = self._update_judges(carry, rewards, values, ended)
        ends = Ends(ended, env.skill, env.start, values)
        ends = jax.tree.map(lambda leaf: leaf[: self.observers], ends)
        env = self._next(key_next, env, after, ended)
        carry = Carry(
            key, fast, moved, optimizer, judges, judge_optimizer, env, carry.buffer,
            carry.updates + 1,
        )  # fmt: skip
        return carry, (loss, ends)

    def _update_judges(
        self, carry: Carry, rewards: Any, values: jax.Array, ended: jax.Array
    ) -> tuple[Any, Any]:
        """Train discriminator networks on visited states (step rewards), or else on last states.

        While rewards are held fixed, they fit a random partition of the states instead.
        """
        if not carry.judges:
            return carry.judges, carry.judge_optimizer
        model, env, half = self.model, carry.environments, self.settings.environments // 2
        states, starts, skills = values[:half], env.start[:half], env.skill[:half]
        weight = jnp.ones(half) if model.objective.reward.timing == "step" else ended[:half]

        def loss_of(judges: Any) -> jax.Array:
            total = jnp.float32(0)
            for number, judge in judges.items():
                group, parts = model.groups[int(number)], rewards["groups"][int(number)]
                component, among = model.component(int(number), skills)
                log_q = model.log_q(group, judge, starts, states)
                own = jnp.take_along_axis(log_q, component[:, None], axis=1)[:, 0]
                counted = weight * among
                learned = (own * counted).sum() / (counted.sum() + 1e-6)
                scores = model.encode(starts, states, group.variables, ()) @ parts["partition"]
                owner = scores.argmax(axis=1)
                by_partition = jnp.take_along_axis(log_q, owner[:, None], axis=1).mean()
                total -= jnp.where(parts["held"], by_partition, learned)
            return total

        gradient = jax.grad(loss_of)(carry.judges)
        step, optimizer = self.optimizer.update(gradient, carry.judge_optimizer, carry.judges)
        return optax.apply_updates(carry.judges, step), optimizer

    def _learn(self, key: jax.Array, carry: Carry, rewards: Any) -> tuple[jax.Array, Any, Any]:
        """Update the cost network on a batch from the replay buffer."""
        model, unit = self.model, rewards["unit"]
        now, action, then, starts = self.replay.sample(key, carry.buffer, carry.updates)
        starts = jnp.concatenate([starts[:, 0], starts[:, 1]])
        now, then, action = (jnp.concatenate([each, each]) for each in (now, then, action))
        targets = self._targets({**rewards, "costs": carry.slow}, starts, now, then, action)

        def loss_of(parameters: Any) -> jax.Array:
            taken = _taken(model.costs({**rewards, "costs": parameters}, starts, now), action)
            return optax.losses.huber_loss(taken / unit, targets / unit).mean()

        loss, gradient = jax.value_and_grad(loss_of)(carry.costs)
        step, optimizer = self.optimizer.update(gradient, carry.optimizer, carry.costs)
        return loss, optax.apply_updates(carry.costs, step), optimizer

    def _targets(
        self, slow: Any, starts: jax.Array, now: jax.Array, then: jax.Array, action: jax.Array
    ) -> jax.Array:
        """Return the targets of the costs of the actions taken, [n, n_skills]."""
        model, settings, unit = self.model, self.settings, slow["unit"]
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


def with_judges(groups: Any, judges: Any) -> list[Any]:
    """Return the groups' rewards with the current discriminator networks."""
    return [
        {**parts, "network": judges[str(number)]} if str(number) in judges else parts
        for number, parts in enumerate(groups)
    ]
