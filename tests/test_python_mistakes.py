"""Plausible mistakes with the Python interface: each is one sentence, or simply works."""


# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false

from __future__ import annotations

import math

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv
from skillfocus.objectives.objective import Objective, Reward

W = sf.make("FourRooms-v0", drawing="#######\n#...T.#\n#######", slip=0.0, step_limit=12)
Q = sf.Planning(rounds=2)
OBJ = sf.focused(sf.vic())
S = sf.discover(W, OBJ, seed=0, learner=Q)
M = S.mdp
T = sf.make_task(M, "t", (0, 0), 20, lambda s: s["tool_1"] == 1)
Out = sf.Outcome
BEST = sf.metrics.best_focus
REACH = sf.focused(sf.reach())
rng = np.random.default_rng(0)


def disc(w=W, o=OBJ, **k):
    return sf.discover(w, o, **{"seed": 0, "learner": Q, **k})


def reward(formula, **k):
    return sf.focused(Objective("own", Reward("own", formula, uses_start=False, **k)))


class Lamp(sf.World):
    id = "Lamp-v0"
    actions = ("press", "wait")
    space = sf.Space((sf.Variable("on", (0, 1)), sf.Variable("b", (0, 1))))
    out = None

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        if self.out is not None:
            return self.out(state, action)
        on, b = state
        return [Out(1.0, (1 - on, b) if action == 0 else (on, 1 - b))]


def lamp(out=None, **k):
    world = Lamp()
    for name, value in {"out": out, **k}.items():
        setattr(world, name, value)
    return world


class Obj:
    actions = ("a", "b")

    def __init__(self):
        self.x = 0


