"""`write_page`: skill sets in, one HTML file out that needs nothing else.

The parts lie beside this file in `assets/`: the skeleton (`page.html`), its style (`page.css`) and
the ES modules of its script, which `bundle` joins into one, beginning with `main.js`.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import check_file_path, require_writable_folder, shorten, write_atomically
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.metrics.summary import origin
from skillfocus.progress import Progress, no_progress, part_of
from skillfocus.skills.continuous import ContinuousSkills
from skillfocus.skills.skills import Skills
from skillfocus.skills.sources import SkillSource, list_sources, load_any, load_source
from skillfocus.tasks.solving import solve
from skillfocus.tasks.task import has_task, task_of
from skillfocus.viewer.payload import SkillSetView, document, policies, record_worlds
from skillfocus.viewer.recordings import script_element
from skillfocus.world import World

# -------------------- Bundle the page's ES modules into one classic script
#
# A page is one file that loads nothing, so its modules cannot import each other in the browser.
# Each module becomes a function with a scope of its own that returns its exports; importing modules
# read them from there. Modules run once, those that are imported first.
#
# Supported, each at the beginning of a line: `import { a, b as c } from "./file.js";`,
# `import * as name from "./file.js";`, `import "./file.js";`, and `export` before `const`,
# `function`, `async function` and `class`. Everything else that ES modules can do is an error.

# The statements that are understood. Each must begin a line, which keeps them apart from the same
# words inside strings and comments.
IMPORT = re.compile(
    r"""^import\s+(?:(?P<names>\{[^}]*\}|\*\s+as\s+[\w$]+)\s+from\s+)?"(?P<source>[^"\n]+)";?$""",
    re.M,
)
EXPORT = re.compile(
    r"^export\s+(?P<declaration>(?:async\s+)?(?:const|function\*?|class)\s+(?P<name>[\w$]+))", re.M
)
# What is left after those were taken out, and what would end or begin something inside a page.
UNSUPPORTED = re.compile(r"^(?:import|export)\b.*$", re.M)
ENDS_SCRIPT = re.compile(r"</script|<!--", re.I)


class BundleError(ValueError):
    """A module that cannot be bundled: the message names it and says why."""


class Import(NamedTuple):
    """One import statement."""

    module: str
    """The path of the imported module, relative to the assets folder."""
    names: dict[str, str] | str
    """Exported name → local name, or the local name of the whole module (`* as name`)."""


class Module(NamedTuple):
    """One parsed module."""

    path: str
    imports: tuple[Import, ...]
    exports: tuple[str, ...]
    code: str
    """The source without its import statements and without the word `export`."""


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """Return one script that runs a module and everything it imports.

    Args:
        entry: The path of the entry module, relative to the folder that `read` knows.
        read: Returns the source of a module; raises FileNotFoundError if there is none.

    Raises:
        BundleError: A module is missing, imports form a cycle, an imported name is not exported,
            or a module uses a form of import or export that is not supported.
    """
    ordered: dict[str, Module] = {}

    def visit(path: str, importers: tuple[str, ...]) -> None:
        if path in importers:
            cycle = " → ".join([*importers[importers.index(path) :], path])
            raise BundleError(f"modules import each other in a cycle: {cycle}")
        if path in ordered:
            return
        try:
            source = read(path)
        except FileNotFoundError as error:
            by = f", imported by {importers[-1]}" if importers else ""
            raise BundleError(f"there is no module {path}{by}") from error
        module = parse_module(path, source)
        for each in module.imports:
            visit(each.module, (*importers, path))
            _check_names(path, each, ordered[each.module])
        ordered[path] = module

    visit(entry, ())
    return "const modules = {};\n" + "\n".join(_wrap(module) for module in ordered.values())


def parse_module(path: str, source: str) -> Module:
    """Return the imports, exports and code of a module.

    Raises:
        BundleError: It uses something that is not supported.
    """
    if ENDS_SCRIPT.search(source):
        raise BundleError(
            f"{path} contains </script or <!--, which cannot stand in a page's script"
        )
    imports = tuple(
        Import(_resolve(path, match["source"]), _names(path, match["names"]))
        for match in IMPORT.finditer(source)
    )
    exports = tuple(match["name"] for match in EXPORT.finditer(source))
    code = EXPORT.sub(lambda match: match["declaration"], IMPORT.sub("", source))
    left = UNSUPPORTED.search(code)
    if left:
        raise BundleError(
            f'{path}: cannot bundle {left[0]!r}; use `import {{ name }} from "./file.js";` and '
            f"`export` before const, function or class"
        )
    return Module(path, imports, exports, code.strip("\n"))


def _resolve(path: str, source: str) -> str:
    """Return the path of an imported module, relative to the assets folder.

    Args:
        path: The importing module.
        source: What its import statement says.
    """
    if not source.startswith(("./", "../")):
        raise BundleError(f"{path} imports {source!r}: only relative paths such as './dom.js' work")
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
    if resolved.startswith("../"):
        raise BundleError(f"{path} imports {source!r}, which is outside the assets folder")
    return resolved


