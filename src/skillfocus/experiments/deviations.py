"""Where this departs from the paper, in a line each; docs/deviations.md explains every one under
the same number."""

from __future__ import annotations

DEVIATIONS = (
    "A skill knows where it began.",
    "Changes for good are paid when they happen.",
    "Training starts in every state.",
    "The reward is computed before the discriminator hears of the episode.",
    "Random initial discriminators.",
    "λ is 4 for VIC and DIAYN and 2 for LSD, as in the appendix.",
    "DIAYN's termination.",
    "DIAYN's discriminator hears states in random order.",
    "LSD keeps φ(s_T) − φ(s_0), and begins with directions spread evenly.",
    "DUSDi over VIC.",
    "Plain objectives remember all of s_0 when planned.",
    "Planning is not in the paper.",
    "Q-learning as the appendix has it does not learn focused skills.",
    "MudWorld's table.",
    "γ = 1 is taken as 0.9999.",
    "Readings of the worlds.",
    "Coverage is computed exactly.",
    "Downstream choices and termination.",
    "The preset `best`: intra-option updates, a falling step size, a skill per value of a goal.",
)
