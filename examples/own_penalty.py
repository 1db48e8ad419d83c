"""Your own side-effects penalty, checked against Definition 4 before it is used."""

import numpy as np

import skillfocus as sf
from skillfocus.errors import UserError

world = sf.make("ForageWorld-v0")
mdp = sf.tabulate(world)
plants = np.array([name.startswith("plant") for name in world.space.names])


def only_plants(space, start, end, watched):
    return ((start != end) & watched & plants).sum(axis=1).astype(float)


def plants_most(space, start, end, watched):
    changed = (start != end) & watched
    return (changed * np.where(plants, 10.0, 0.5)).sum(axis=1)


try:
    sf.check_penalty(sf.Penalty("only-plants", 1.0, only_plants), mdp)
except UserError as error:
    print("refused:", error)

penalty = sf.Penalty("plants-most", 1.0, plants_most)
sf.check_penalty(penalty, mdp)
skills = sf.discover(world, sf.focused(sf.lsd(), penalty=penalty), seed=0)
for effects in sf.metrics.side_effects(skills)[:4]:
    destroyed = sum(p for name, p in effects.by_variable.items() if name.startswith("plant"))
    print(f"{effects.targets[0]}: collected {effects.changes_target:.2f}, plants {destroyed:.3f}")