def _names(path: str, text: str | None) -> dict[str, str] | str:
    """Return what an import statement binds: names, or the name of the whole module."""
    if text is None:
        return {}
    if text.startswith("*"):
        return text.split()[-1]
    names = {}
    for part in filter(None, (part.strip() for part in text.strip("{}").split(","))):
        match = re.fullmatch(r"([\w$]+)(?:\s+as\s+([\w$]+))?", part)
        if not match:
            raise BundleError(f"{path}: cannot read the import of {part!r}")
        names[match[1]] = match[2] or match[1]
    return names


def _check_names(path: str, imported: Import, module: Module) -> None:
    """Raise an error if a module does not export what is imported from it."""
    for name in imported.names if isinstance(imported.names, dict) else ():
        if name not in module.exports:
            has = ", ".join(module.exports) or "nothing"
            raise BundleError(f"{path} imports {name} from {module.path}, which exports {has}")


def _wrap(module: Module) -> str:
    """Return a module as a function that is called at once and returns its exports."""
    lines = []
    for each in module.imports:
        target = each.names
        if isinstance(target, dict):
            pairs = (a if a == b else f"{a}: {b}" for a, b in target.items())
            target = f"{{ {', '.join(pairs)} }}"
        if each.names:
            lines.append(f'const {target} = modules["{each.module}"];')
    lines.append(module.code)
    lines.append(f"return {{ {', '.join(module.exports)} }};")
    return f'modules["{module.path}"] = (() => {{\n' + "\n".join(lines) + "\n})();"


ENTRY = "main.js"
"""The module that opens the page."""
_MARK = b'<a class="skip" href="#play">'
"""What every page has, see `is_page`."""


def write_page(
    sets: Sequence[SkillSetView | Skills],
    path: str | Path,
    title: str = "",
    report: Progress = no_progress,
) -> Path:
    """Write the page of some skill sets, completely or not at all.

    Args:
        sets: The skill sets, with labels and more (`SkillSetView`) or plain.
        path: The HTML file.
        title: The page's title; by default the names of the worlds.
        report: Called with the fraction done and the current activity.

    Returns:
        The path.

    Raises:
        UserError: If the file's name does not end in .html.
    """
    path = Path(path)
    check_page_name(path)
    write_atomically(path, page_html(sets, title, report).encode())
    return path


def check_page_name(path: Path) -> None:
    """Raise `UserError` unless a file's name ends in .html."""
    if path.suffix not in (".html", ".htm"):
        raise UserError(f"cannot write a page to {shorten(path)}: use a name that ends in .html")


def is_page(path: Path) -> bool:
    """Return whether a file is such a page."""
    try:
        return _MARK in path.read_bytes()
    except OSError:
        return False


def page_html(
    sets: Sequence[SkillSetView | Skills], title: str = "", report: Progress = no_progress
) -> str:
    """Return the page of some skill sets; see `write_page`."""
    views = labelled([one if isinstance(one, SkillSetView) else SkillSetView(one) for one in sets])
    title = title or f"Skills in {', '.join(dict.fromkeys(v.skills.world.id for v in views))}"
    recorded = record_worlds(views)
    data = document(views, part_of(report, 0.0, 0.5), recorded)
    policy_data = policies(views, part_of(report, 0.5, 1.0), recorded)
    # Policies stand at the end of the page, those of the sets it opens with before the others, so
    # that it can be used before all of it has been read.
    order = sorted(range(len(policy_data)), key=lambda i: not views[i].first)
    parts = {
        "title": html.escape(title),
        "style": read_asset("page.css"),
        "script": bundle(ENTRY, read_asset),
        "data": script_element("data", data),
        "policies": "\n".join(script_element(f"policies-{i}", policy_data[i]) for i in order),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], read_asset("page.html"))


def read_asset(path: str) -> str:
    """Return the text of a file in `assets/`."""
    return files("skillfocus.viewer").joinpath("assets", *path.split("/")).read_text("utf-8")


def frame_html(sets: Sequence[SkillSetView | Skills], title: str = "", height: int = 820) -> str:
    """Return the page as an `iframe` of another one, `height` pixels high."""
    page = page_html(sets, title)
    name = html.escape(title or "Skills to watch")
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="{name}" loading="lazy" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def labelled(sets: Sequence[SkillSetView]) -> list[SkillSetView]:
    """Return the same views with labels that differ within each world.

    The label is the given one, or the settings that differ; repeated ones get a number.
    """
    counts: Counter[tuple[str, str]] = Counter()
    views = []
    for view, made in zip(sets, default_labels([view.skills for view in sets]), strict=True):
        label = view.label or made
        counts[view.skills.world.id, label] += 1
        count = counts[view.skills.world.id, label]
        views.append(replace(view, label=label if count == 1 else f"{label} ({count})"))
    return views


