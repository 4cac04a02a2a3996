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
"""The made-up repository of the demo, and the contributors' changes, each with three planted faults."""

from __future__ import annotations

TEMPLATE_PATH = ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md"

TEMPLATE = """\
**PR 类型（单选）**
<!-- 把所选项前面的 [ ] 改成 [x] -->
- [ ] 缺陷修复
- [ ] 新特性
- [ ] 文档

**做了什么，为什么需要**
<!-- 说明改动的内容和原因 -->

**关联的 Issue**
<!-- 用法：Fixes #<issue 编号> -->
Fixes #

**设计说明**
- **涉及的模块：** 在此行填写模块名

**测试计划与测试结果（Test Plan and Test Result）**
<!-- 写明执行的命令和结果 -->

**自检清单**
- [ ] 已在本地执行代码检查，没有新增告警
- [ ] 新增或修改的测试都写了说明
"""

INCOMPLETE_BODY = """\
**PR 类型（单选）**
- [ ] 缺陷修复
- [x] 新特性
- [ ] 文档

**做了什么，为什么需要**
<!-- 说明改动的内容和原因 -->

**关联的 Issue**
Fixes #

**设计说明**
- **涉及的模块：** 在此行填写模块名

**测试计划与测试结果（Test Plan and Test Result）**
python -m pytest tests，全部通过。

**自检清单**
- [x] 已在本地执行代码检查，没有新增告警
- [ ] 新增或修改的测试都写了说明
"""

COMPLETE_BODY = """\
**PR 类型（单选）**
- [ ] 缺陷修复
- [x] 新特性
- [ ] 文档

**做了什么，为什么需要**
增加 `clamp`：把数值限制在给定的上下界之间，布局计算里有三处要用。

**关联的 Issue**
Fixes #1

**设计说明**
- **涉及的模块：** numeric

**测试计划与测试结果（Test Plan and Test Result）**
python -m pytest tests，全部通过。

**自检清单**
- [x] 已在本地执行代码检查，没有新增告警
- [x] 新增或修改的测试都写了说明
"""

BASE_FILES: dict[str, str] = {
    TEMPLATE_PATH: TEMPLATE,
    "README.md": "# 演示仓库\n\n一个很小的数值库。\n",
    "numeric/__init__.py": '"""Small numeric helpers."""\n',
    "numeric/scale.py": '''"""Scaling."""


def double(value):
    """Return twice the value."""
    return value * 2
''',
    "tests/conftest.py": '''"""Lets the tests find the package."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
''',
    "tests/test_scale.py": '''"""Tests of scaling."""
from numeric.scale import double


def test_double():
    """
    Feature: scaling
    Description: double a small number
    Expectation: twice the number
    """
    assert double(4) == 8
''',
}

FAULTY_MODULE = '''"""Keeping numbers within bounds."""
import os


def clamp(value, low, high):
    """Return the value, or the nearest bound when it is outside the permited range."""
    return max(low, min(value, high))
'''
FAULTY_TEST = '''"""Tests of clamp."""
from numeric.clamp import clamp


def test_clamp_keeps_bounds():
    """Values outside come back as the bound."""
    assert clamp(9, 0, 5) == 5
    assert clamp(-1, 0, 5) == 0
'''
GOOD_MODULE = FAULTY_MODULE.replace("import os\n", "").replace("permited", "permitted")
GOOD_TEST = FAULTY_TEST.replace(
    '    """Values outside come back as the bound."""\n',
    '    """\n    Feature: clamp\n    Description: values outside of the bounds\n    Expectation: the bound\n    """\n',
)

FAULTY_FILES = {"numeric/clamp.py": FAULTY_MODULE, "tests/test_clamp.py": FAULTY_TEST}
GOOD_FILES = {"numeric/clamp.py": GOOD_MODULE, "tests/test_clamp.py": GOOD_TEST}

# The second contributor's change. Lines are numbered in the file as it is first pushed.
SPAN_PATH = "numeric/span.py"
SPAN_BODY = COMPLETE_BODY.replace("`clamp`：把数值限制在给定的上下界之间", "`span`：上下界之间的距离")
SPAN_FAULTY = '''"""How far apart numbers are."""
import os


def span(low, high):
    """Return the distance betwen two bounds."""
    middle = (low + high) / 2
    return high - low
'''
SPAN_TWO_MENDED = SPAN_FAULTY.replace("import os\n", "").replace("betwen", "between")
SPAN_GOOD = SPAN_TWO_MENDED.replace("    middle = (low + high) / 2\n", "")
SPAN_MENDED_PLACES = (f"{SPAN_PATH}:2", f"{SPAN_PATH}:6")
SPAN_LEFT_PLACE = f"{SPAN_PATH}:7"
