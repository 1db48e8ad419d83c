"""Pictures of worlds: one scene, two painters.

`scene.Stage` lists what the picture of a state consists of, from the icons and colors in `icons`,
and knows the line along a run and its tracks. The scene is painted as SVG for notebooks (`svg`) and
as pixels for `env.render()` and figures (`raster`); `animation` makes pictures of runs with both.
The viewer's page draws the same icons on a canvas (`viewer/assets/map.js`).
"""
