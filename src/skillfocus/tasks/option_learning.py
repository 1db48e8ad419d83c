"""Value learning over options with a network (Sutton, Precup, Singh 1999).

    Q(s, o) <- R + gamma^k max_o' Q(s', o') - advantage (max Q(s, .) - Q(s, o))

for an option o that started in s and ended k steps later in s', with the discounted reward R. The
last term is advantage learning: it keeps the values of states, and widens the gap between the best
option and the others, so that near ties do not mislead the agent. A slow copy of the network acts
and provides the targets; if `double`, the fast one chooses o'. Batched environments fill a replay
buffer. Their exploration rates differ: the first one is greedy, the last one acts at random.

The chapter has the options, the learner (`OptionLearner`: episodes, then learning), the target, and
the replay buffers; `networks.solve` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.errors import UserError
from skillfocus.skills.network import NeuralPolicy, apply_network, init_network
from skillfocus.skills.skills import Skills
from skillfocus.spaces import Space
from skillfocus.tasks.sampled import JaxTask, OptionLearning
from skillfocus.worlds.jax.world import JaxWorld, where

# -------------------- Options: skills first, then primitive actions
#
# A skill is available in a state unless it would stop there at once.

Policy = Callable[..., Any]
"""`policy(weights, starts, values)`: the action of every skill, int [n, n_skills]; `n_actions`
means "stop". A stochastic policy also takes uniform samples from [0, 1), [n]."""


@dataclass(frozen=True)
class Options:
    """Skills as functions in JAX, and the primitive actions.

    A custom set, here one skill that repeats the first action::

        Options(lambda _, starts, values: 0 * values[:, :1], None, 1, step_limit=5, n_actions=4)

    Attributes:
        policy: The skills' policy.
        weights: First argument of the policy: arrays, or None.
        n_skills: Number of skills.
        step_limit: Maximum steps of a skill.
        n_actions: Number of primitive actions.
        draws_actions: Whether the policy is stochastic.
    """

    policy: Policy
    weights: Any
    n_skills: int
    step_limit: int
    n_actions: int
    draws_actions: bool = False

    def __len__(self) -> int:
        return self.n_skills + self.n_actions

    def skill_actions(self, key: jax.Array, starts: jax.Array, values: jax.Array) -> jax.Array:
        """Return the action of every skill, int32 [n, n_skills]; `n_actions` where it stops."""
        draws = (jax.random.uniform(key, (len(values),)),) if self.draws_actions else ()
        return self.policy(self.weights, starts, values, *draws).astype(jnp.int32)

    def first_actions(self, skill_actions: jax.Array) -> jax.Array:
        """Return the first action of every option, int32 [n, n_options].

        Args:
            skill_actions: Actions of skills in their first state; `n_actions` where a skill is not
                available.
        """
        actions = jnp.arange(self.n_actions, dtype=jnp.int32)
        primitives = jnp.broadcast_to(actions, (len(skill_actions), self.n_actions))
        return jnp.concatenate([skill_actions, primitives], axis=1)

    def initial_actions(self, key: jax.Array, values: jax.Array) -> jax.Array:
        """Return the first action of every option that starts in given states."""
        return self.first_actions(self.skill_actions(key, values, values))

    def next_action(self, option: jax.Array, skill_actions: jax.Array) -> jax.Array:
        """Return the next action of running options, int32 [n]; `n_actions` where they end.

        Args:
            option: The options, [n].
            skill_actions: Actions of skills, given the options' first states.
        """
        end = jnp.full((len(option), self.n_actions), self.n_actions, jnp.int32)
        actions = jnp.concatenate([skill_actions, end], axis=1)
        return jnp.take_along_axis(actions, option[:, None], axis=1)[:, 0]


jax.tree_util.register_dataclass(
    Options,
    data_fields=["weights"],
    meta_fields=["policy", "n_skills", "step_limit", "n_actions", "draws_actions"],
)


def _no_skills(_: Any, __: jax.Array, values: jax.Array) -> jax.Array:
    return jnp.zeros((len(values), 0), jnp.int32)


def options_of(world: JaxWorld, skills: Skills | Options | None) -> Options:
    """Return the options of an agent with skills, or with primitive actions only.

    Every mode of a skill is a separate option.

    Raises:
        UserError: If the skills have no network, or belong to another world.
    """
    n_actions = len(world.actions)
    if skills is None:
        return Options(_no_skills, None, 0, 0, n_actions)
    if isinstance(skills, Options):
        if skills.n_actions != n_actions:
            raise UserError(
                f"the skills have {skills.n_actions} actions, {world.id} has {n_actions}"
            )
        return skills
    policy = skills.policies
    if not isinstance(policy, NeuralPolicy):
        raise UserError(
            "these skills are tables, which JAX cannot run: learn them with learner=Neural()"
        )
    model = policy.model
    if (model.space, model.n_actions) != (world.space, n_actions):
        raise UserError(f"the skills belong to another world than {world.id}")
    weights = jax.tree.map(jnp.asarray, policy.weights)
    return Options(
        model.choose, weights, model.n_skills, skills.step_limit, n_actions, bool(policy.n_draws)
    )


# -------------------- Learning in batched environments that run one option after another
#
# After the k-th step of an option, the decision's reward and discount are updated,
#
#     R <- R + gamma^(k-1) r_k,    discount <- gamma^k,
#
# and when the option ends, the decision is complete. Its target is
#
#     Q(s, o) = R + discount max_o' Q(s', o'),
#
# with a discount of 0 if the episode has terminated.


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


class Carry(NamedTuple):
    """The training state."""

    key: jax.Array
    fast: Any
    slow: Any
    optimizer: Any
    memory: Memory
    rewarded: Memory
    trace: Memory
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

    @cached_property
    def optimizer(self) -> optax.GradientTransformation:
        """Adam, with a learning rate that decays until the last update."""
        settings = self.settings
        schedule = optax.cosine_decay_schedule(
            settings.learning_rate,
            settings.evaluations * settings.iterations * settings.updates,
            settings.last_rate / settings.learning_rate,
        )
        return optax.adam(schedule, eps=settings.adam_epsilon)

    # ------------------------------------------------------------------ episodes

    def begin(
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
        """Take one primitive step; see `begin` for the arguments.

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
        ended = ended | (paid & self.settings.interrupt)
        terminated = ended & paid
        over = terminated | late
        reward = env.reward + jnp.where(pays, self.settings.gamma ** (option_steps - 1.0), 0.0)
        returned = env.returned + jnp.where(pays, self.settings.gamma ** (episode_steps - 1.0), 0.0)
        succeeded = env.succeeded | self.task.success(values)
        event = Event(ended, over, succeeded, values, episode_steps, returned)
        decision = Decision(
            env.start, env.choices, env.option, reward,
            jnp.where(terminated, 0.0, self.settings.gamma**option_steps),
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
        if self.settings.reward == "proxy":
            return self.task.success(values)
        holds = self.task.true_success(values)
        return holds if self.settings.interrupt else holds & ended

    def _reset(self, key: jax.Array, n: int) -> Any:
        return jax.vmap(lambda key: self.task.reset(self.world, key))(jax.random.split(key, n))

    # ------------------------------------------------------------------ learning

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
        env = self.begin(key_init, self._network(parameters), options, exploration)
        sizes = len(self.world.space), len(options)
        slow = jax.tree.map(jnp.copy, parameters)
        memory = Memory(empty(*sizes, settings.memory), jnp.int32(0))
        rewarded = Memory(empty(*sizes, settings.rewarded), jnp.int32(0))
        n = settings.environments
        trace = Memory(empty(*sizes, n, settings.trace), jnp.zeros(n, jnp.int32))
        optimizer = self.optimizer.init(parameters)
        return Carry(key, parameters, slow, optimizer, memory, rewarded, trace, env)

    def run(self, carry: Carry, options: Options) -> tuple[Carry, jax.Array]:
        """Train until the next evaluation; return the state and the loss of each iteration."""

        def iterate(carry: Carry, _: None) -> tuple[Carry, jax.Array]:
            key, key_step, key_learn = jax.random.split(carry.key, 3)
            env, decision, event = self.step(
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
        parts = [
            (sample(key, memory, n), jnp.full(n, memory.known > 0, jnp.float32))
            for memory, key, n in (
                (carry.memory, key_any, settings.batch - n_rewarded),
                (carry.rewarded, key_rewarded, n_rewarded),
            )
        ]
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)

    def evaluate(self, key: jax.Array, parameters: Any, options: Options, n_episodes: int) -> Event:
        """Run the greedy agent; return how the first episode of `n_episodes` environments ended."""
        network, greedy = self._network(parameters), jnp.zeros(n_episodes)
        key_init, key_steps = jax.random.split(key)
        env = self.begin(key_init, network, options, greedy)

        def step(carry: tuple[Environments, Event], key: jax.Array) -> tuple[Any, None]:
            env, first = carry
            env, _, event = self.step(key, network, options, greedy, env)
            return (env, where(first.over, first, event)), None

        no = jnp.zeros(n_episodes, bool)
        first = Event(no, no, no, env.start, env.episode_steps, env.returned)
        keys = jax.random.split(key_steps, self.task.episode_length)
        return jax.lax.scan(step, (env, first), keys)[0][1]

    def _network(self, parameters: Any) -> Callable[[jax.Array], jax.Array]:
        return lambda states: self.values(parameters, states)

    def _exploration(self) -> jax.Array:
        return jnp.linspace(0.0, 1.0, self.settings.environments) ** 2


def _indicators(space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Return the variable and value of each indicator input; binary variables have one input."""
    pairs = [
        (j, value)
        for j, size in enumerate(space.sizes)
        for value in (range(size) if size > 2 else [1])
    ]
    variables, values = np.array(pairs, np.int32).T
    return variables, values


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


MAX_GAP = 0.5
"""Upper bound of the gap in the advantage term."""


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


# -------------------- Replay buffers: one for all decisions, one for those of rewarded episodes
#
# Rewards are rare at first. So each episode's decisions are recorded in a trace, which is copied to
# the second buffer when the reward is paid. A share of every batch is sampled from it.


class Memory(NamedTuple):
    """A ring buffer of decisions.

    Attributes:
        decisions: Decisions, [size] each.
        written: Number of decisions ever written.
    """

    decisions: Decision
    written: jax.Array

    @property
    def known(self) -> jax.Array:
        """Number of stored decisions."""
        return jnp.minimum(self.written, len(self.decisions.option))


def empty(n_variables: int, n_options: int, *shape: int) -> Decision:
    """Return an empty buffer of decisions, [*shape] each."""
    return Decision(
        jnp.zeros((*shape, n_variables), jnp.int32),
        jnp.zeros((*shape, n_options), bool),
        jnp.zeros(shape, jnp.int32),
        jnp.zeros(shape, jnp.float32),
        jnp.zeros(shape, jnp.float32),
        jnp.zeros((*shape, n_variables), jnp.int32),
        jnp.zeros((*shape, n_options), bool),
    )


def remember(memory: Memory, decision: Decision, complete: jax.Array) -> Memory:
    """Add decisions where `complete`, bool [n]."""
    size = len(memory.decisions.option)
    place = (memory.written + jnp.cumsum(complete) - 1) % size
    place = jnp.where(complete, place, size)  # out of range: dropped
    decisions = jax.tree.map(
        lambda kept, new: kept.at[place].set(new, mode="drop"), memory.decisions, decision
    )
    return Memory(decisions, memory.written + complete.sum(dtype=jnp.int32))


def follow(
    trace: Memory, rewarded: Memory, decision: Decision, complete: jax.Array,
    over: jax.Array, paid: jax.Array,
) -> tuple[Memory, Memory]:  # fmt: skip
    """Add decisions to traces; copy the trace of one rewarded episode, if any has ended.

    Args:
        trace: The latest decisions of every environment's episode: `n` ring buffers.
        rewarded: Buffer of decisions of rewarded episodes.
        decision: The last decision of every environment, [n] each.
        complete: Whether it is complete, bool [n].
        over: Whether its episode is over, bool [n].
        paid: Whether a reward was paid in it, bool [n].
    """
    one_each = jax.tree.map(lambda leaf: leaf[:, None], (decision, complete))
    trace = jax.vmap(remember)(trace, *one_each)
    which = (over & paid).argmax()
    mine = jax.tree.map(lambda leaf: leaf[which], trace.decisions)
    valid = (jnp.arange(len(mine.option)) < trace.written[which]) & (over & paid).any()
    written = jnp.where(over, 0, trace.written)
    return Memory(trace.decisions, written), remember(rewarded, mine, valid)


def sample(key: jax.Array, memory: Memory, n: int) -> Decision:
    """Sample decisions uniformly with replacement; zeros if the buffer is empty."""
    rows = jax.random.randint(key, (n,), 0, jnp.maximum(memory.known, 1))
    return jax.tree.map(lambda leaf: leaf[rows], memory.decisions)
