"""Value learning over options with a network (Sutton, Precup, Singh 1999).

    Q(s, o) <- R + gamma^k max_o' Q(s', o') - advantage (max Q(s, .) - Q(s, o))

for an option o that started in s and ended k steps later in s', with the discounted reward R. The
last term is advantage learning: it keeps the values of states, and widens the gap between the best
option and the others, so that near ties do not mislead the agent. A slow copy of the network acts
and provides the targets; if `double`, the fast one chooses o'. Batched environments fill a replay
buffer. Their exploration rates differ: the first one is greedy, the last one acts at random.

The chapter has the settings, the options, the learner (`OptionLearner`: episodes, then learning),
the target, and the replay buffers; `networks.solve` runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from skillfocus.errors import UserError, check_ranges
from skillfocus.skills.network import NeuralPolicy, apply_network, init_network
from skillfocus.skills.skills import Skills
from skillfocus.spaces import Space
from skillfocus.tasks.task import Task
from skillfocus.worlds.jax.world import JaxWorld, where

RewardKind = Literal["proxy", "true"]
Network = Callable[[jax.Array], jax.Array]
"""Function from value indices, [n, n_variables], to option values, [n, n_options]."""


@dataclass(frozen=True)
class OptionLearning:
    """Settings of value learning over options.

    Attributes:
        steps: Primitive training steps of all environments together.
        environments: Number of parallel environments.
        reward: The task's "proxy" or "true" reward.
        interrupt: Whether the reward ends an episode at once; otherwise the current
            skill runs to its end first, so that it can undo side effects: the proxy reward is paid
            when success first holds, the true one if it holds when the option ends.
        gamma: Discount per primitive step.
        hidden: Width of the two hidden layers.
        learning_rate: Initial learning rate of Adam.
        last_rate: Final learning rate, reached by cosine decay.
        adam_epsilon: Adam's epsilon. Gradients are tiny before the first reward, and must not be
            scaled up to full steps.
        slow_rate: Step size of the target network, which also acts.
        advantage: Weight of the advantage-learning term, in [0, 1).
        double: Whether to use double Q-learning: the fast network selects the next option, the slow
            one evaluates it.
        memory: Capacity of the replay buffer, in decisions.
        rewarded: Capacity of the buffer of rewarded episodes, in decisions.
        rewarded_share: Share of each batch sampled from the latter. In stochastic worlds this is
            biased towards lucky outcomes; 0 is not.
        trace: Latest decisions of a rewarded episode that are kept.
        batch: Decisions per update.
        updates: Updates per step of all environments.
        evaluations: Number of evaluations of the greedy agent, evenly spaced.
        evaluation_episodes: Episodes per evaluation, except the last.
        final_episodes: Episodes of the last evaluation.
    """

    steps: int = 1_000_000
    environments: int = 128
    reward: RewardKind = "proxy"
    interrupt: bool = False
    gamma: float = 0.99
    hidden: int = 128
    learning_rate: float = 1e-3
    last_rate: float = 1e-4
    adam_epsilon: float = 1e-5
    slow_rate: float = 0.02
    advantage: float = 0.8
    double: bool = True
    memory: int = 100_000
    rewarded: int = 20_000
    rewarded_share: float = 0.25
    trace: int = 64
    batch: int = 512
    updates: int = 1
    evaluations: int = 20
    evaluation_episodes: int = 16
    final_episodes: int = 1000

    def __post_init__(self) -> None:
        if self.reward not in ("proxy", "true"):
            raise UserError(f"the reward must be 'proxy' or 'true', got {self.reward!r}")
        if not 0 < self.gamma <= 1:
            raise UserError(f"gamma must be in (0, 1], got {self.gamma}")
        for name in ("advantage", "rewarded_share"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        counts = (
            "steps", "environments", "hidden", "rewarded", "trace", "batch", "updates",
            "evaluations", "evaluation_episodes", "final_episodes",
        )  # fmt: skip
        check_ranges(self, {"at least 1": counts})
        if self.memory < self.environments:
            raise UserError(
                f"memory must be at least the number of environments, {self.environments}, got "
                f"{self.memory}"
            )

    @property
    def iterations(self) -> int:
        """Steps of each environment between evaluations."""
        return -(-self.steps // (self.environments * self.evaluations))


# -------------------- Options: skills first, then primitive actions


@dataclass(frozen=True)
class Options:
    """Skills as functions in JAX, and the primitive actions.

    A custom set, here one skill that repeats the first action::

        Options(lambda _, starts, values: 0 * values[:, :1], None, 1, step_limit=5, n_actions=4)

    Attributes:
        policy: `policy(weights, starts, values)` returns the action of every skill, int [n,
            n_skills]; `n_actions` means "stop". A stochastic policy also takes uniform samples from
            [0, 1), [n].
        weights: First argument of the policy: arrays, or None.
        n_skills: Number of skills.
        step_limit: Maximum steps of a skill.
        n_actions: Number of primitive actions.
        draws_actions: Whether the policy is stochastic.
    """

    policy: Callable[..., Any]
    weights: Any
    n_skills: int
    step_limit: int
    n_actions: int
    draws_actions: bool = False

    def __len__(self) -> int:
        return self.n_skills + self.n_actions

    def actions(self, key: jax.Array, starts: jax.Array, values: jax.Array) -> jax.Array:
        """Return the action of every option, int32 [n, n_options].

        Args:
            key: Source of randomness.
            starts: Value indices in which the options started, [n, n_variables].
            values: Current value indices, [n, n_variables].

        Returns:
            `n_actions` where a skill stops. One that stops where it starts is not available.
        """
        draws = (jax.random.uniform(key, (len(values),)),) if self.draws_actions else ()
        skills = self.policy(self.weights, starts, values, *draws).astype(jnp.int32)
        primitives = jnp.arange(self.n_actions, dtype=jnp.int32)
        primitives = jnp.broadcast_to(primitives, (len(values), self.n_actions))
        return jnp.concatenate([skills, primitives], axis=1)


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


class Episode(NamedTuple):
    """Episodes so far, [n] each.

    Attributes:
        steps: Their steps.
        succeeded: Whether the success condition, which earns the proxy reward, has held.
        paid: Whether the reward has been paid.
        returned: Their discounted returns.
    """

    steps: jax.Array
    succeeded: jax.Array
    paid: jax.Array
    returned: jax.Array


class Decision(NamedTuple):
    """A batch of decisions: semi-Markov transitions, complete or under way, [n] each.

    Attributes:
        start: Value indices of the option's first state, [n, n_variables].
        choices: Options that were available there, [n, n_options].
        option: The option.
        reward: Its discounted reward so far.
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


