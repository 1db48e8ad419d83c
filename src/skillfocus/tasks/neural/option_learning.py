"""Value learning over options with a network (Sutton, Precup, Singh 1999).

    Q(s, o) <- R + gamma^k max_o' Q(s', o') - advantage (max Q(s, .) - Q(s, o))

for an option o that started in s and ended k steps later in s', with the discounted reward R. The
last term is advantage learning: it keeps the values of states, and widens the gap between the best
option and the others, so that near ties do not mislead the agent. A slow copy of the network acts
and provides the targets; if `double`, the fast one chooses o'. Batched environments fill a replay
buffer. Their exploration rates differ: the first one is greedy, the last one acts at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.core.factored import FactoredSpace
from skillfocus.skills.neural.network import apply_network, init_network
from skillfocus.tasks.neural.environments import Decision, Environments, Event, OptionRunner
from skillfocus.tasks.neural.memory import Memory, Trace, empty, follow, remember, sample
from skillfocus.tasks.neural.options import Options
from skillfocus.tasks.neural.settings import OptionLearning
from skillfocus.tasks.neural.task import JaxTask
from skillfocus.worlds.jax.pytrees import where
from skillfocus.worlds.jax.world import JaxWorld

MAX_GAP = 0.5
"""Upper bound of the gap in the advantage term."""


class Carry(NamedTuple):
    """The training state."""

    key: jax.Array
    fast: Any
    slow: Any
    optimizer: Any
    memory: Memory
    rewarded: Memory
    trace: Trace
    environments: Environments


@dataclass(frozen=True)
class OptionLearner:
    """Value learning over options for one task.

    Attributes:
        world: The world.
        task: The task.
        settings: The learning settings.
    """

    world: JaxWorld
    task: JaxTask
    settings: OptionLearning
    runner: OptionRunner = field(init=False, compare=False)
    optimizer: optax.GradientTransformation = field(init=False, compare=False)

    def __post_init__(self) -> None:
        settings = self.settings
        runner = OptionRunner(
            self.world, self.task, settings.reward, settings.gamma, settings.interrupt
        )
        schedule = optax.cosine_decay_schedule(
            settings.learning_rate,
            settings.evaluations * settings.iterations * settings.updates,
            settings.last_rate / settings.learning_rate,
        )
        object.__setattr__(self, "runner", runner)
        object.__setattr__(self, "optimizer", optax.adam(schedule, eps=settings.adam_epsilon))

    def init(self, rng: np.random.Generator, n_options: int) -> Any:
        """Return the network's initial parameters."""
        hidden, n_inputs = self.settings.hidden, len(_indicators(self.world.space)[0])
        return init_network([n_inputs, hidden, hidden, n_options], rng)

    def values(self, parameters: Any, states: jax.Array) -> jax.Array:
        """Return the values of all options, [n, n_options], for value indices [n, n_variables]."""
        variables, values = _indicators(self.world.space)
        inputs = (states[:, variables] == values).astype(jnp.float32)
        return apply_network(parameters, inputs)

    def start(self, key: jax.Array, parameters: Any, options: Options) -> Carry:
        """Return the initial training state."""
        settings = self.settings
        key, key_init = jax.random.split(key)
        exploration = self._exploration()
        env = self.runner.init(key_init, self._network(parameters), options, exploration)
        sizes = len(self.world.space), len(options)
        slow = jax.tree.map(jnp.copy, parameters)
        memory = Memory(empty(*sizes, settings.memory), jnp.int32(0))
        rewarded = Memory(empty(*sizes, settings.rewarded), jnp.int32(0))
        n = settings.environments
        trace = Trace(empty(*sizes, n, settings.trace), jnp.zeros(n, jnp.int32))
        optimizer = self.optimizer.init(parameters)
        return Carry(key, parameters, slow, optimizer, memory, rewarded, trace, env)

    def run(self, carry: Carry, options: Options) -> tuple[Carry, jax.Array]:
        """Train until the next evaluation; return the state and the loss of each iteration."""

        def iterate(carry: Carry, _: None) -> tuple[Carry, jax.Array]:
            key, key_step, key_learn = jax.random.split(carry.key, 3)
            env, decision, event = self.runner.step(
                key_step, self._network(carry.slow), options, self._exploration(),
                carry.environments,
            )  # fmt: skip
            memory = remember(carry.memory, decision, event.decided)
            trace, rewarded = follow(
                carry.trace, carry.rewarded, decision, event.decided, event.over,
                event.returned > 0,
            )  # fmt: skip
            carry = carry._replace(
                key=key, memory=memory, rewarded=rewarded, trace=trace, environments=env
            )
            keys = jax.random.split(key_learn, self.settings.updates)
            carry, losses = jax.lax.scan(self._update, carry, keys)
            return carry, losses.mean()

        return jax.lax.scan(iterate, carry, None, length=self.settings.iterations)

    def _update(self, carry: Carry, key: jax.Array) -> tuple[Carry, jax.Array]:
        settings = self.settings
        decision, weight = self._batch(key, carry)
        slow = self.values(carry.slow, decision.end)
        selector = self.values(carry.fast, decision.end) if settings.double else slow
        target = smdp_target(decision, selector, slow)
        target -= settings.advantage * gap(decision, self.values(carry.slow, decision.start))

        def loss_of(parameters: Any) -> jax.Array:
            values = self.values(parameters, decision.start)
            chosen = jnp.take_along_axis(values, decision.option[:, None], axis=1)[:, 0]
            return (weight * jnp.square(chosen - target)).mean()

        loss, gradient = jax.value_and_grad(loss_of)(carry.fast)
        step, optimizer = self.optimizer.update(gradient, carry.optimizer, carry.fast)
        fast = optax.apply_updates(carry.fast, step)
        moved = optax.incremental_update(fast, carry.slow, settings.slow_rate)
        return carry._replace(fast=fast, slow=moved, optimizer=optimizer), loss

    def _batch(self, key: jax.Array, carry: Carry) -> tuple[Decision, jax.Array]:
        """Return a batch of decisions and their weights, 0 for those from an empty buffer."""
        settings = self.settings
        n_rewarded = round(settings.rewarded_share * settings.batch)
        key_any, key_rewarded = jax.random.split(key)
        parts = (
            (carry.memory, key_any, settings.batch - n_rewarded),
            (carry.rewarded, key_rewarded, n_rewarded),
        )
        sampled = [sample(key, memory, n) for memory, key, n in parts]
        weights = [jnp.full(n, memory.known > 0, jnp.float32) for memory, _, n in parts]
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *sampled), jnp.concatenate(
            weights
        )

    def evaluate(self, key: jax.Array, parameters: Any, options: Options, n_episodes: int) -> Event:
        """Run the greedy agent; return how the first episode of `n_episodes` environments ended."""
        network, greedy = self._network(parameters), jnp.zeros(n_episodes)
        key_init, key_steps = jax.random.split(key)
        env = self.runner.init(key_init, network, options, greedy)

        def step(carry: tuple[Environments, Event], key: jax.Array) -> tuple[Any, None]:
            env, first = carry
            env, _, event = self.runner.step(key, network, options, greedy, env)
            return (env, where(first.over, first, event)), None

        no = jnp.zeros(n_episodes, bool)
        first = Event(no, no, no, env.start, env.episode_steps, env.returned)
        keys = jax.random.split(key_steps, self.task.episode_length)
        return jax.lax.scan(step, (env, first), keys)[0][1]

    def _network(self, parameters: Any) -> Callable[[jax.Array], jax.Array]:
        return lambda states: self.values(parameters, states)

    def _exploration(self) -> jax.Array:
        return jnp.linspace(0.0, 1.0, self.settings.environments) ** 2


