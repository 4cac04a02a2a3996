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
"""Words of the line comments: what is wrong and how to mend it per rule, why the gate minds per tool."""

from __future__ import annotations

# rule: (what, how) in Chinese, (what, how) in English. Where a rule is missing the tool's own message must do.
_RULES: dict[str, tuple[str, str, str, str]] = {
    "w0611": ("导入了却没有使用", "删掉这个导入。", "imported but not used", "Delete the import."),
    "w0612": (
        "变量赋值后没有使用",
        "删掉这个变量，或者用上它；右边有副作用时只保留右边。",
        "a variable is set and never read",
        "Drop the variable or use it; keep the right-hand side if it has an effect.",
    ),
    "w0613": (
        "参数没有使用",
        "删掉参数，或以下划线开头命名。",
        "unused argument",
        "Drop it or name it with a leading _.",
    ),
    "w0102": (
        "默认参数是可变对象，所有调用共用同一个",
        "默认值写 None，在函数里再创建。",
        "a mutable default is shared by all calls",
        "Use None as the default and create the object inside.",
    ),
    "w0702": (
        "except 没有写异常类型，连中断也会被吞掉",
        "写明要处理的异常类型。",
        "a bare except also swallows interrupts",
        "Name the exception type.",
    ),
    "w0718": ("捕获的异常过宽", "写明具体的异常类型。", "too broad an exception", "Name the exception you expect."),
    "w1510": (
        "subprocess.run 没有写 check",
        "显式写 check=True 或 check=False。",
        "subprocess.run without check",
        "Pass check=True or check=False.",
    ),
    "w1514": ("open 没有写编码", "加上 encoding=。", "open without an encoding", "Pass encoding=."),
    "w0621": ("名字与外层作用域的变量重名", "换一个名字。", "a name hides an outer one", "Choose another name."),
    "w0622": ("名字与内置名称重名", "换一个名字。", "a name hides a builtin", "Choose another name."),
    "c0301": ("行太长", "折行，不要关闭检查。", "line too long", "Wrap it; do not disable the check."),
    "c0303": ("行尾有空白", "删掉行尾空白。", "blanks at the end of the line", "Delete them."),
    "c0304": ("文件末尾缺少换行", "在末尾加一个换行。", "no newline at the end", "Add one newline at the end."),
    "c0305": ("文件末尾有多余空行", "只留一个换行。", "blank lines at the end", "Leave one newline."),
    "c0410": ("一行导入了多个模块", "每行导入一个模块。", "several modules in one import", "One module per line."),
    "c0411": (
        "导入的顺序不对",
        "按标准库、第三方、本仓库的顺序排列。",
        "imports out of order",
        "Order them: standard library, third party, own.",
    ),
    "c0413": ("导入不在文件开头", "移到文件开头。", "an import below code", "Move it to the top of the file."),
    "c0114": ("模块没有文档字符串", "加一行说明。", "no module docstring", "Add one line."),
    "c0115": ("类没有文档字符串", "加一行说明。", "no class docstring", "Add one line."),
    "c0116": ("函数没有文档字符串", "加一行说明。", "no function docstring", "Add one line."),
    "c0121": ("与 None/True/False 用 == 比较", "改用 is。", "== with None, True or False", "Use is."),
    "c0103": ("命名不合规范", "按规范改名。", "name out of style", "Rename it to the style."),
    "r1705": ("return 之后的 else 是多余的", "去掉 else，减少一层缩进。", "else after return", "Drop the else."),
    "r1714": ("可以合并的比较", "写成 in (…)。", "comparisons that can be merged", "Write them as in (…)."),
    "r1732": ("资源没有用 with 打开", "改用 with。", "a resource opened without with", "Use with."),
    "r0913": ("参数太多", "把相关参数合成一个 dataclass。", "too many arguments", "Group them in a dataclass."),
    "r0902": ("属性太多", "把相关属性合成一个 dataclass。", "too many attributes", "Group them in a dataclass."),
    "e0401": (
        "找不到导入的模块",
        "检查模块名；第三方包要写进依赖。",
        "an import that cannot be found",
        "Check the name; declare third-party packages.",
    ),
    "e0602": ("使用了未定义的名字", "定义或导入它。", "an undefined name", "Define or import it."),
    "e1101": ("对象没有这个成员", "检查成员名。", "no such member", "Check the member's name."),
    "ccn": ("函数的圈复杂度超限", "拆成几个小函数。", "too many branches", "Split it into smaller functions."),
    "nloc": ("函数太长", "拆成几个小函数。", "function too long", "Split it into smaller functions."),
    "typo": (
        "拼写错误",
        "改成建议的拼写；专有名词请加入允许列表。",
        "misspelt",
        "Use the suggested word, or allow it.",
    ),
    "tab": ("有制表符", "改成空格（Python 为 4 个）。", "a tab", "Use blanks (four in Python)."),
    "utf8": ("文件不是 UTF-8 编码", "转成 UTF-8。", "not UTF-8", "Convert the file to UTF-8."),
    "docstring-fields": (
        "测试的文档字符串缺字段",
        "写上 Feature、Description、Expectation 三行。",
        "the test's docstring lacks fields",
        "Write the lines Feature, Description and Expectation.",
    ),
    "clang-format": (
        "格式与 clang-format 不一致",
        "用仓库的配置运行 clang-format。",
        "not formatted",
        "Run clang-format.",
    ),
    "dead-link": ("链接打不开", "换成有效的链接或删掉。", "a dead link", "Replace or remove it."),
    "whitespace/line_length": ("行太长", "在 120 列内折行。", "line too long", "Wrap at 120 columns."),
    "build/include_order": (
        "头文件顺序不对",
        "按 C、C++、本仓库的顺序排列。",
        "include order",
        "Order: C, C++, project.",
    ),
    "runtime/references": ("非 const 引用参数", "改成指针或 const 引用。", "a non-const reference", "Use a pointer."),
    "readability/braces": ("缺少花括号", "补上花括号。", "missing braces", "Add braces."),
    "whitespace/newline": ("文件末尾缺少换行", "在末尾加换行。", "no newline at the end", "Add one."),
    "whitespace/eol": ("行尾有空白", "删掉行尾空白。", "blanks at the end of the line", "Delete them."),
    "convention/filename": ("文件名不合规范", "改成小写加下划线。", "file name", "Lower case with underscores."),
    "package/consistency": (
        "包名大小写不一致",
        "改成与包名一致的大小写。",
        "package name differs",
        "Use the package's capitals.",
    ),
    "md012": ("连续多个空行", "只留一个空行。", "several blank lines", "Leave one."),
    "md025": ("多个一级标题", "只留一个一级标题。", "several top headings", "Keep one."),
    "md031": ("代码块前后没有空行", "代码块前后各加一个空行。", "no blank line round a fence", "Add them."),
    "md040": ("代码块没有写语言", "在围栏后写语言。", "a fence without a language", "Name the language."),
    "sc2086": ("变量没有加引号", "加双引号。", "unquoted variable", "Quote it."),
    "sc2068": ("数组没有加引号", '写成 "$@"。', "unquoted array", 'Write "$@".'),
    "sc2155": ("声明和赋值写在一起会丢失返回值", "分成两行。", "declare and assign hides the status", "Split it."),
    "sc2164": ("cd 失败没有处理", "写成 cd … || exit。", "cd may fail", "Write cd … || exit."),
}

