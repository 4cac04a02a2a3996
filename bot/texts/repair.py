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
"""Sentences of the repair room: why a finding was left to a person. Chinese first, English second."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    "repair.no-recipe": {
        "zh": "没有针对 {tool} {rule} 的自动修复方法，需要人工处理。",
        "en": "There is no automatic fix for {tool} {rule}; a person has to look at it.",
    },
    "repair.no-file": {
        "zh": "日志没有指明文件，也无法在本次 PR 修改的文件中找到“{name}”。",
        "en": "The log names no file, and “{name}” was not found in the files of this pull request.",
    },
    "repair.outside-pr": {
        "zh": "文件 {file} 不在本次 PR 的修改范围内，不会改动它。",
        "en": "{file} is not among the files of this pull request, so it is left alone.",
    },
    "repair.not-a-plain-file": {
        "zh": "{file} 不是普通文件（符号链接、子模块或已删除），不会改动它。",
        "en": "{file} is not a plain file (link, submodule or deleted), so it is left alone.",
    },
    "repair.too-large": {
        "zh": "{file} 超过 {limit} 字节，不做自动修改。",
        "en": "{file} is larger than {limit} bytes and is not edited automatically.",
    },
    "repair.binary": {"zh": "{file} 是二进制文件。", "en": "{file} is a binary file."},
    "repair.read-only": {
        "zh": "{file} 是测试、CI 或模板文件，只允许文档字符串、空白、import 顺序或未使用 import 的修改。",
        "en": "{file} is a test, CI or template file: only docstrings, white space, import order or an unused import "
        "may change there.",
    },
    "repair.not-reproduced": {
        "zh": "在当前提交上重新运行 {check} 没有看到这个问题，可能日志属于更早的提交。",
        "en": "Running {check} again on this commit does not show the problem; the log may belong to an older commit.",
    },
    "repair.check-unavailable": {
        "zh": "无法在这里重新运行 {check}：{why}。没有验证就不提交修改。",
        "en": "{check} cannot be run here: {why}. Nothing is changed without that proof.",
    },
    "repair.still-there": {
        "zh": "修改之后 {check} 仍然报告这个问题，已撤销修改。",
        "en": "{check} still shows the problem after the edit, so the edit was taken back.",
    },
    "repair.new-finding": {
        "zh": "修改会带来新的问题（{what}），已撤销修改。",
        "en": "The edit would cause a new finding ({what}), so it was taken back.",
    },
    "repair.unproven": {
        "zh": "无法证明修改只涉及{nature}，已撤销修改。",
        "en": "It could not be proved that the edit changes nothing but {nature}, so it was taken back.",
    },
    "repair.not-found-here": {
        "zh": "第 {line} 行没有找到 {what}。",
        "en": "{what} was not found on line {line}.",
    },
    "repair.unreadable": {
        "zh": "{file} 无法解析：{why}。",
        "en": "{file} cannot be parsed: {why}.",
    },
    "repair.too-many": {
        "zh": "同一文件中需要逐个验证的修改太多，其余留给人工处理。",
        "en": "Too many edits in one file need to be proved one by one; the rest is left to a person.",
    },
    "repair.guard-path": {
        "zh": "安全检查未通过：{file} 不允许修改",
        "en": "A guard rail refused the change: {file} may not be changed",
    },
    "repair.guard-mode": {
        "zh": "安全检查未通过：{file} 的文件类型或权限发生变化",
        "en": "A guard rail refused the change: the type or mode of {file} would change",
    },
    "repair.guard-size": {
        "zh": "安全检查未通过：修改过大（{what}）",
        "en": "A guard rail refused the change: the change is too large ({what})",
    },
    "repair.guard-suppression": {
        "zh": "安全检查未通过：{file} 中新增了跳过测试或屏蔽检查的内容（{what}）",
        "en": "A guard rail refused the change: {file} would gain a skip or a suppression ({what})",
    },
    "repair.guard-tests-removed": {
        "zh": "安全检查未通过：{file} 中的测试或断言会减少",
        "en": "A guard rail refused the change: {file} would lose tests or assertions",
    },
    "repair.guard-secret": {
        "zh": "安全检查未通过：{file} 中新增的内容疑似密钥（{what}）",
        "en": "A guard rail refused the change: {file} would gain what looks like a secret ({what})",
    },
    "repair.guard-empty": {
        "zh": "安全检查未通过：没有任何改动",
        "en": "A guard rail refused the change: nothing would change",
    },
    "repair.no-push-right": {
        "zh": "没有向源分支推送的权限，改为给出补丁。",
        "en": "The source branch does not accept our push, so a patch is offered instead.",
    },
    "repair.source-gone": {
        "zh": (
            "PR 的源仓库（fork）或源分支已被删除，或对 GateBot 不可见，无法向其推送修复。"
            "请恢复该仓库、分支或 GateBot 的访问权限；无法恢复时，请从新的分支重新提交 PR。"
        ),
        "en": (
            "The repository (fork) or the branch that this pull request comes from was deleted or is hidden from "
            "GateBot, so no fix can be pushed to it. Restore it or GateBot's access to it, or open a new pull request "
            "from another branch."
        ),
    },
    "repair.head-moved": {
        "zh": "PR 已有新的提交，本次修复作废。",
        "en": "The pull request has a newer commit; this repair is void.",
    },
    # codespell
    "repair.ambiguous-word": {
        "zh": "“{word}”有多种改法（{candidates}），需要人工选择。",
        "en": "“{word}” has several corrections ({candidates}); a person has to choose.",
    },
    "repair.word-in-code": {
        "zh": "“{word}”出现在代码、字符串、链接或标识符中，修改可能改变行为。",
        "en": "“{word}” is part of code, a string, a link or an identifier; changing it might change behaviour.",
    },
    "repair.word-is-a-name": {
        "zh": "“{word}”也是代码中的名字，只改注释会与代码不一致。",
        "en": "“{word}” is also a name in the code; changing only the prose would contradict it.",
    },
    "repair.unknown-prose": {
        "zh": "无法判断 {file} 中哪些是注释或正文。",
        "en": "It is not known which parts of {file} are prose.",
    },
    # imports
    "repair.import-in-init": {
        "zh": "__init__.py 中的 import 可能是对外导出，不自动删除。",
        "en": "An import in __init__.py may be a re-export, so it is not removed automatically.",
    },
    "repair.import-conditional": {
        "zh": "该 import 位于 try 或条件分支中，可能用于探测依赖是否存在。",
        "en": "The import sits in a try or a condition and may probe whether a dependency exists.",
    },
    "repair.import-used": {
        "zh": "“{name}”在{where}中被提到，可能仍被使用。",
        "en": "“{name}” is mentioned in {where} and may still be used.",
    },
    "repair.import-side-effect": {
        "zh": "导入 {name} 可能有副作用（{why}）。",
        "en": "Importing {name} may have side effects ({why}).",
    },
    "repair.import-comment": {
        "zh": "该 import 行的注释表明它是有意保留的。",
        "en": "The comment on the import says that it is kept on purpose.",
    },
    "repair.import-fixture": {
        "zh": "“{name}”可能是 pytest fixture 或插件钩子，删除会使测试失效。",
        "en": "“{name}” may be a pytest fixture or hook; removing it could break tests.",
    },
    "repair.import-exported": {
        "zh": "其他文件（{where}）从这里导入“{name}”。",
        "en": "Another file ({where}) takes “{name}” from here.",
    },
    # registration of operators
    "repair.op-yaml-by-hand": {
        "zh": "{file} 中的算子注册需要人工修改：{why}。",
        "en": "The registration of operators in {file} has to be corrected by hand: {why}.",
    },
    "repair.op-yaml-outside": {
        "zh": "{file} 不在本次 PR 的修改范围内，不会改动它；请在其中写入“{what}”。",
        "en": "{file} is not among the files of this pull request, so it is left alone; please write there “{what}”.",
    },
    # calls and statements
    "repair.call-unpacks": {
        "zh": "调用中使用了 ** 展开，可能已经包含 {what}。",
        "en": "The call unpacks a mapping with **, which may already hold {what}.",
    },
    "repair.unsafe": {"zh": "无法保证行为不变：{why}", "en": "The same behaviour cannot be promised: {why}"},
    "repair.string-content": {
        "zh": "空白位于字符串内容中，修改会改变字符串的值。",
        "en": "The white space is inside a string; changing it would change the string's value.",
    },
    "repair.docstring-form": {
        "zh": "{name} 的文档字符串形式特殊（拼接、f-string 或字节串），不自动修改。",
        "en": "The docstring of {name} has an unusual form (joined, f-string or bytes) and is left alone.",
    },
}

# Parts of sentences: what the code says in English, with {0}, {1} for what varies, and the same in Chinese.
PHRASES: Final[dict[str, str]] = {
    "except:": "except:",
    "in a coroutine it also catches cancellation": "在协程中它还会捕获取消",
    "{0} must not let anything through": "{0} 不能向外抛出任何异常",
    "it may be meant to catch SystemExit or KeyboardInterrupt ({0})": (
        "它可能有意捕获 SystemExit 或 KeyboardInterrupt（{0}）"
    ),
    "in a generator it also catches GeneratorExit": "在生成器中它还会捕获 GeneratorExit",
    "a def or class without docstring": "缺少文档字符串的 def 或 class",
    "the body stands on the line of its header": "函数体与定义写在同一行",
    "the last comment has no line end": "最后一行注释没有换行",
    "the repository has no .clang-format": "仓库中没有 .clang-format",
    "unformatted code": "格式不符的代码",
    "the style would reorder includes or change tokens": "该风格会调整 include 顺序或改动代码本身",
    "blanks": "空白",
    "blanks at the end": "行尾空白",
    "crowded comment": "与代码间距不足的注释",
    "a command": "命令",
    "blanks before the bracket": "括号前的空格",
    "a carriage return": "回车符",
    "shellcheck offers no fix of its own for {0}": "shellcheck 没有给出 {0} 的修复",
    "the fix spans lines, or tabs make its columns uncertain": "修复跨越多行，或制表符使列号不确定",
    "columns in a line with non-ASCII text are uncertain": "含非 ASCII 文字的行列号不确定",
    "a backslash means something else inside backquotes": "反引号中的反斜杠含义不同",
    "a declaration": "声明",
    "a second title": "第二个一级标题",
    "it is more than one plain declaration": "这不是单独一条简单的声明",
    "a sourced file does not tell whether its caller ends at the first failure": (
        "被 source 的文件看不出调用者是否会在首次失败时退出"
    ),
    "the script ends at the first failure, and the command's would now count": (
        "脚本会在首次失败时退出，拆开后该命令的失败也会算在内"
    ),
    "the declaration is part of a longer command": "这条声明是更长命令的一部分",
    "the value is made from the variable's outer value": "新值由同名变量的外层值得到",
    "the status of the line is used": "后面用到了这一行的退出状态",
    "the title stands in the front matter": "标题写在 front matter 中",
    "the first heading has chapters of its own and may be no title": "第一个标题有自己的小节，可能不是文档标题",
    "a heading cannot be put one level deeper": "有标题无法再降一级",
    "inside a function or a sourced file it may need return, not exit": (
        "在函数或被 source 的文件中可能应使用 return 而不是 exit"
    ),
    "{0} is more than a plain variable": "{0} 不是简单变量",
    "{0} may be meant to be split into words": "{0} 可能有意拆分成多个单词",
    "the default is not written as a literal": "默认值不是字面量",
    "the function has no body of its own": "函数没有自己的函数体",
    "{0} may be shared between calls on purpose": "{0} 可能有意在多次调用之间共享",
    "the function changes {0}, so calls may share it on purpose": "函数会修改 {0}，可能有意在多次调用之间共享",
    "the function already gives None a meaning for {0}": "函数已经为 {0} 的 None 值赋予含义",
    "an inner function keeps {0}": "内部函数持有 {0}",
    "the annotation of {0} does not allow None": "{0} 的类型标注不允许 None",
    "the import shares its line with another statement": "该 import 与其他语句写在同一行",
    "the import does not stand on a line of its own": "该 import 没有独占一行",
    "other statements stand between the imports, such as a change of sys.path": (
        "import 之间有其他语句，例如修改 sys.path"
    ),
    "a wildcard import binds unknown names": "通配 import 引入的名字未知",
    "a decorated or derived definition stands between": "中间有带装饰器或继承的定义",
    "{0} would be bound in another order": "{0} 的绑定顺序会改变",
    "a statement that runs stands between": "中间有会执行的语句",
    "the same name is imported twice": "同一个名字被导入两次",
    "a statement that runs stands between, such as a change of sys.path or of the environment": (
        "中间有会执行的语句，例如修改 sys.path 或环境变量"
    ),
    "a statement between changes another object": "中间的语句修改了其他对象",
    "the name is bound twice": "该名字被绑定两次",
    "the branch does not always leave": "该分支不一定会退出",
    "a branch is written on one line": "有分支写在一行内",
    "the statement is not in a block": "该语句不在语句块中",
    "a header to mend": "需要修正的文件头",
    "no file of this repository shows which header to use": "仓库中没有可参照的许可证文件头",
    "a string": "字符串",
    "a doctest": "doctest",
    "a type comment": "类型注释",
    "known for it": "已知如此",
    "its source is not in this repository": "源码不在本仓库中",
    "cannot be parsed": "无法解析",
    "{0}: cannot be parsed": "{0}：无法解析",
    "{0}: line {1} calls a function": "{0}：第 {1} 行调用了函数",
    "{0}: line {1} registers {2}": "{0}：第 {1} 行注册了 {2}",
    "{0}: line {1} runs a statement": "{0}：第 {1} 行执行了语句",
    "{0}: line {1} changes another object": "{0}：第 {1} 行修改了其他对象",
    "{0}: 1 == True, but 1 is not True; only a person knows which is meant": (
        "{0}：1 == True 成立但 1 is True 不成立，需要人工确认本意"
    ),
    "the comparison's value is passed on and may be element-wise": "比较结果被继续使用，可能是逐元素比较",
    "the comparisons are not all of one plain name with literal values": "这些比较并非同一个简单名字与字面量的比较",
    "blank lines at the end": "文件末尾的空行",
    "an f-string without placeholders": "没有占位符的 f-string",
    "the string is part of a joined one": "该字符串是拼接字符串的一部分",
    "the pass shares its line or is the whole block": "pass 与其他语句同行，或是唯一的语句",
    "a comment stands behind the pass": "pass 后面有注释",
    "the import shares its line with a compound statement": "该 import 与复合语句写在同一行",
    "the import is the only statement of its block": "该 import 是语句块中唯一的语句",
    "the rendered page would change": "渲染后的页面会改变",
    "a fence": "代码围栏",
    "a fence without language": "没有语言标记的代码围栏",
    "{0} is not a local name": "{0} 不是局部变量",
    "{0} is used or bound more than once": "{0} 被多次使用或绑定",
    "the function reads its variables by locals() or eval()": "函数通过 locals() 或 eval() 读取变量",
    "only a declaration": "这只是声明",
    "the name is part of an expression": "该名字是表达式的一部分",
    "the name is part of a pattern": "该名字是模式匹配的一部分",
    "no free name for {0} in {1}": "在 {1} 中找不到可替换 {0} 的名字",
    "tabs are part of this kind of file": "这类文件需要制表符",
    "a tab": "制表符",
    "tabs and blanks are mixed in a way that decides the structure": "制表符与空格混用且决定了代码结构",
    "it is not known where strings are in this kind of file": "无法判断这类文件中字符串的位置",
    "a byte that is not UTF-8": "非 UTF-8 字节",
    "the bytes are not plainly GBK; the encoding is not known": "这些字节不像 GBK，编码未知",
    "a missing final newline": "缺失的文件末尾换行",
    "its exact bytes cannot be kept": "无法保持其余内容逐字节不变",
    "the long line": "超长的行",
    "more than {0} characters": "超过 {0} 个字符的内容",
    "it cannot be tokenised": "无法进行词法分析",
    "the line is inside a string": "该行位于字符串内",
    "the comment steers a tool or holds a long link": "该注释用于控制工具或含有长链接",
    "the comment has a layout of its own": "该注释有自己的排版",
    "one word is longer than a line": "有单词比一行还长",
    "the program reads its own docstring": "程序会读取自己的文档字符串",
    "the docstring line has a layout of its own": "该行文档字符串有自己的排版",
    "the summary line of a docstring has to be shortened by a person": "文档字符串的摘要行需要人工缩短",
    "the docstring's line cannot be split": "该行文档字符串无法拆分",
    "a statement": "语句",
    "the statement has no place to break": "该语句没有可以换行的位置",
    "a string or a name in the statement is longer than a line": "语句中的字符串或名字比一行还长",
    "a def without return annotation": "缺少返回值标注的 def",
    "what it returns cannot be told from its body alone": "仅凭函数体无法确定返回类型",
    "trailing white space": "行尾空白",
    "only a plain open() whose close() is in sight can be rewritten": "只能改写 close() 可见的普通 open()",
    "the statement shares its line": "该语句与其他语句同行",
    "in a class body the name would become an attribute": "在类体中该名字会成为属性",
    "the file is handed on before it is closed": "文件在关闭前被传给了别处",
    "the file is opened later, inside a lambda or a generator": "文件在 lambda 或生成器中稍后才打开",
    "the file is not bound to one plain name": "文件没有绑定到一个简单的名字",
    "{0}.close() is not in the same block": "{0}.close() 不在同一语句块中",
    "nothing is done with the file, or it is closed twice": "文件没有被使用，或被关闭两次",
    "{0} is used elsewhere too": "{0} 在别处也被使用",
    "{0} is handed on or bound again": "{0} 被传给别处或重新绑定",
    "the block may be left before the file is closed": "文件关闭之前可能离开语句块",
    "{0} is not installed or does not run here": "{0} 未安装或无法运行",
    "no licence header": "没有许可证文件头",
    "whitespace": "空白",
    "docstring": "文档字符串",
    "comment": "注释",
    "import-order": "import 顺序",
    "unused-import": "未使用的 import",
    "encoding": "编码",
    "op-entry": "算子注册项",
    "no YAML file names {0} or is called {1}.yaml; make one": "没有 YAML 文件引用 {0}，也没有 {1}.yaml；请新建",
    "{0} could belong to more than one of them": "{0} 可能属于其中多个文件",
    "anchors or merge keys tie its entries together": "锚点或合并键使多个条目相互关联",
    "the default's class also counts for entries of other files": "默认类还用于指向其他文件的条目",
    "some of its entries name a file and some do not": "有的条目写明了文件，有的没有",
    "neither an operator file nor the target branch defines {0}; add the class or correct the name": (
        "没有算子文件定义 {0}，目标分支上也没有；请补上这个类或改正名字"
    ),
    "{0} is gone from {1}, and its new name is not certain ({2})": "{0} 已从 {1} 中删除，新名字无法确定（{2}）",
    "{0} does not look like {1} renamed; it may be another operator": "{0} 不像是 {1} 改名而来，可能是另一个算子",
    "{0} was there before without an entry, which may be meant so": "{0} 早已存在且没有注册，可能有意如此",
    "{0} has entries in {1} too": "{0} 在 {1} 中也有条目",
    "the name {0} is registered in {1} already, or that file cannot be read": (
        "名字 {0} 已在 {1} 中注册，或该文件无法读取"
    ),
    "{0} reads options that its entry must give": "{0} 需要条目中给出的选项，只有人知道应填什么",
    "the tests construct {0} under several names ({1}); add the entries": (
        "测试用多个名字构造 {0}（{1}），请自行添加条目"
    ),
    "the tests construct {0} as {1}, which does not look like its operator; add the entry": (
        "测试以 {1} 构造 {0}，不像它的算子名，请自行添加条目"
    ),
    "neither its tests nor the name of {0}.py tell the operator of {1}; add the entry": (
        "测试和文件名 {0}.py 都不能确定 {1} 的算子名，请自行添加条目"
    ),
    "the file has no entry to go by": "文件中没有可参照的条目",
    "the entry {0} does not name its class itself": "条目 {0} 没有自己写明类",
    "{0} is defined in {1}": "{0} 在 {1} 中都有定义",
    "prose": "正文",
    "code": "代码",
    "lines {0} to {1}": "第 {0} 到 {1} 行",
    "{0} files, at most {1}": "{0} 个文件，上限 {1}",
    "{0} lines, at most {1}": "{0} 行，上限 {1}",
}
