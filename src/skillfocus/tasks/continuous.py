"""Hierarchical learning in continuous worlds: PPO over skills.

Every `task.skill_steps` steps, the agent observes the world and the task and chooses a skill
(`SkillChoice`); its reward is the mean over the skill's steps. It is trained by PPO on whole
episodes (`learn_skill_task`). Skills are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skillfocus.errors import UserError
from skillfocus.learners.ppo import Updates, advantages, surrogate
from skillfocus.progress import Progress, no_progress
from skillfocus.skills.actor import ActorModel, ActorPolicy, SkillCode
from skillfocus.skills.network import apply_network, init_network
from skillfocus.skills.skills import Skills
from skillfocus.worlds.jax.continuous_tasks import ContinuousTask

# --------------------
#
# Policy head over an actor's skills: a kind of skill, and a component for each of its targets
#
#     pi(kind, z | s) = pi(kind | s)  product over the kind's slots of  pi(z_slot | s)
#
# A discrete component is sampled from a softmax. A direction is sampled as x ~ N(mu, sigma^2) and
# normalized; its density is that of x. Slots that the kind does not have are sampled too, but
# ignored.

LOG_SIGMA = -0.7
"""log sigma of directions."""


class Choice(NamedTuple):
    """A batch of chosen skills.

    Attributes:
        kind: Indices of the kinds, int32 [n].
        z: Components, [n, code.width]; 0 in slots that the kind does not have.
        sampled: Sample of every slot, [n, code.width]: one-hot, or x.
    """

    kind: jax.Array
    z: jax.Array
    sampled: jax.Array


class SkillChoice(NamedTuple):
    """Distributions over the skills of a set, from the outputs of a network."""

    code: SkillCode

    @property
    def n_outputs(self) -> int:
        """Number of outputs: one per kind, then those of z."""
        return len(self.code.kinds) + self.code.width

    def _split(self, outputs: jax.Array) -> tuple[jax.Array, list[jax.Array]]:
        """Return the logits of the kinds, and the outputs of each slot."""
        n_kinds = len(self.code.kinds)
        return outputs[:, :n_kinds], [outputs[:, n_kinds:][:, at] for at in self.code.places]

    def sample(self, key: jax.Array, outputs: jax.Array, greedy: Any = False) -> Choice:
        """Sample skills, or choose the most likely ones."""
        kinds, parts = self._split(outputs)
        key_kind, key_slots = jax.random.split(key)
        kind = jnp.where(greedy, kinds.argmax(axis=1), jax.random.categorical(key_kind, kinds))
        sampled, used = [], []
        for k, (slot, part) in enumerate(zip(self.code.slots, parts, strict=True)):
            key_slot = jax.random.fold_in(key_slots, k)
            if slot.is_discrete:
                chosen = jnp.where(
                    greedy, part.argmax(axis=1), jax.random.categorical(key_slot, part)
                )
                x = z = jax.nn.one_hot(chosen, slot.width)
            else:
                noise = jnp.where(greedy, 0.0, jax.random.normal(key_slot, part.shape))
                x = part + math.exp(LOG_SIGMA) * noise
                z = x / (jnp.linalg.norm(x, axis=1, keepdims=True) + 1e-6)
            sampled.append(x)
            used.append(z * jnp.asarray(self.code.active)[kind, k][:, None])
        return Choice(
            kind.astype(jnp.int32), jnp.concatenate(used, axis=1), jnp.concatenate(sampled, axis=1)
        )

    def log_probability(self, outputs: jax.Array, kind: jax.Array, sampled: jax.Array) -> jax.Array:
        """Return the log probability of choices, [n]."""
        kinds, parts = self._split(outputs)
        total = jnp.take_along_axis(jax.nn.log_softmax(kinds), kind[:, None], axis=1)[:, 0]
        active = jnp.asarray(self.code.active)[kind]
        for k, (slot, part) in enumerate(zip(self.code.slots, parts, strict=True)):
            mine = sampled[:, self.code.places[k]]
            if slot.is_discrete:
                log = (jax.nn.log_softmax(part) * mine).sum(axis=1)
            else:
                scaled = (mine - part) / math.exp(LOG_SIGMA)
                constant = LOG_SIGMA + 0.5 * math.log(2 * math.pi)
                log = (-0.5 * scaled**2 - constant).sum(axis=1)
            total = total + active[:, k] * log
        return total

    def entropy(self, outputs: jax.Array) -> jax.Array:
        """Return the entropy of kinds and discrete components, [n].

        The entropy of directions is constant and left out.
        """
        kinds, parts = self._split(outputs)
        share = jax.nn.softmax(kinds)
        total = -(share * jax.nn.log_softmax(kinds)).sum(axis=1)
        has_slot = share @ jnp.asarray(self.code.active)
        for k, (slot, part) in enumerate(zip(self.code.slots, parts, strict=True)):
            if slot.is_discrete:
                mine = -(jax.nn.softmax(part) * jax.nn.log_softmax(part)).sum(axis=1)
                total = total + has_slot[:, k] * mine
        return total


MAX_GRADIENT = 0.5


@dataclass(frozen=True)
class SkillAgent:
    """Settings of an agent over continuous skills.

    Attributes:
        rounds: Rounds of learning; in each, every environment runs one episode.
        environments: Number of parallel environments.
        hidden: Width of the two hidden layers.
        epochs: Epochs over the decisions of a round.
        batch: Minibatch size, in decisions.
        learning_rate: Initial learning rate of Adam; it decays linearly to a tenth.
        gamma: Discount per decision.
        gae_lambda: Lambda of generalized advantage estimation.
        clip: Clip range of the probability ratio.
        entropy: Weight of the entropy bonus.
        rounds_per_jit: Rounds per compiled scan.
    """

    rounds: int = 120
    environments: int = 64
    hidden: int = 64
    epochs: int = 8
    batch: int = 320
    learning_rate: float = 1e-3
    gamma: float = 0.97
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    rounds_per_jit: int = 10


@dataclass(frozen=True, eq=False)
class SkillTaskResult:
    """Returns of an agent during and after training.

    Attributes:
        returns: Mean return of each training round, [n_rounds].
        true_returns: The same for the true reward, [n_rounds].
        last_returns: Returns of evaluation episodes of the greedy agent, [n].
        last_true_returns: The same for the true reward, [n].
        decisions: Decisions taken in training.
    """

    returns: np.ndarray
    true_returns: np.ndarray
    last_returns: np.ndarray
    last_true_returns: np.ndarray
    decisions: int


class _Carry(NamedTuple):
    key: jax.Array
    nets: Any
    optimizer: Any
    rounds: jax.Array


class _Episodes(NamedTuple):
    """Decisions of whole episodes, [n_decisions, n] each."""

    seen: jax.Array
    kind: jax.Array
    sampled: jax.Array
    log_prob: jax.Array
    reward: jax.Array
    true_reward: jax.Array


class _AgentTrainer:
    """Training of agents for one task and layout of skills; the skills' weights are arguments."""

    def __init__(self, model: ActorModel, task: ContinuousTask, settings: SkillAgent) -> None:
        self.model, self.task, self.settings = model, task, settings
        self.world = task.make_world()
        self.choice = SkillChoice(model.code)
        self.n_decisions = task.episode_length // task.skill_steps
        self.n_inputs = self.world.observation_size + task.observation_size
        self.updates = Updates(
            settings.learning_rate, settings.epochs, settings.batch, MAX_GRADIENT
        )

    def init(self, rng: np.random.Generator) -> _Carry:
        hidden = self.settings.hidden
        nets = {
            "actor": init_network([self.n_inputs, hidden, hidden, self.choice.n_outputs], rng),
            "critic": init_network([self.n_inputs, hidden, hidden, 1], rng),
        }
        nets = jax.tree.map(jnp.asarray, nets)
        key = jax.random.key(int(rng.integers(2**31)))
        return _Carry(key, nets, self.updates.init(nets), jnp.int32(0))

    # ------------------------------------------------------------------ episodes

    def episodes(self, key: jax.Array, actor: Any, skill: Any, n: int, greedy: bool) -> _Episodes:
        """Run whole episodes.

        Args:
            key: Source of randomness.
            actor: The agent's network.
            skill: Weights of the skills.
            n: Number of episodes.
            greedy: Whether to choose the most likely skills.
        """
        world, task = self.world, self.task
        key_reset, key_task, key_run = jax.random.split(key, 3)
        state = jax.vmap(world.reset)(jax.random.split(key_reset, n))
        first = jax.vmap(world.observation)(state)
        memory = jax.vmap(task.reset)(jax.random.split(key_task, n), first)

        def decide(carried: Any, key: jax.Array) -> Any:
            state, memory = carried
            key_sample, key_skill = jax.random.split(key)
            seen = self._seen(skill, state, memory)
            outputs = apply_network(actor, seen)
            chosen = self.choice.sample(key_sample, outputs, greedy)
            log_prob = self.choice.log_probability(outputs, chosen.kind, chosen.sampled)
            state, memory, reward, true_reward = self._run_skill(
                key_skill, skill, state, memory, chosen.kind, chosen.z
            )
            step = _Episodes(seen, chosen.kind, chosen.sampled, log_prob, reward, true_reward)
            return (state, memory), step

        keys = jax.random.split(key_run, self.n_decisions)
        return jax.lax.scan(decide, (state, memory), keys)[1]

    def _seen(self, skill: Any, state: Any, memory: Any) -> jax.Array:
        shown = jax.vmap(self.world.observation)(state)
        shown = (shown - skill["shift"]) / skill["scale"]
        return jnp.concatenate([shown, jax.vmap(self.task.observation)(memory)], axis=1)

    def _run_skill(
        self, key: jax.Array, skill: Any, state: Any, memory: Any, kind: jax.Array, z: jax.Array
    ) -> tuple[Any, Any, jax.Array, jax.Array]:
        """Run a skill in every environment; return states and mean rewards."""
        world, task, model = self.world, self.task, self.model
        n = len(kind)
        mask = jnp.asarray(model.code.masks)[kind]
        start = jax.vmap(world.values)(state)

        def step(carried: Any, at: tuple[jax.Array, jax.Array]) -> Any:
            (state, memory, before), (key, number) = carried, at
            values = jax.vmap(world.values)(state)
            time = jnp.full(n, jnp.minimum(number / model.step_limit, 1.0))
            action = model.mean_action(skill, before, values, start, mask, z, time)
            key_step, key_task = jax.random.split(key)
            state = jax.vmap(world.step)(jax.random.split(key_step, n), state, action)
            after = jax.vmap(world.observation)(state)
            done = jax.vmap(task.step)(jax.random.split(key_task, n), memory, before, after)
            return (state, done.state, after), (done.reward, done.true_reward)

        seen = jax.vmap(world.observation)(state)
        at = (jax.random.split(key, task.skill_steps), jnp.arange(task.skill_steps))
        (state, memory, _), rewards = jax.lax.scan(step, (state, memory, seen), at)
        reward, true_reward = (each.mean(axis=0) for each in rewards)
        return state, memory, reward, true_reward

    # ------------------------------------------------------------------ learning

    def run(self, carry: _Carry, skill: Any, n_rounds: int) -> tuple[_Carry, Any]:
        """Run `n_rounds` rounds; return the mean returns of each."""
        return jax.lax.scan(lambda carry, _: self._round(carry, skill), carry, None, n_rounds)

    def _round(self, carry: _Carry, skill: Any) -> tuple[_Carry, Any]:
        settings = self.settings
        key, key_run, key_learn = jax.random.split(carry.key, 3)
        done = self.episodes(key_run, carry.nets["actor"], skill, settings.environments, False)
        values = apply_network(carry.nets["critic"], done.seen)[:, :, 0]
        advantage, returns = advantages(done.reward, values, settings.gamma, settings.gae_lambda)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        data = (done.seen, done.kind, done.sampled, done.log_prob, advantage, returns)
        data = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), data)
        nets, optimizer, _ = self.updates.run(
            key_learn, carry.nets, carry.optimizer, data, self._loss, carry.rounds / settings.rounds
        )
        report = done.reward.sum(axis=0).mean(), done.true_reward.sum(axis=0).mean()
        return _Carry(key, nets, optimizer, carry.rounds + 1), report

    def _loss(self, nets: Any, some: Any, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        del key
        seen, kind, sampled, log_prob, advantage, returns = some
        settings = self.settings
        outputs = apply_network(nets["actor"], seen)
        now = self.choice.log_probability(outputs, kind, sampled)
        gained = surrogate(now, log_prob, advantage, settings.clip).mean()
        error = apply_network(nets["critic"], seen)[:, 0] - returns
        spread = jax.lax.stop_gradient(jnp.sqrt(jnp.mean(returns**2)) + 1e-3)
        value_loss = jnp.mean((error / spread) ** 2)
        entropy = self.choice.entropy(outputs).mean()
        return 0.5 * value_loss - gained - settings.entropy * entropy, entropy


def learn_skill_task(
    skills: Sequence[Skills],
    task: ContinuousTask,
    seeds: Sequence[int],
    settings: SkillAgent | None = None,
    *,
    episodes: int = 100,
    progress: Progress = no_progress,
) -> list[SkillTaskResult]:
    """Learn a task over skills, one agent per set of skills, in one batch.

    Args:
        skills: Sets of skills of an actor, of the same world, objective and kinds.
        task: The task.
        seeds: One seed per set.
        settings: Settings of the agents.
        episodes: Evaluation episodes of the learned agents.
        progress: Progress callback.

    Raises:
        UserError: If skills and task are incompatible.
    """
    settings = settings or SkillAgent()
    if not skills or len(skills) != len(seeds):
        raise UserError(
            f"{len(skills)} sets of skills, but {len(seeds)} seeds: give one seed per set"
        )
    policies = [each.policies for each in skills if isinstance(each.policies, ActorPolicy)]
    for each in skills:
        fits = isinstance(each.world, task.world) and len(policies) == len(skills)
        if not fits or any(p.model.code != policies[0].model.code for p in policies):
            raise UserError(
                f"{task.name} is a task of {task.world.id} and needs sets of skills of the same "
                f"kinds, got {each!r}"
            )
    trainer = _AgentTrainer(policies[0].model, task, settings)
    names = ("actor", "shift", "scale")
    weights = _stack([{name: each.weights[name] for name in names} for each in policies])
    carry = _stack([trainer.init(np.random.default_rng(seed)) for seed in seeds])
    run = jax.jit(jax.vmap(trainer.run, in_axes=(0, 0, None)), static_argnums=2)
    reports = []
    for done in range(0, settings.rounds, settings.rounds_per_jit):
        progress(done / settings.rounds, f"round {done:,} of {settings.rounds:,}")
        n_rounds = min(settings.rounds_per_jit, settings.rounds - done)
        carry, report = run(carry, weights, n_rounds)
        reports.append(jax.tree.map(np.asarray, report))
    returns, true_returns = (np.concatenate(each, axis=1) for each in zip(*reports, strict=True))

    def evaluate(carry: _Carry, skill: Any) -> Any:
        last = trainer.episodes(carry.key, carry.nets["actor"], skill, episodes, True)
        return last.reward.sum(axis=0), last.true_reward.sum(axis=0)

    last, last_true = jax.tree.map(np.asarray, jax.jit(jax.vmap(evaluate))(carry, weights))
    decisions = settings.rounds * settings.environments * trainer.n_decisions
    each = zip(returns, true_returns, last, last_true, strict=True)
    return [SkillTaskResult(*own, decisions) for own in each]


def _stack(trees: list[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
