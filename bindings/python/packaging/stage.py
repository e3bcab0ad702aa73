"""Puts everything that the source archive holds into one folder: the binding, the crates of this
project that it uses with manifests of their own, and the sources of all other crates.

Usage: stage.py FOLDER
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

BINDING = pathlib.Path(__file__).resolve().parents[1]
ROOT = BINDING.parents[1]
#: The crates of this project that the binding uses; they lie side by side.
CRATES = ("tavola", "tavola-cdb", "tavola-client", "tavola-proto", "tavola-server")
#: What the binding does not use: optional parts of the crate `tavola`, and its tests.
DROPPED_DEPENDENCIES = ("serde", "serde_json", "shuttle")
DROPPED_FEATURES = ("serde", "shuttle")


def workspace_values():
    """Return the values that crates take from the workspace."""
    text = (ROOT / "Cargo.toml").read_text()
    section = re.search(r"\[workspace\.package\]\n(.*?)\n\n", text, re.S).group(1)
    return dict(re.findall(r"^([\w-]+) = (.*)$", section, re.M))


def crate_manifest(name):
    """Return a manifest of a crate that needs no workspace."""
    text = (ROOT / "crates" / name / "Cargo.toml").read_text()
    for word, value in workspace_values().items():
        text = re.sub(rf"^{word}\.workspace = true$", f"{word} = {value}", text, flags=re.M)
    text = re.sub(r"\[(dev-dependencies|lints|package\.metadata[^\]]*)\]\n.*?(?=\n\[|\Z)", "",
                  text, flags=re.S)
    for word in DROPPED_DEPENDENCIES:
        text = re.sub(rf"^#.*\n{word} = {{ version.*\n", "", text, flags=re.M)
    for word in DROPPED_FEATURES:
        text = re.sub(rf"^#.*\n{word} = \[.*\n", "", text, flags=re.M)
    text = re.sub(r"^readme = .*\n", "", text, flags=re.M)
    if "workspace = true" in text:
        sys.exit(f"stage: the manifest of the crate {name} still needs its workspace")
    # Its own lints name parts that are left out here.
    return text + "\n[lints.rust]\nunexpected_cfgs = \"allow\"\n"


def empty(crate):
    """Leave only the manifest of a crate that is for other systems, so that the archive is smaller.
    Cargo wants it to be there, and never compiles it."""
    manifest = (crate / "Cargo.toml").read_text()
    checksum = json.loads((crate / ".cargo-checksum.json").read_text())
    shutil.rmtree(crate)
    (crate / "src").mkdir(parents=True)
    (crate / "src/lib.rs").touch()
    (crate / "build.rs").touch()
    (crate / "Cargo.toml").write_text(manifest)
    (crate / ".cargo-checksum.json").write_text(json.dumps({**checksum, "files": {}}))


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
    shipped = manifest.replace('path = "../../crates/', 'path = "')
    if shipped == manifest or "../" in shipped:
        sys.exit("stage: Cargo.toml has no path to the crates, or another one than to them")
    (folder / "Cargo.toml").write_text(shipped)
    patterns = ["vendor/**/*", *(f"{name}/**/*" for name in CRATES), ".cargo/config.toml"]
    included = [f'{{ path = "{pattern}", format = "sdist" }}' for pattern in patterns]
    project = (BINDING / "pyproject.toml").read_text().split("[tool.pytest")[0]
    project = project.replace(
        "[tool.maturin]\n",
        f"[tool.maturin]\ninclude = [{', '.join(included)}]\n",
    )
    (folder / "pyproject.toml").write_text(project)
    for name in CRATES:
        shutil.copytree(ROOT / "crates" / name / "src", folder / name / "src")
        (folder / name / "Cargo.toml").write_text(crate_manifest(name))
    config = subprocess.run(
        ["cargo", "vendor", "--quiet", "vendor"],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout
    for crate in (folder / "vendor").glob("windows*"):
        empty(crate)
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(config)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
