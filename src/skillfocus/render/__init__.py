"""Pictures of worlds: one scene, several painters.

`scene.Stage` lists what the picture of a state consists of, from the icons in `icons` and the
colours in `palette`; `paths` adds the line along a run and its tracks. The scene is painted as
SVG for notebooks (`svg`), as pixels for `env.render()` (`raster`), as animated GIF or SVG
(`animation`), and as vector paths in figures (`figures.trajectories`). The viewer's page draws the
same icons on a canvas (`viewer/assets/map.js`).
"""