class Environments(NamedTuple):
    """A batch of environments, [n] each.

    Attributes:
        state: States of the world.
        decision: The decisions under way.
        action: The next primitive actions of their options.
        steps: Steps of the options so far.
        episode: The episodes.
    """

    state: Any
    decision: Decision
    action: jax.Array
    steps: jax.Array
    episode: Episode


class Event(NamedTuple):
    """Decisions and episodes that a step has ended, [n] each.

    Attributes:
        decided: Whether a decision is complete.
        over: Whether the episode is over.
        values: Value indices of the current state, [n, n_variables].
        episode: The episode, this step included.
    """

    decided: jax.Array
    over: jax.Array
    values: jax.Array
    episode: Episode


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
    task: Task
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

    def reset(self, key: jax.Array, n: int) -> Any:
        """Return the world's states at the start of `n` episodes."""
        world, keys = self.world, jax.random.split(key, n)
        if self.task.start is None:
            return jax.vmap(world.reset)(keys)
        start = jnp.array(self.task.start, jnp.int32)
        return jax.vmap(lambda key: world.place(key, start))(keys)

    def begin(
        self, key: jax.Array, network: Network, options: Options, exploration: jax.Array
    ) -> Environments:
        """Return environments at the start of an episode, with their first options.

        Args:
            key: Source of randomness.
            network: The option values to act by.
            options: The options.
            exploration: Probability of a random option, [n].
        """
        key_reset, key_decide = jax.random.split(key)
        state = self.reset(key_reset, len(exploration))
        values = jax.vmap(self.world.values)(state)
        actions = options.actions(jax.random.fold_in(key, 1), values, values)
        return decide(key_decide, network, state, values, actions, exploration, options.n_actions)

    def step(
        self, key: jax.Array, network: Network, options: Options, exploration: jax.Array,
        env: Environments,
    ) -> tuple[Environments, Decision, Event]:  # fmt: skip
        """Take one primitive step; see `begin` for the arguments.

        Returns:
            The environments, with new options and episodes where the last ones ended; decisions,
            valid where `Event.decided`; and the event.
        """
        gamma, stop = self.settings.gamma, options.n_actions
        n, decision, episode = len(exploration), env.decision, env.episode
        key_step, key_reset, key_decide = jax.random.split(key, 3)
        state = jax.vmap(self.world.step)(jax.random.split(key_step, n), env.state, env.action)
        initial = self.reset(key_reset, n)
        values, initial_values = (jax.vmap(self.world.values)(each) for each in (state, initial))
        going, here, there = jnp.split(  # one call of the policy for all three cases
            options.actions(
                jax.random.fold_in(key, 1),
                jnp.concatenate([decision.start, values, initial_values]),
                jnp.concatenate([values, values, initial_values]),
            ),
            3,
        )
        action = jnp.where(decision.option < options.n_skills, _pick(going, decision.option), stop)
        steps, episode_steps = env.steps + 1, episode.steps + 1
        late = episode_steps >= self.task.max_episode_steps
        ended = (action == stop) | (steps >= options.step_limit) | late

        pays = self._pays(values, ended) & ~episode.paid
        paid = episode.paid | pays
        ended = ended | (paid & self.settings.interrupt)
        terminated = ended & paid
        over = terminated | late
        reward = decision.reward + jnp.where(pays, gamma ** (steps - 1.0), 0.0)
        returned = episode.returned + jnp.where(pays, gamma ** (episode_steps - 1.0), 0.0)
        succeeded = episode.succeeded | self.task.proxy(values)
        episode = Episode(episode_steps, succeeded, paid, returned)
        event = Event(ended, over, values, episode)
        decision = decision._replace(
            reward=reward, discount=jnp.where(terminated, 0.0, gamma**steps), end=values,
            next_choices=here < stop,
        )  # fmt: skip

        state, values = where(over, (initial, initial_values), (state, values))
        actions = where(over, there, here)
        begun = decide(key_decide, network, state, values, actions, exploration, stop)
        env = where(ended, begun, Environments(state, decision, action, steps, episode))
        return env._replace(episode=where(over, begun.episode, episode)), decision, event

    def _pays(self, values: jax.Array, ended: jax.Array) -> jax.Array:
        """Return where the reward is due, whether or not it was paid before."""
        if self.settings.reward == "proxy":
            return self.task.proxy(values)
        holds = self.task.true(values)
        return holds if self.settings.interrupt else holds & ended

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
        env = self.begin(key_init, partial(self.values, parameters), options, exploration)
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
                key_step, partial(self.values, carry.slow), options, self._exploration(),
                carry.environments,
            )  # fmt: skip
            memory = remember(carry.memory, decision, event.decided)
            trace, rewarded = follow(
                carry.trace, carry.rewarded, decision, event.decided, event.over,
                event.episode.returned > 0,
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
            chosen = _pick(self.values(parameters, decision.start), decision.option)
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
        network, greedy = partial(self.values, parameters), jnp.zeros(n_episodes)
        key_init, key_steps = jax.random.split(key)
        env = self.begin(key_init, network, options, greedy)

        def step(carry: tuple[Environments, Event], key: jax.Array) -> tuple[Any, None]:
            env, first = carry
            env, _, event = self.step(key, network, options, greedy, env)
            return (env, where(first.over, first, event)), None

        no = jnp.zeros(n_episodes, bool)
        first = Event(no, no, env.decision.start, env.episode)
        keys = jax.random.split(key_steps, self.task.max_episode_steps)
        return jax.lax.scan(step, (env, first), keys)[0][1]

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


def _pick(table: jax.Array, option: jax.Array) -> jax.Array:
    """Return each row's entry for its option, [n]."""
    return jnp.take_along_axis(table, option[:, None], axis=1)[:, 0]


def decide(
    key: jax.Array, network: Network, state: Any, values: jax.Array, actions: jax.Array,
    exploration: jax.Array, stop: int,
) -> Environments:  # fmt: skip
    """Choose an available option in every environment, epsilon-greedily, at an episode's start.

    Args:
        key: Source of randomness.
        network: The option values to choose by.
        state: States of the world, [n].
        values: Their value indices, [n, n_variables].
        actions: First actions of the options, see `Options.actions`.
        exploration: Probability of a random option, [n].
        stop: The action of options that are not available.
    """
    n, choices, zero = len(exploration), actions < stop, jnp.zeros(len(exploration))
    key_explore, key_random = jax.random.split(key)
    merit = network(values)
    explores = jax.random.uniform(key_explore, (n,)) < exploration
    merit = jnp.where(explores[:, None], jax.random.uniform(key_random, merit.shape), merit)
    option = jnp.where(choices, merit, -jnp.inf).argmax(axis=1).astype(jnp.int32)
    decision = Decision(values, choices, option, zero, jnp.ones(n), values, choices)
    none, no = zero.astype(jnp.int32), zero.astype(bool)
    return Environments(state, decision, _pick(actions, option), none, Episode(none, no, no, zero))


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
    return decision.reward + decision.discount * _pick(values, best)


def gap(decision: Decision, values: jax.Array) -> jax.Array:
    """Return the gap between the best and the chosen option, clipped to `MAX_GAP`, [n].

    Args:
        decision: Decisions.
        values: Option values in their first states, [n, n_options].
    """
    best = jnp.where(decision.choices, values, -jnp.inf).max(axis=1)
    return jnp.clip(best - _pick(values, decision.option), 0.0, MAX_GAP)


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
    values = jnp.zeros((*shape, n_variables), jnp.int32)
    choices, number = jnp.zeros((*shape, n_options), bool), jnp.zeros(shape, jnp.float32)
    return Decision(values, choices, number.astype(jnp.int32), number, number, values, choices)


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
