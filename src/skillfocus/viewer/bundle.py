"""Bundle the page's ES modules into one classic script.

A page is one file that loads nothing, so its modules cannot import each other in the browser. Each
module becomes a function with a scope of its own that returns its exports; importing modules read
them from there. Modules run once, those that are imported first.

Supported, each at the beginning of a line: `import { a, b as c } from "./file.js";`,
`import * as name from "./file.js";`, `import "./file.js";`, and `export` before `const`,
`function`, `async function` and `class`. Everything else that ES modules can do is an error.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple

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
