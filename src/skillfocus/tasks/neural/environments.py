"""Batched environments that run one option after another.

After the k-th step of an option, the decision's reward and discount are updated,

    R <- R + gamma^(k-1) r_k,    discount <- gamma^k,

and when the option ends, the decision is complete. Its target is

    Q(s, o) = R + discount max_o' Q(s', o'),

with a discount of 0 if the episode has terminated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from skillfocus.tasks.neural.options import Options
from skillfocus.tasks.neural.task import JaxTask, RewardKind
from skillfocus.worlds.jax.pytrees import where
from skillfocus.worlds.jax.world import JaxWorld


class Environments(NamedTuple):
    """A batch of environments with their current options, [n] each.

    Attributes:
        state: The world's states.
        start: Value indices of the option's first state, [n, n_variables].
        choices: Options that were available there, [n, n_options].
        option: The current option.
        action: Its next primitive action.
        reward: Its discounted reward so far.
        option_steps: Its steps so far.
        episode_steps: Steps of the episode so far.
        succeeded: Whether the success condition has held in the episode.
        paid: Whether the reward has been paid in the episode.
        returned: Discounted return of the episode so far.
    """

    state: Any
    start: jax.Array
    choices: jax.Array
    option: jax.Array
    action: jax.Array
    reward: jax.Array
    option_steps: jax.Array
    episode_steps: jax.Array
    succeeded: jax.Array
    paid: jax.Array
    returned: jax.Array


class Decision(NamedTuple):
    """A batch of completed decisions: semi-Markov transitions, [n] each.

    Attributes:
        start: Value indices of the option's first state, [n, n_variables].
        choices: Options that were available there, [n, n_options].
        option: The option.
        reward: Its discounted reward.
        discount: gamma^k, or 0 if the episode has terminated.
        end: Value indices of its last state, [n, n_variables].
        next_choices: Options that are available there, [n, n_options].
    """

    start: jax.Array
    choices: jax.Array
    option: jax.Array
    reward: jax.Array
    discount: jax.Array
    end: jax.Array
    next_choices: jax.Array


class Event(NamedTuple):
    """Decisions and episodes that a step has ended, [n] each.

    Attributes:
        decided: Whether a decision is complete.
        over: Whether the episode is over.
        succeeded: Whether the success condition held at some step of the episode.
        values: Value indices of the current state, [n, n_variables].
        steps: Steps of the episode.
        returned: Its discounted return.
    """

    decided: jax.Array
    over: jax.Array
    succeeded: jax.Array
    values: jax.Array
    steps: jax.Array
    returned: jax.Array


@dataclass(frozen=True)
class OptionRunner:
    """Runs options in many environments of one task.

    Attributes:
        world: The world.
        task: The task.
        reward: The task's "proxy" or "true" reward.
        gamma: Discount per primitive step.
        interrupt: Whether the reward ends an episode at once. Otherwise the current skill runs to
            its end first, so that it can undo side effects: the proxy reward is paid when success
            first holds, the true one if it holds when the option ends.
    """

    world: JaxWorld
    task: JaxTask
    reward: RewardKind
    gamma: float
    interrupt: bool

    def init(
        self, key: jax.Array, network: Any, options: Options, exploration: jax.Array
    ) -> Environments:
        """Return environments at the start of an episode, with their first options.

        Args:
            key: Source of randomness.
            network: Function from value indices to option values, [n, n_options].
            options: The options.
            exploration: Probability of a random option, [n].
        """
        key_reset, key_decide = jax.random.split(key)
        state = self._reset(key_reset, len(exploration))
        values = jax.vmap(self.world.values)(state)
        first = options.initial_actions(jax.random.fold_in(key, 1), values)
        option, action = decide(key_decide, network(values), first, exploration, options)
        zero, no = jnp.zeros(len(values)), jnp.zeros(len(values), bool)
        none = zero.astype(jnp.int32)
        return Environments(
            state, values, first < options.n_actions, option, action, zero, none, none, no, no, zero
        )

    def step(
        self, key: jax.Array, network: Any, options: Options, exploration: jax.Array,
        env: Environments,
    ) -> tuple[Environments, Decision, Event]:  # fmt: skip
        """Take one primitive step; see `init` for the arguments.

        Returns:
            The environments, with new options and episodes where the last ones ended; decisions,
            valid where `Event.decided`; and the event.
        """
        n = len(exploration)
        key_step, key_reset, key_decide = jax.random.split(key, 3)
        state = jax.vmap(self.world.step)(jax.random.split(key_step, n), env.state, env.action)
        values = jax.vmap(self.world.values)(state)
        option_steps, episode_steps = env.option_steps + 1, env.episode_steps + 1
        initial = self._reset(key_reset, n)
        initial_values = jax.vmap(self.world.values)(initial)
        going, here, there = jnp.split(  # one call of the policy for all three cases
            options.skill_actions(
                jax.random.fold_in(key, 1),
                jnp.concatenate([env.start, values, initial_values]),
                jnp.concatenate([values, values, initial_values]),
            ),
            3,
        )
        action = options.next_action(env.option, going)
        late = episode_steps >= self.task.episode_length
        ended = (action == options.n_actions) | (option_steps >= options.step_limit) | late

        pays = self._pays(values, ended) & ~env.paid
        paid = env.paid | pays
        ended = ended | (paid & self.interrupt)
        terminated = ended & paid
        over = terminated | late
        reward = env.reward + jnp.where(pays, self.gamma ** (option_steps - 1.0), 0.0)
        returned = env.returned + jnp.where(pays, self.gamma ** (episode_steps - 1.0), 0.0)
        succeeded = env.succeeded | self.task.success(values)
        event = Event(ended, over, succeeded, values, episode_steps, returned)
        decision = Decision(
            env.start, env.choices, env.option, reward,
            jnp.where(terminated, 0.0, self.gamma**option_steps),
            values, options.first_actions(here) < options.n_actions,
        )  # fmt: skip

        state, values = where(over, (initial, initial_values), (state, values))
        first = options.first_actions(where(over, there, here))
        chosen = decide(key_decide, network(values), first, exploration, options)
        env = Environments(
            state,
            where(ended, values, env.start),
            where(ended, first < options.n_actions, env.choices),
            jnp.where(ended, chosen[0], env.option),
            jnp.where(ended, chosen[1], action),
            jnp.where(ended, 0.0, reward),
            jnp.where(ended, 0, option_steps),
            jnp.where(over, 0, episode_steps),
            succeeded & ~over,
            paid & ~over,
            jnp.where(over, 0.0, returned),
        )
        return env, decision, event

    def _pays(self, values: jax.Array, ended: jax.Array) -> jax.Array:
        """Return where the reward is due, whether or not it was paid before."""
        if self.reward == "proxy":
            return self.task.success(values)
        holds = self.task.true_success(values)
        return holds if self.interrupt else holds & ended

    def _reset(self, key: jax.Array, n: int) -> Any:
        return jax.vmap(lambda key: self.task.reset(self.world, key))(jax.random.split(key, n))


def decide(
    key: jax.Array, values: jax.Array, first: jax.Array, exploration: jax.Array, options: Options
) -> tuple[jax.Array, jax.Array]:
    """Choose an available option, epsilon-greedily.

    Args:
        key: Source of randomness.
        values: Option values, [n, n_options].
        first: First actions of the options, see `Options.first_actions`.
        exploration: Probability of a random option, [n].
        options: The options.

    Returns:
        Options and their first actions, int32 [n] each.
    """
    key_explore, key_random = jax.random.split(key)
    available = first < options.n_actions
    explores = jax.random.uniform(key_explore, exploration.shape) < exploration
    merit = jnp.where(explores[:, None], jax.random.uniform(key_random, values.shape), values)
    option = jnp.where(available, merit, -jnp.inf).argmax(axis=1).astype(jnp.int32)
    return option, jnp.take_along_axis(first, option[:, None], axis=1)[:, 0]