def default_labels(several: Sequence[Skills]) -> list[str]:
    """Return labels of sets that were given none: the settings in which those of a world differ.

    Sets that objective and seed tell apart are called by these.
    """
    settings = [_settings(skills) for skills in several]
    labels = []
    for skills, own in zip(several, settings, strict=True):
        others = [
            other
            for mate, other in zip(several, settings, strict=True)
            if mate.world.id == skills.world.id
        ]
        names = list(dict.fromkeys(name for other in others for name in other))
        differ = [n for n in names if len({str(other.get(n)) for other in others}) > 1]
        if not differ or len({(o["objective"], o["seed"]) for o in others}) == len(others):
            differ = ["objective", "seed"]
        given = [(name, own[name]) for name in differ if own.get(name) is not None]
        labels.append(", ".join(_setting_words(*each) for each in given) or str(own["objective"]))
    return labels


def _setting_words(name: str, value: object) -> str:
    if name in ("objective", "learner"):
        return str(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{name.replace('_', ' ')} {text}"


def _settings(skills: Skills) -> dict[str, object]:
    """Return what may tell one set from another, as its file says it."""
    about, objective = origin(skills), skills.info.get("objective")
    learner = skills.info.get("learner")
    details = dict(learner) if isinstance(learner, dict) else {}
    details.pop("name", None)
    rate = objective.get("rate") if isinstance(objective, dict) else None
    return {
        "objective": about["objective"],
        "learner": about["learner"],
        "strength": about["strength"],
        "rate": rate,
        **details,
        "skills": len(skills),
        "step_limit": skills.step_limit,
        "seed": about["seed"],
    }


# --------------------
#
# `view`: a page to watch skills on, with coverage and a learned task if asked for


def view(
    skills: SkillSource | Iterable[SkillSource],
    out: str | Path | None = None,
    *,
    task: str = "none",
    coverage: bool = False,
    world: World | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write one HTML page, which needs nothing but a browser, to watch skills on.

        view(["out/plain.skills", "out/focused.skills"], "skills.html", task="true")

    Args:
        skills: Sets of skills or files of them, one or several.
        out: The page; by default, beside the first file.
        task: Also learn the world's task with each set, from its `"true"` or its `"proxy"` reward,
            to watch the agent; `"none"` for no task.
        coverage: Whether to compute the expected coverage of skill chains too.
        world: The world of the skills, for files that cannot name it.
        progress: Callback for the fraction done.

    Returns:
        The path of the page.

    Raises:
        UserError: If a file cannot be loaded or the page cannot be written.
    """
    sources = list_sources(skills)
    first = sources[0]
    page = page_path(out, first.with_suffix(".html") if isinstance(first, Path) else None)
    found = [load_any(source, world) for source in sources]
    if any(isinstance(one, ContinuousSkills) for one in found):
        return _view_continuous(found, page, task, coverage)
    loaded = [load_source(one, world) for one in found]
    # Sets that would have the same label are called by their files.
    made = default_labels(loaded)
    labels = Counter((one.world.id, label) for one, label in zip(loaded, made, strict=True))
    sets = []
    for number, (source, one) in enumerate(zip(sources, loaded, strict=True)):
        label = made[number]
        if isinstance(source, Path) and labels[one.world.id, label] > 1:
            label = source.stem
        progress(number / len(loaded) / 2, f"preparing {label}")
        sets.append(_prepare(one, label, task, coverage))
    return write_page(sets, page, "", part_of(progress, 0.5, 1.0))


def _view_continuous(
    sets: list[Skills | ContinuousSkills], page: Path, task: str, coverage: bool
) -> Path:
    """Write the page of skills in continuous worlds."""
    from skillfocus.viewer.continuous import record_skills, view_continuous

    if task != "none" or coverage:
        raise UserError("pages of continuous worlds show skills alone: leave task and coverage out")
    chosen = [one for one in sets if isinstance(one, ContinuousSkills)]
    if len(chosen) != len(sets):
        raise UserError("a page shows skills of continuous worlds, or of finite ones, not of both")
    return view_continuous([record_skills(one) for one in chosen], page)


def page_path(out: str | Path | None, default: Path | None) -> Path:
    """Return where the page goes, and create its folder.

    A page that the caller named may be overwritten, one by the default name only if it is a page.

    Args:
        out: The name that the caller gave, if any.
        default: The name without one.

    Raises:
        UserError: If there is no name, it does not end in .html, or the page cannot be written.
    """
    page = default if out is None else Path(out)
    if page is None:
        raise UserError("skills in memory have no file to put the page beside; give out=…")
    check_page_name(page)
    require_writable_folder(page.parent)
    check_file_path(page)
    if out is None and page.exists() and not is_page(page):
        raise UserError(f"{page} exists and is not a page of skills; give another name with --out")
    return page


def _prepare(skills: Skills, label: str, task: str, coverage: bool) -> SkillSetView:
    """Compute what the page shows beside the skills themselves."""
    curve = measure_coverage(skills, rng=np.random.default_rng(0)).curve if coverage else None
    if task == "none":
        return SkillSetView(skills, label, coverage=curve)
    if not has_task(skills.world):
        raise UserError(
            f"{skills.world.id} has no task of its own, so there is no agent to watch: leave task "
            f"(--task) out"
        )
    goal = task_of(skills.world, skills.mdp)
    solution = solve(skills.mdp, goal, skills, seed=0, reward=task)
    return SkillSetView(skills, label, coverage=curve, task=goal, solution=solution, reward=task)
