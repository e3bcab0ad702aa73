"""Puts everything that the source archive holds into one folder: the binding, the crate `tavola`
with a manifest of its own, and the sources of all crates that they need.

Usage: stage.py FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys

BINDING = pathlib.Path(__file__).resolve().parents[1]
ROOT = BINDING.parents[1]
#: What the binding does not use: optional parts of the crate `tavola`, and its tests.
DROPPED_DEPENDENCIES = ("serde", "serde_json", "shuttle")
DROPPED_FEATURES = ("serde", "shuttle")


def workspace_values():
    """Return the values that crates take from the workspace."""
    text = (ROOT / "Cargo.toml").read_text()
    section = re.search(r"\[workspace\.package\]\n(.*?)\n\n", text, re.S).group(1)
    return dict(re.findall(r"^([\w-]+) = (.*)$", section, re.M))


def crate_manifest():
    """Return a manifest of the crate `tavola` that needs no workspace."""
    text = (ROOT / "crates/tavola/Cargo.toml").read_text()
    for word, value in workspace_values().items():
        text = re.sub(rf"^{word}\.workspace = true$", f"{word} = {value}", text, flags=re.M)
    text = re.sub(r"\[(dev-dependencies|lints|package\.metadata[^\]]*)\]\n.*?(?=\n\[|\Z)", "",
                  text, flags=re.S)
    for word in DROPPED_DEPENDENCIES:
        text = re.sub(rf"^#.*\n{word} = {{ version.*\n", "", text, flags=re.M)
    for word in DROPPED_FEATURES:
        text = re.sub(rf"^#.*\n{word} = \[.*\n", "", text, flags=re.M)
    text = re.sub(r"^readme = .*\n", "", text, flags=re.M)
    if "workspace" in text:
        sys.exit("stage: the manifest of the crate tavola still needs its workspace")
    # Its own lints name parts that are left out here.
    return text + "\n[lints.rust]\nunexpected_cfgs = \"allow\"\n"


def main(folder):
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.pyc")
    shutil.copytree(BINDING / "src", folder / "src")
    shutil.copytree(BINDING / "python", folder / "python", ignore=ignored)
    for name in ("README.md", "Cargo.lock"):
        shutil.copy(BINDING / name, folder)
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / name, folder)
    manifest = (BINDING / "Cargo.toml").read_text()
    shipped = manifest.replace('path = "../../crates/tavola"', 'path = "tavola"')
    if shipped == manifest:
        sys.exit("stage: Cargo.toml has no path to the crate tavola")
    (folder / "Cargo.toml").write_text(shipped)
    project = (BINDING / "pyproject.toml").read_text().split("[tool.pytest")[0]
    project = project.replace(
        "[tool.maturin]\n",
        '[tool.maturin]\ninclude = [{ path = "vendor/**/*", format = "sdist" },'
        ' { path = "tavola/**/*", format = "sdist" },'
        ' { path = ".cargo/config.toml", format = "sdist" }]\n',
    )
    (folder / "pyproject.toml").write_text(project)
    shutil.copytree(ROOT / "crates/tavola/src", folder / "tavola/src")
    (folder / "tavola/Cargo.toml").write_text(crate_manifest())
    config = subprocess.run(
        ["cargo", "vendor", "--quiet", "vendor"],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(config)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
