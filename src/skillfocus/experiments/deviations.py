"""Deviations from the paper, one line each.

docs/deviations.md explains every one under the same number; the report lists them.
"""

from __future__ import annotations

DEVIATIONS = (
    "A focused or DUSDi skill knows where it began.",
    "Changes for good are paid when they happen.",
    "Training starts in every state in which a skill's targets can still change.",
    "The reward is computed before the discriminator update.",
    "Discriminators begin at random, not uniform.",
    "λ is 4 for VIC and DIAYN and 2 for LSD, as in the appendix.",
    "A DIAYN skill that terminates stays where it is and goes on earning.",
    "DIAYN's discriminator hears states in random order.",
    "LSD keeps φ(s_T) − φ(s_0), and begins with directions spread evenly.",
    "DUSDi over VIC sees, of the first state, what can be changed back.",
    "Plain objectives remember nothing of s_0; with memory they are agents of their own.",
    "Planning is not in the paper.",
    "Q-learning as the appendix has it does not learn focused skills.",
    "MudWorld's table counts muddy cells up to 12, and takes each for a new one.",
    "γ = 1 is taken as 0.9999.",
    "The worlds are read from the paper's figures; slips share their probability evenly.",
    "Coverage is computed exactly.",
    "Downstream, agents choose among skills and moves; a skill that ends at once costs a step.",
    "The preset `best`: intra-option updates, a falling step size, a skill per value of a goal.",
    "In worlds that are not built in, focused VIC's discriminator has the weight 0.05.",
)