# fmt: off
MISTAKES = [
    ('discover unknown name', lambda: disc("for-rooms"), "unknown world 'for-rooms': did you mean 'four-rooms'? (known:"),
    ('objective unknown name', lambda: disc(o="focus-vic"), "unknown objective 'focus-vic': did you mean 'focused-vic'?"),
    ('world None', lambda: disc(None), 'None is not a World: subclass skillfocus.World, or use'),
    ('world class', lambda: disc(Lamp), 'Lamp is a class: pass a world, such as Lamp()'),
    ('world int', lambda: disc(3), '3 is not a World: subclass skillfocus.World, or use'),
    ('objective reversed', lambda: disc(OBJ, W), "Objective(nam...odes='single') is not a World: subclass"),
    ('vic prior', lambda: sf.vic(prior="uniforn"), "prior is 'uniforn'; it must be 'uniform', 'learned' or a"),
    ('vic prior 2', lambda: sf.vic(prior=2.0), "prior is 2.0; it must be 'uniform', 'learned' or a probability"),
    ('seed str', lambda: disc(seed="0"), "seed must be a non-negative integer, got '0'; try seed=0"),
    ('seed float', lambda: disc(seed=0.5), 'seed must be a non-negative integer, got 0.5'),
    ('seed neg', lambda: disc(seed=-1), 'seed must be a non-negative integer, got -1'),
    ('seed None', lambda: disc(seed=None), 'seed must be a non-negative integer, got None'),
    ('seed bool', lambda: disc(seed=True), 'seed must be a non-negative integer, got True'),
    ('seed rng', lambda: disc(seed=rng), 'seed must be a non-negative integer, got '),
    ('learner unknown str', lambda: disc(learner="plannin"), "unknown learner 'plannin': did you mean 'planning'? (known:"),
    ('rounds 0', lambda: disc(learner=sf.Planning(rounds=0)), 'rounds, sweeps, rollouts and final_sweeps must be at least 1'),
    ('gamma 2', lambda: disc(learner=sf.Planning(gamma=2.0)), 'gamma is 2.0; it must be above 0 and at most 1'),
    ('gamma nan', lambda: disc(learner=sf.Planning(gamma=float("nan"))), 'gamma is nan; it must be above 0 and at most 1'),
    ('episodes -1', lambda: sf.QLearning(episodes=-1), 'episodes and block must be at least 1'),
    ('ql gamma', lambda: sf.QLearning(gamma=-1), 'gamma is -1; it must be above 0 and at most 1'),
    ('gae lambda', lambda: sf.Actor(gae_lambda=2.0), 'gae_lambda is 2.0; it must be between 0 and 1'),
    ('targets neg', lambda: disc(targets={"tool_1":-2}), "target 'tool_1' has -2 skills; give it at least 1"),
    ('targets unknown', lambda: disc(targets={"tool1":2}), "unknown variable 'tool1': did you mean 'tool_1'? (known:"),
    ('n_skills 0', lambda: disc(n_skills=0), '0 skills are too few: the goals of FourRooms-v0 take 2, so ask for 2 or more'),
    ('mdp other world', lambda: disc(mdp=sf.tabulate(lamp())), 'mdp is not of FourRooms-v0: pass mdp=tabulate(world), or none'),
    ('discover_many seeds str', lambda: list(sf.discover_many(W,OBJ,"01",learner=Q)), "seed must be a non-negative integer, got '0'; try seed=0"),
    ('rollout skill name', lambda: S.rollout("tool_1",(0,0),rng), "there is no skill 'tool_1': skills are numbered 0 to 6 (for"),
    ('rollout skill range', lambda: S.rollout(99,(0,0),rng), 'there is no skill 99: skills are numbered 0 to 6'),
    ('rollout labels tuple', lambda: S.rollout(0,((1,2),0),rng), '((1, 2), 0) is not a state: a state has 2 value indices below'),
    ('rollout labels list', lambda: S.rollout(0,["off",0],rng), "('off', 0) is not a state: a state has 2 value indices below"),
    ('rollout short state', lambda: S.rollout(0,(0,),rng), '(0,) is not a state: a state has 2 value indices below (5, 2);'),
    ('rollout float state', lambda: S.rollout(0,(0.7,0),rng), '(0.7, 0) is not a state: a state has 2 value indices below (5,'),
    ('rollout int state', lambda: S.rollout(0,5,rng), '5 is not a state: a state has 2 value indices below (5, 2); to'),
    ('rollout None state', lambda: S.rollout(0,None,rng), 'None is not a state: a state has 2 value indices below (5, 2);'),
    ('rollout str state', lambda: S.rollout(0,"start",rng), "'start' is not a state: a state has 2 value indices below (5,"),
    ('run lengths', lambda: S.run([0,1],[0],rng), '2 skills cannot run from 1 starts: give one each'),
    ('action skill', lambda: S.action(99,(0,0),(0,0)), 'there is no skill 99: skills are numbered 0 to 6'),
    ('action mode', lambda: S.action(0,(0,0),(0,0),mode=7), 'skill 0 has 1 modes, so no mode 7'),
    ('policy bad state', lambda: S.policy(0)((99,0)), '(99, 0) is not a state: a state has 2 value indices below (5,'),
    ('policy str', lambda: S.policy("x"), "there is no skill 'x': skills are numbered 0 to 6"),
    ('policy_of', lambda: S.policy_of(99), 'there is no skill 99: skills are numbered 0 to 6'),
    ('sf.view empty', lambda: sf.view([]), 'name at least one file of skills'),
    ('make setting', lambda: sf.make("four-rooms",slipp=0.1), "four-rooms does not take these settings: got an unexpected keyword argument 'slipp' (it takes: drawing, slip, step_limit)"),
    ('tabulate name', lambda: sf.tabulate("four-rooms"), "'four-rooms' is not a World; sf.make makes one from a name:"),
    ('tabulate None', lambda: sf.tabulate(None), 'None is not a World: subclass skillfocus.World, or use'),
    ('tabulate class', lambda: sf.tabulate(Lamp), 'Lamp is a class: pass a world, such as Lamp()'),
    ('side_effects starts str', lambda: sf.metrics.side_effects(S,"fairr"), "starts must be 'fair', 'all' or an array of states, got 'fairr'"),
    ('side_effects starts labels', lambda: sf.metrics.side_effects(S,[{"position":(1,1)}]), "starts must be 'fair', 'all' or an array of states, got"),
    ('side_effects starts tuples', lambda: sf.metrics.side_effects(S,[(0,0)]), "starts must be 'fair', 'all' or an array of states, got [(0, 0)]"),
    ('side_effects starts range', lambda: sf.metrics.side_effects(S,np.array([999])), 'starts must be numbers of states, 0 to 9'),
    ('space.state unknown', lambda: W.space.state(tool1=1), "unknown variable 'tool1': did you mean 'tool_1'? (known:"),
    ('space.state value', lambda: W.space.state(tool_1=7), "tool_1 has no value 7; it has 0, 1"),
    ('space.state unhashable', lambda: W.space.state(tool_1=[1]), "tool_1 has no value [1]; it has 0, 1"),
    ('world.state list pos', lambda: W.state(position=[1,2]), "position has no value [1, 2]; it has (1, 1), "),
    ('space.labels short', lambda: W.space.labels((0,)), '(0,) is not a state: a state has 2 value indices below (5, 2);'),
    ('space.labels range', lambda: W.space.labels((0,9)), '(0, 9) is not a state: a state has 2 value indices below (5,'),
    ('index int', lambda: W.space.index(0), "unknown variable '0' (known: position, tool_1)"),
    ('mdp.state range', lambda: M.state(9999), 'there is no state 9999: states are numbered 0 to 9'),
    ('Variable values str', lambda: sf.Variable("a","off"), "the values of variable 'a' must be a tuple, such as (0, 1), got"),
    ('Variable unhashable', lambda: sf.Variable("a",([1],[2])), "variable 'a' has the value [1], which cannot be hashed: use a"),
    ('Variable int values', lambda: sf.Variable("a",3), "the values of variable 'a' must be a tuple, such as (0, 1), got"),
    ('Variable name int', lambda: sf.Variable(1,(0,1)), 'the name of a variable must be text, got 1'),
    ('Variable name empty', lambda: sf.Variable("",(0,1)), "the name of a variable must be text, got ''"),
    ('Variable scale nan', lambda: sf.Variable("a",(0,1),scale=float("nan")), "variable 'a' has scale nan; it must be positive"),
    ('Variable nan value', lambda: sf.Variable("a",(0.0,float("nan"))), "variable 'a' has the value NaN, which no state can name"),
    ('prob sum', lambda: disc(lamp(lambda s,a:[Out(0.5,s)])), "Lamp-v0: the outcomes of 'press' in state {'on': 0, 'b': 0}"),
    ('prob neg', lambda: disc(lamp(lambda s,a:[Out(1.5,s),Out(-0.5,(1,1))])), "Lamp-v0: the outcomes of 'press' in state {'on': 0, 'b': 0}"),
    ('prob nan', lambda: disc(lamp(lambda s,a:[Out(float("nan"),s)])), "Lamp-v0: the outcomes of 'press' in state {'on': 0, 'b': 0}"),
    ('prob str', lambda: disc(lamp(lambda s,a:[Out("1",s)])), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('outcomes empty', lambda: disc(lamp(lambda s,a:[])), "Lamp-v0: the outcomes of 'press' in state {'on': 0, 'b': 0}"),
    ('outcomes None', lambda: disc(lamp(lambda s,a:None)), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('outcomes state only', lambda: disc(lamp(lambda s,a:s)), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('outcomes single outcome', lambda: disc(lamp(lambda s,a:Out(1.0,s))), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('outcomes plain tuples', lambda: disc(lamp(lambda s,a:[(1.0,s)])), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('outcomes generator', lambda: disc(lamp(lambda s,a:(Out(1.0,s) for _ in range(1)))), 'no action changes anything in Lamp-v0, so skills have no targets'),
    ('outcome swapped', lambda: disc(lamp(lambda s,a:[Out(s,1.0)])), 'Lamp-v0: transition must return a list such as [sf.Outcome(1.0,'),
    ('state labels', lambda: disc(lamp(lambda s,a:[Out(1.0,("on","x"))])), "Lamp-v0: ('on', 'x') is not a state: a state has 2 value"),
    ('state dict', lambda: disc(lamp(lambda s,a:[Out(1.0,{"on":1,"b":0})])), "Lamp-v0: ('on', 'b') is not a state: a state has 2 value"),
    ('state out of range', lambda: disc(lamp(lambda s,a:[Out(1.0,(5,0))])), 'Lamp-v0: (5, 0) is not a state: a state has 2 value indices'),
    ('state float', lambda: disc(lamp(lambda s,a:[Out(1.0,(0.5,0))])), 'Lamp-v0: (0.5, 0) is not a state: a state has 2 value indices'),
    ('state numpy', lambda: disc(lamp(lambda s,a:[Out(1.0,np.array(s))])), 'no action changes anything in Lamp-v0, so skills have no targets'),
    ('state unhashable in tuple', lambda: disc(lamp(lambda s,a:[Out(1.0,([0],0))])), 'Lamp-v0: ([0], 0) cannot be a state: it cannot be hashed'),
    ('states empty', lambda: disc(type("E",(Lamp,),{"states":lambda self:[]})()), 'Lamp-v0 names no state to start from'),
    ('states None', lambda: disc(type("E",(Lamp,),{"states":lambda self:None})()), 'Lamp-v0: states() must return a list of states, got None'),
    ('states single', lambda: disc(type("E",(Lamp,),{"states":lambda self:(0,0)})()), 'Lamp-v0: states() must return a list of states, such as [(0,'),
    ('actions str', lambda: disc(lamp(actions="ab")), 'Lamp needs actions, a tuple'),
    ('actions int', lambda: disc(lamp(actions=2)), 'Lamp needs actions, a tuple'),
    ('actions missing', lambda: disc(type("E",(sf.World,),{"id":"e","space":Lamp.space,"states":Lamp.states,"transition":Lamp.transition})()), 'E needs actions, a tuple'),
    ('space missing', lambda: disc(type("E",(sf.World,),{"id":"e","actions":("a",),"states":Lamp.states,"transition":Lamp.transition})()), 'E needs space, a Space'),
    ('id missing', lambda: disc(type("E",(sf.World,),{"space":Lamp.space,"actions":("a","b"),"out":None,"states":Lamp.states,"transition":Lamp.transition})()), 'E needs id, a str'),
    ('reward raises', lambda: disc(o=reward(lambda c,s,v: 1/0)), 'the reward of own for component 0 of tool_1 raises'),
    ('reward nan', lambda: disc(o=reward(lambda c,s,v: float("nan"))), 'the reward of own for component 0 of tool_1 is nan where'),
    ('reward inf', lambda: disc(o=reward(lambda c,s,v: float("inf"))), 'the reward of own for component 0 of tool_1 is inf where'),
    ('reward str', lambda: disc(o=reward(lambda c,s,v: "a")), 'the formula <lambda> cannot be compiled (No implementation of'),
    ('reward None', lambda: disc(o=reward(lambda c,s,v: None)), 'the formula <lambda> cannot be compiled (No implementation of'),
    ('reward args', lambda: disc(o=reward(lambda c: 1.0)), 'the formula <lambda> cannot be compiled (Cannot bind'),
    ('reward some nan', lambda: disc(o=reward(lambda c,s,v: 1.0 if v==c else float("nan"))), 'the reward of own for component 0 of tool_1 is nan where'),
    ('penalty nan', lambda: disc(o=sf.focused(sf.vic(),penalty=sf.Penalty("p",1.0,lambda sp,a,b,w: np.full(len(a),np.nan)))), "the penalty p is nan from {'position': (1, 1), 'tool_1': 0} to"),
    ('penalty shape', lambda: disc(o=sf.focused(sf.vic(),penalty=sf.Penalty("p",1.0,lambda sp,a,b,w: 1.0))), 'the penalty p must return one number per pair of states, an'),
    ('penalty raises', lambda: disc(o=sf.focused(sf.vic(),penalty=sf.Penalty("p",1.0,lambda sp,a,b,w: 1/0))), 'the penalty p does not work: ZeroDivisionError: division by zero'),
    ('penalty negative', lambda: disc(o=sf.focused(sf.vic(),penalty=sf.Penalty("p",1.0,lambda sp,a,b,w: -np.ones(len(a))))), "the penalty p is -1.0 from {'position': (1, 1), 'tool_1': 0} to"),
    ('make_task KeyError', lambda: sf.make_task(M,"t",(0,0),20,lambda s:s["tool1"]), 'the condition of the task t does not work in the state'),
    ('make_task attr', lambda: sf.make_task(M,"t",(0,0),20,lambda s:s.tool_1), 'the condition of the task t does not work in the state'),
    ('make_task never', lambda: sf.make_task(M,"t",(0,0),20,lambda s:False), 'no state accomplishes the task t: check its conditions'),
    ('make_task array', lambda: sf.make_task(M,"t",(0,0),20,lambda s:np.array([1,2])==1), 'the condition of the task t does not work in the state'),
    ('task_of lamp', lambda: sf.task_of(lamp(), sf.tabulate(lamp())), "Lamp-v0 has no task of its own; name a condition, such as task='on=1', or make one with make_task"),
    ('solve with the skills twice', lambda: sf.solve(S, T, S, seed=0), "solve takes the skills once"),
    ('solve an unknown task', lambda: sf.solve(S, "tuools", seed=0), "unknown task 'tuools': did you mean 'tools'?"),
    ('solve an unknown variable', lambda: sf.solve(S, "tool1=1", seed=0), "unknown variable 'tool1': did you mean 'tool_1'?"),
    ('solve an unknown value', lambda: sf.solve(S, "tool_1=7", seed=0), "unknown value of tool_1 '7' (known: 0, 1)"),
    ('solve without a condition', lambda: sf.solve(S, {}, seed=0), "accomplished everywhere"),
    ('solve what is accomplished', lambda: sf.solve(S, "tool_1=1", seed=0, start="tool_1=1"), "is accomplished where it starts"),
    ('solve what cannot be done', lambda: sf.solve(S, "tool_1=0", seed=0, start="tool_1=1"), "cannot be accomplished within 96 steps"),
    ('solve seed str', lambda: sf.solve(M,T,S,seed="0"), "seed must be a non-negative integer, got '0'; try seed=0"),
    ('solve reward', lambda: sf.solve(M,T,S,seed=0,reward="treu"), "the reward must be 'true' or 'proxy', got 'treu'"),
    ('SMDP alpha nan', lambda: sf.SMDPQLearning(alpha=float("nan")), 'alpha must be in (0, 1], got nan'),
    ('SMDP decay nan', lambda: sf.SMDPQLearning(epsilon_decay=float("nan")), 'epsilon_decay is nan; it must be 0 or more'),
    ('optimum kind', lambda: sf.optimum(M,T,"x"), "the reward must be 'true' or 'proxy', got 'x'"),
    ('SkillEnv start int', lambda: SkillEnv(S, T, start=3), '3 is not a state: a state has 2 value indices below (5, 2); to'),
    ('WorldEnv None', lambda: WorldEnv(None), 'None is not a World: subclass skillfocus.World, or use'),
    ('WorldEnv skills', lambda: WorldEnv(S), '<7 focused-vi...ms-v0, seed 0> is not a World: subclass'),
    ('Vector step ragged', lambda: (lambda e:(e.reset(),e.step([[0],[1,2]])))(SkillVectorEnv(S,T,2)), 'step takes 2 actions, one per episode'),
    ('check_world name', lambda: sf.testing.check_world("four-rooms"), "'four-rooms' is not a World; sf.make makes one from a name:"),
    ('check_world class', lambda: sf.testing.check_world(Lamp), 'Lamp is a class: pass a world, such as Lamp()'),
    ('check_objective fn', lambda: sf.testing.check_objective(sf.vic), ''),
    ('best_focus unknown', lambda: BEST(M, ["tool"], [0], 5), "unknown variable 'tool': did you mean 'tool_1'?"),
    ('best_focus restore', lambda: BEST(M, [1], [0], 5, "none"), "unknown kind of restoring 'none' (known: all, reversible)"),
    ('nothing changes', lambda: disc(lamp(lambda s, a: [Out(1.0, s)])), 'no action changes anything in Lamp-v0, so skills have no targets'),
    ('from_gymnasium None', lambda: sf.adapters.from_gymnasium(None), 'from_gymnasium takes an environment or an id, not None'),
    ('from_gymnasium class', lambda: sf.adapters.from_gymnasium(int), "from_gymnasium takes an environment or an id, not <class 'int'>"),
    ('from_gymnasium no P', lambda: sf.adapters.from_gymnasium("CartPole-v1"), 'gymnasium:CartPole-v1 offers no model (env.unwrapped.P), so its'),
    ('from_minigrid None', lambda: sf.adapters.from_minigrid(None), 'from_minigrid takes a MiniGrid environment or its id, not None'),
    ('from_minigrid seed str', lambda: sf.adapters.from_minigrid("Empty-5x5",seed="x"), "seed must be a non-negative integer, got 'x'"),
    ('from_object None', lambda: sf.adapters.from_object(None), "object:NoneType needs variables, as in variables = {'lamp': (0,"),
    ('from_object list attr', lambda: sf.adapters.from_object(Obj()), "object:Obj needs variables, as in variables = {'lamp': (0, 1)}"),
]
# fmt: on


@pytest.mark.parametrize(
    ("call", "message"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_one_sentence(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sf.UserError) as caught:
        call()
    sentence = str(caught.value)
    assert message in sentence
    assert "\n" not in sentence
    assert len(sentence) < 600
    assert not list(tmp_path.rglob("*.skills"))


START = {"position": (1, 2), "tool_1": 0}
FIRST = W.state(position=(1, 2))


def fresh():
    return np.random.default_rng(0)


# fmt: off
WORKS = [
    ("a world by name", lambda: sf.discover("four-rooms", OBJ, seed=0, learner=sf.Planning(rounds=1), step_limit=5, targets={"tool_1": 2}), lambda: sf.discover(sf.make("four-rooms"), OBJ, seed=0, learner=sf.Planning(rounds=1), step_limit=5, targets={"tool_1": 2})),
    ("an objective by name", lambda: disc(o="focused-vic"), lambda: S),
    ("a learner by name", lambda: disc(learner="planning", targets={"tool_1": 2}), lambda: disc(learner=sf.Planning(), targets={"tool_1": 2})),
    ("several by name", lambda: list(sf.discover_many(W, "focused-vic", range(1), learner=Q)), lambda: [S]),
    ("a NumPy seed", lambda: disc(seed=np.int64(0)), lambda: S),
    ("NumPy rounds", lambda: disc(learner=sf.Planning(rounds=np.int64(2))), lambda: S),
    ("NumPy counts", lambda: disc(targets={"tool_1": np.int64(2)}), lambda: disc(targets={"tool_1": 2})),
    ("NumPy n_skills", lambda: disc(n_skills=np.int64(4)), lambda: disc(n_skills=4)),
    ("a NumPy step limit", lambda: disc(step_limit=np.int32(12)), lambda: S),
    ("a NumPy setting", lambda: sf.make("four-rooms", step_limit=np.int64(10)).step_limit, lambda: 10),
    ("a NumPy seed of a run", lambda: sf.Discovery("four-rooms", "focused-vic", np.int64(0)).id, lambda: sf.Discovery("four-rooms", "focused-vic", 0).id),
    ("NumPy settings of a run", lambda: sf.Discovery("four-rooms", "focused-vic", 0, sf.Planning(rounds=np.int64(3)), strength=np.float64(2.0)).id, lambda: sf.Discovery("four-rooms", "focused-vic", 0, sf.Planning(rounds=3), strength=2.0).id),
    ("a learner's name in a run", lambda: sf.Discovery("four-rooms", "focused-vic", 0, "planning").id, lambda: sf.Discovery("four-rooms", "focused-vic", 0).id),
    ("targets by name", lambda: BEST(M, ["tool_1"], [0], 12).tolist(), lambda: BEST(M, [1], np.array([0]), 12).tolist()),
    ("the sum of sets", lambda: sum([S, S]), lambda: S + S),
    ("a NumPy skill", lambda: S.rollout(np.int64(1), FIRST, fresh()), lambda: S.rollout(1, FIRST, fresh())),
    ("a NumPy state", lambda: S.rollout(1, np.array(FIRST), fresh()), lambda: S.rollout(1, FIRST, fresh())),
    ("a state as labels", lambda: S.rollout(1, START, fresh()), lambda: S.rollout(1, FIRST, fresh())),
    ("a likely path from labels", lambda: S.likely_path(1, START), lambda: S.likely_path(1, FIRST)),
    ("an action for labels", lambda: S.action(1, START, START), lambda: S.action(1, FIRST, FIRST)),
    ("a policy of labels", lambda: S.policy(1)(START), lambda: S.policy(1)(FIRST)),
    ("the number of labels", lambda: M.number(START), lambda: M.number(FIRST)),
    ("a task from labels", lambda: sf.make_task(M, "t", START, 20, lambda s: s["tool_1"]).start, lambda: M.number(FIRST)),
    ("an environment from labels", lambda: SkillEnv(S, T, start=START).reset()[0].tolist(), lambda: list(FIRST)),
    ("a reset to labels", lambda: SkillEnv(S, T).reset(options={"state": START})[0].tolist(), lambda: list(FIRST)),
    ("a NumPy number of environments", lambda: SkillVectorEnv(S, T, np.int64(2)).num_envs, lambda: 2),
    ("values as a list", lambda: sf.Variable("a", ["off", "on"]), lambda: sf.Variable("a", ("off", "on"))),
    ("values as a range", lambda: sf.Variable("a", range(3)), lambda: sf.Variable("a", (0, 1, 2))),
    ("variables as a list", lambda: sf.Space([sf.Variable("a", (0, 1))]), lambda: sf.Space((sf.Variable("a", (0, 1)),))),
    ("outcomes from a generator", lambda: sf.tabulate(lamp(lambda s, a: (Out(1.0, s) for _ in range(1)))).n_states, lambda: 1),
    ("a reward that is a bool", lambda: disc(o=reward(lambda c, s, v: v == c)).tabular.flat_actions.tolist(), lambda: disc(o=reward(lambda c, s, v: 1.0 if v == c else 0.0)).tabular.flat_actions.tolist()),
]
# fmt: on


@pytest.mark.parametrize(("call", "meant"), [w[1:] for w in WORKS], ids=[w[0] for w in WORKS])
def test_what_is_meant_simply_works(call, meant):
    assert call() == meant()


def test_a_world_by_name_when_skills_are_loaded(tmp_path):
    path = S.save(tmp_path / "a.skills")
    with pytest.raises(sf.UserError, match="holds skills for another world than this FourRooms-v0"):
        sf.Skills.load(path, "four-rooms")


def test_a_formula_outside_its_domain_is_one_sentence():
    objective = reward(lambda component, start, value: math.log(value))
    with pytest.raises(
        sf.UserError, match=r"the reward of own for component 0 of tool_1 (is -inf|raises)"
    ):
        disc(o=objective)


def test_rewards_are_checked_after_learning_too():
    """An estimate that becomes NaN while it learns must not pass for a skill set."""

    def predict(params, coordinates, component, start, value):
        return params[0, 0, 0]

    def update(params, coordinates, component, start, value, rate):
        params[0, 0, 0] = np.nan

    from skillfocus.objectives.objective import FunctionEstimate

    estimate = FunctionEstimate(predict, update)
    objective = sf.focused(Objective("own", Reward("own", lambda r: r, estimate, uses_start=False)))
    for learner in (Q, sf.QLearning(episodes=100)):
        with pytest.raises(sf.UserError, match=r"the reward of own .* is nan where"):
            disc(o=objective, learner=learner)
