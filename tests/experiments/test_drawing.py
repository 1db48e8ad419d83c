from __future__ import annotations

from skillfocus.experiments.drawing import COLOURS, agent_style


def test_the_paper_s_colours_and_lines():
    assert agent_style("focused-vic") == {"color": COLOURS["vic"], "linestyle": "-"}
    assert agent_style("dusdi-vic")["linestyle"] != agent_style("vic")["linestyle"] != "-"
    assert agent_style("lsd")["color"] == agent_style("focused-lsd")["color"] == COLOURS["lsd"]
    assert agent_style("primitives")["color"] not in COLOURS.values()
