# %% [markdown]
# # Reproduce one figure from stored results
#
# The repository holds the results of the whole reproduction, so a figure takes seconds, and you can
# ask your own questions of the same numbers. Run this in a clone. Here it is the paper's Figure 2:
# how much of FourRooms chains of skills can reach.
#
# ## Load the results
#
# A row is one number: a metric of one agent, world and seed under one setup.

# %%
from pathlib import Path

import polars as pl

from paper.results import load_results

frame, costs = load_results(Path("results"))
planned = frame.filter(
    (pl.col("preset") == "paper") & (pl.col("learner") == "planning") & (pl.col("variant") == "")
)
areas = planned.filter((pl.col("metric") == "auc") & (pl.col("world") == "four-rooms"))
print(f"{frame.height:,} numbers, of which {areas.height} are areas under the coverage curve")
print(areas.select("agent", "seed", "metric", "value").head(3))

# %% [markdown]
# ## Means with intervals
#
# Fifty seeds per agent. The helpers are those of the report: a mean over seeds with Student's 90 %
# interval, and ratios from paired seeds.

# %%
from paper.figure_2 import PAPER, PAPER_RATIOS
from paper.results import mean_over_seeds, mean_ratio, values_by_seed

by_seed = {agent: values_by_seed(planned, "auc", "four-rooms", agent) for agent in PAPER}
ours = {agent: mean_over_seeds(values) for agent, values in by_seed.items()}
for agent, interval in ours.items():
    print(
        f"{agent:14} {interval.estimate:.2f} ({interval.low:.2f} to {interval.high:.2f}), "
        f"the paper: {PAPER[agent]:.2f}, {len(by_seed[agent])} seeds"
    )

# %% [markdown]
# ## Draw them

# %% Areas under the coverage curve of eight agents, ours as bars and the paper's as diamonds
from matplotlib.figure import Figure

figure = Figure(figsize=(7, 3), layout="constrained")
panel = figure.subplots()
names = list(ours)
means = [ours[name].estimate for name in names]
reach = [
    [ours[name].estimate - ours[name].low for name in names],
    [ours[name].high - ours[name].estimate for name in names],
]
panel.bar(names, means, yerr=reach, color="#9cc3e6", label="ours, planned (90 % intervals)")
panel.plot(names, [PAPER[name] for name in names], "D", color="#1f2430", label="the paper")
panel.set(ylabel="area under the curve")
panel.tick_params(axis="x", rotation=30)
panel.legend()
figure

# %% [markdown]
# ## Is the claim reproduced?
#
# The paper says that focused skills cover several times as many states as plain ones. The ratio of
# the areas, seed by seed:

# %%
for base, paper in PAPER_RATIOS.items():
    ratio = mean_ratio(by_seed[f"focused-{base}"], by_seed[base])
    print(
        f"{base}: {ratio.estimate:.2f} times ({ratio.low:.2f} to {ratio.high:.2f}), "
        f"the paper: {paper}"
    )

# %% [markdown]
# The direction holds for VIC, DIAYN and LSD: focused skills cover 2.06, 1.33 and 3.81 times as
# much. The size does not for the first two, where the paper has 5.3 and 2.7. The report calls the
# claim *direction only*, and says why: a planned position skill ends in one cell per start, so
# chains of planned skills reach fewer states.
#
# ## The real thing
#
# `python -m paper coverage --from results --out out` writes the report's version of this
# figure, with claims, verdicts and tables. Without `--from` it runs the experiment; add
# `--seeds 5`.
#
# - [The paper, reproduced](../reproduction.md): setups, seeds and statistics
# - [Figure 2 of the report](../report/figure-2.md)