def smdp_target(decision: Decision, selector: jax.Array, values: jax.Array) -> jax.Array:
    """Return R + discount Q(s', o'), [n], where o' is the best available option.

    Args:
        decision: Decisions.
        selector: Option values in s' that select o', [n, n_options].
        values: Option values in s' that evaluate o', [n, n_options].
    """
    best = jnp.where(decision.next_choices, selector, -jnp.inf).argmax(axis=1)
    value = jnp.take_along_axis(values, best[:, None], axis=1)[:, 0]
    return decision.reward + decision.discount * value


def gap(decision: Decision, values: jax.Array) -> jax.Array:
    """Return the gap between the best and the chosen option, clipped to `MAX_GAP`, [n].

    Args:
        decision: Decisions.
        values: Option values in their first states, [n, n_options].
    """
    best = jnp.where(decision.choices, values, -jnp.inf).max(axis=1)
    chosen = jnp.take_along_axis(values, decision.option[:, None], axis=1)[:, 0]
    return jnp.clip(best - chosen, 0.0, MAX_GAP)


def _indicators(space: FactoredSpace) -> tuple[np.ndarray, np.ndarray]:
    """Return the variable and value of each indicator input; binary variables have one input."""
    pairs = [
        (j, value)
        for j, size in enumerate(space.sizes)
        for value in (range(size) if size > 2 else [1])
    ]
    variables, values = np.array(pairs, np.int32).T
    return variables, values
