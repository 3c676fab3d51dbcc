"""The npm package: what is in it, and what TypeScript makes of it. The examples are built and opened in
tests/browser/test_embedding_frameworks.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deniable_web import web_files
from tests.helpers import npm
from tests.helpers.embedding_examples import block

pytestmark = pytest.mark.xdist_group("npm")  # one installation for all of them

TYPES = {"deniable.d.ts", "react.d.ts", "vue.d.ts", "svelte.d.ts", "decode.d.ts"}


def test_every_file_of_the_package(root: Path) -> None:
    """npm packs the modules, their types, what the server sends, a readme and the licence, and nothing else."""
    web = root / "client/web"
    modules = {str(path.relative_to(web)) for path in (web / "src").rglob("*.js")}
    assert {"src/deniable.js", "src/deniable/survey-element.js", "src/deniable/texts/ar.js"} <= modules
    expected = modules | {f"src/{name}" for name in TYPES} | {f"deniable_web/{name}" for name, _ in web_files()}
    assert npm.packed(web) == expected | {"package.json", "README.md", "LICENSE"}


def test_every_entry_leads_to_a_file_of_the_package(root: Path) -> None:
    """Each address that can be imported has a module and its types, and no type declaration is without an address."""
    web = root / "client/web"
    exports = json.loads((web / "package.json").read_text())["exports"]
    named = {entry[kind].removeprefix("./") for entry in exports.values() for kind in ("types", "default")}
    assert named <= npm.packed(web)
    assert {f"src/{name}" for name in TYPES} == {name for name in named if name.endswith(".d.ts")}


def test_the_documented_command_installs_the_package(root: Path, tmp_path: Path) -> None:
    """Next to a clone, the command of docs/embedding.md installs what npm packs, byte for byte, and nothing else."""
    web = root / "client/web"
    (tmp_path / "package.json").write_text("{}\n")
    (tmp_path / "deniable").symlink_to(root)
    npm.npm(tmp_path, *block("Your own copy of the module", "sh").split()[1:], *npm.QUIET)
    modules = tmp_path / "node_modules"
    assert [path.name for path in modules.iterdir() if not path.name.startswith(".")] == ["deniable"]
    installed = {str(path.relative_to(modules / "deniable")): path for path in (modules / "deniable").rglob("*")}
    files = {name: path.read_bytes() for name, path in installed.items() if path.is_file()}
    assert files == {name: (web / name).read_bytes() for name in npm.packed(web)}


def test_the_examples_are_right_to_typescript(npm_examples: Path) -> None:
    """``tsc --strict`` has nothing to say about the React page and the plain one."""
    assert json.loads((npm_examples / "tsconfig.json").read_text())["compilerOptions"]["strict"] is True
    run = npm.tool(npm_examples, "tsc", "--project", ".")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_typescript_accepts_right_uses_and_refuses_wrong_ones(npm_examples: Path, root: Path) -> None:
    """``tsc --strict`` finds an error in each line of types.tsx that is marked as wrong, and in no other."""
    code = (root / "client/web/test/types.tsx").read_text("utf-8")
    (npm_examples / "types.tsx").write_text(code, "utf-8")
    project = {"extends": "./tsconfig.json", "include": ["types.tsx"]}
    (npm_examples / "tsconfig.types.json").write_text(json.dumps(project))
    run = npm.tool(npm_examples, "tsc", "--project", "tsconfig.types.json", "--pretty", "false")
    found = {int(line) for line in re.findall(r"^types\.tsx\((\d+),\d+\): error TS", run.stdout, re.MULTILINE)}
    wrong = {i for i, line in enumerate(code.splitlines(), 1) if re.search(r"/[/*] wrong( \*/})?$", line)}
    assert found == wrong and len(wrong) > 20, run.stdout
    assert "error" not in re.sub(r"^types\.tsx.*", "", run.stdout, flags=re.MULTILINE)
