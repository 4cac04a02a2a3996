# Copyright 2026 The GateBot Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# ============================================================================
"""Operator registration from YAML: name -> class, loaded when the first operator is looked up.

One file holds entries of the form

    roll:
      dist_op_name: _torch_roll_dist_op        # a label
      distributed_op_class: RollDistributedOp
      distributed_op_file: parallel_roll       # module in hyper_parallel.ops or in a user's directory

A `__default__` block is merged into each entry of its file. Further keys of an entry go to the class as `options`.
A name that occurs twice is an error.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from hyper_parallel.dispatch.op import DistributedOp

YAML_ENV = "HYPER_PARALLEL_OPS_YAML_DIR"
PYTHON_ENV = "HYPER_PARALLEL_OPS_PYTHON_PATH"
_OWN_KEYS = {"dist_op_name", "distributed_op_class", "distributed_op_file"}
_BUILT_IN = Path(__file__).parent.parent / "ops" / "yaml"


class Registry:
    """Entries by operator name; rules are created on first use.

    Args:
        platform: handed to the rules.
        yaml_dirs: directories of YAML files beside the built-in one and that of `HYPER_PARALLEL_OPS_YAML_DIR`.
        python_paths: directories of modules beside `hyper_parallel.ops` and `HYPER_PARALLEL_OPS_PYTHON_PATH`.

    Raises:
        ValueError: one of these directories does not exist.
    """

    def __init__(
        self, platform: Any = None, yaml_dirs: tuple[str, ...] = (), python_paths: tuple[str, ...] = ()
    ) -> None:
        self._platform = platform
        self._yaml_dirs = [_BUILT_IN, *_env_paths(YAML_ENV), *_directories("yaml_dirs", yaml_dirs)]
        self._python_paths = [*_env_paths(PYTHON_ENV), *_directories("python_paths", python_paths)]
        self._entries: dict[str, dict[str, Any]] | None = None
        self._ops: dict[str, DistributedOp] = {}

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        """All entries by name.

        Raises:
            ValueError: a name occurs twice, or an entry is malformed.
        """
        if self._entries is None:
            self._entries = {}
            for directory in self._yaml_dirs:
                for file in sorted(directory.glob("*.yaml")):
                    _merge(self._entries, file)
        return self._entries

    def names(self) -> list[str]:
        """All registered names, sorted."""
        return sorted(self.entries)

    def find(self, name: str) -> DistributedOp | None:
        """The rule of an operator, or None.

        Raises:
            ValueError: the entry's module or class does not exist or is no `DistributedOp`.
        """
        op = self._ops.get(name)
        if op is None and name in self.entries:
            op = self._ops[name] = self._create(name, self.entries[name])
        return op

    def register(self, op: DistributedOp) -> None:
        """Add or replace a rule from code."""
        self._ops[op.op_name] = op

    def _create(self, name: str, entry: dict[str, Any]) -> DistributedOp:
        module = self._module(name, str(entry["distributed_op_file"]))
        kind = getattr(module, str(entry["distributed_op_class"]), None)
        if not (isinstance(kind, type) and issubclass(kind, DistributedOp)):
            raise ValueError(
                f"For {name}, distributed_op_class should be a DistributedOp in {module.__name__}, "
                f"but got {entry['distributed_op_class']!r}."
            )
        return kind(name, self._platform, **{k: v for k, v in entry.items() if k not in _OWN_KEYS})

    def _module(self, name: str, file: str) -> ModuleType:
        if not file.isidentifier():
            raise ValueError(f"For {name}, distributed_op_file should be a module name, but got {file!r}.")
        for directory in self._python_paths:
            path = directory / f"{file}.py"
            if path.is_file():
                return _load_file(f"hyper_parallel_user_ops_{file}", path)
        try:
            return importlib.import_module(f"hyper_parallel.ops.{file}")
        except ModuleNotFoundError as error:
            raise ValueError(
                f"For {name}, distributed_op_file should be an existing module, but got {file!r}."
            ) from error


def _env_paths(variable: str) -> list[Path]:
    return _directories(variable, [part for part in os.environ.get(variable, "").split(os.pathsep) if part])


def _directories(setting: str, names: Iterable[str]) -> list[Path]:
    """Checked at once: rules that are silently not there would cost communication and tell nobody."""
    for name in names:
        if not Path(name).is_dir():
            raise ValueError(f"For Registry, {setting} should name existing directories, but got {name!r}.")
    return [Path(name) for name in names]


def _merge(entries: dict[str, dict[str, Any]], file: Path) -> None:
    import yaml

    content = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    if not isinstance(content, dict):
        raise ValueError(
            f"For {file.name}, the content should be a mapping of operator names, but got {content!r:.80}."
        )
    default = content.pop("__default__", {}) or {}
    for name, entry in content.items():
        if name in entries:
            raise ValueError(f"For {file.name}, the name {name!r} should be registered once, but got it again.")
        merged = {**default, **(entry or {})}
        missing = {"distributed_op_class", "distributed_op_file"} - set(merged)
        if missing:
            raise ValueError(
                f"For {name} in {file.name}, keys should include {sorted(missing)}, but got {sorted(merged)}."
            )
        entries[str(name)] = merged


def _load_file(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