_WHY: dict[str, tuple[str, str]] = {
    "pylint": (
        "门禁的 Check_Pylint 对整个被改的文件打分，不到 10.00/10 就不通过。",
        "Check_Pylint rates every touched file; below 10.00/10 the gate is red.",
    ),
    "codespell": ("门禁的 Check_Codespell 不允许拼写错误。", "Check_Codespell lets no misspelling pass."),
    "lizard": (
        "门禁的 Check_Lizard 限制函数的复杂度和长度，过大的函数难以测试。",
        "Check_Lizard bounds size and branching: larger functions are hard to test.",
    ),
    "dt_design": (
        "门禁的 Check_DT_Design 要求每个测试说明特性、做法和期望。",
        "Check_DT_Design wants every test to say feature, description and expectation.",
    ),
    "tests": ("测试没有通过，流水线失败。", "The test does not pass, so the gate is red."),
    "compile": ("编译失败，后面的阶段都无法运行。", "It does not compile, so nothing after it can run."),
    "rules": (
        "这是本仓库的评审规则；流水线不检查，但评审人会关注。",
        "A review rule of this repository; reviewers will ask.",
    ),
    "other": ("门禁的检查在这里报错，流水线失败。", "A check of the gate complains here, so the gate is red."),
}

_FIXED: dict[str, dict[str, str]] = {
    "review.head": {"zh": "**{rule}** {what}", "en": "**{rule}** {what}"},
    "review.said": {"zh": "工具输出：{message}", "en": "The tool said: {message}"},
    "review.why": {"zh": "**为什么要改**：{why}", "en": "**Why**: {why}"},
    "review.how": {"zh": "**怎么改**：{how}", "en": "**How**: {how}"},
    "review.how.general": {
        "zh": "按上面的提示修改；确有理由保留时，请在 PR 描述里说明，不要关闭检查。",
        "en": "Change it as the message says; if it must stay, say why in the description; do not disable the check.",
    },
    "review.what.general": {"zh": "检查没有通过", "en": "a check did not pass"},
    "review.line": {"zh": "（第 {line} 行）", "en": "(line {line})"},
    "review.title": {"zh": "### 代码检查", "en": "### Review"},
    "review.counts": {
        "zh": "提交 {head}：共 {total} 个问题；行内评论：新增 {created} 条，沿用 {kept} 条，解决 {resolved} 条。",
        "en": "Commit {head}: {total} findings, {created} new on lines, {kept} commented before, {resolved} resolved.",
    },
    "review.rest": {"zh": "未写成行内评论的问题：", "en": "Not on a line:"},
    "review.item": {"zh": "- {place} {rule} {message}", "en": "- {place} {rule} {message}"},
    "review.more": {"zh": "- 另有 {count} 条没有列出。", "en": "- and {count} more."},
    "review.none": {"zh": "没有发现问题。", "en": "Nothing was found."},
    "review.answer": {
        "zh": "快速检查完成：改动的行上有 {total} 个问题，新增行内评论 {created} 条，详见小结评论。",
        "en": "Quick checks are done: {total} findings on changed lines, {created} new comments; see the summary.",
    },
    "review.answer_clean": {
        "zh": "快速检查完成：改动的行上没有发现问题。",
        "en": "Quick checks are done: nothing found on the changed lines.",
    },
    "review.failed": {"zh": "快速检查没有完成：{why}", "en": "The quick checks could not be finished: {why}"},
    "review.missing_tools": {"zh": "没有运行：{tools}。", "en": "Not run: {tools}."},
    "review.moved": {
        "zh": "检查期间有了新的提交，请针对新的提交重新执行命令。",
        "en": "The branch has moved meanwhile; ask again for the new commit.",
    },
}

TEXTS: dict[str, dict[str, str]] = {
    **_FIXED,
    **{f"review.what.{rule}": {"zh": row[0], "en": row[2]} for rule, row in _RULES.items()},
    **{f"review.how.{rule}": {"zh": row[1], "en": row[3]} for rule, row in _RULES.items()},
    **{f"review.why.{tool}": {"zh": row[0], "en": row[1]} for tool, row in _WHY.items()},
}
