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
"""The words by which Chinese (and English) templates say what they want, and the keys texts are compared by.

Sources of the words: the templates of MindSpore, HyperParallel, openEuler and CANN repositories and common usage in
Chinese forms; each expression is kept narrow, because a false "optional" would let an empty description through.
"""

from __future__ import annotations

import html
import re
import unicodedata

from bot.template.model import Mode

_OPTIONAL_WORD = (
    r"(?:选填|(?<!不)可选(?![择取项中])|非必[填须需选]|不必填|无需必填|可不填|可以不填|(?<!不)可留空|(?<!不)可省略|按需填写|"
    r"如有(?:必要|需要)?|若有|如适用|若适用|如涉及|若涉及|视情况|optional|if any|if applicable|where applicable)"
)
_REQUIRED_WORD = r"(?:必填|必选|必须|必需|required|mandatory)"
_BRACKETED = re.compile(r"[（(\[【〔<][^（()）\[\]【】〔〕<>]*[)）\]】〕>]")
_OPTIONAL_IN_BRACKETS = re.compile(rf"[（(\[【〔<][^（()）\[\]【】〔〕<>]*{_OPTIONAL_WORD}", re.IGNORECASE)
_OPTIONAL_AT_EDGE = re.compile(
    rf"(?:^\W*{_OPTIONAL_WORD}(?:\s*$|[\s:：，,、】\]）)-])|[\s\-—–·|:：,，_*]+{_OPTIONAL_WORD}\W*$|^(?:如有|若有|如涉及|若涉及|如果?适用|如果涉及|如果有))",
    re.IGNORECASE,
)
_OPTIONAL_HINT = re.compile(
    rf"^\W*(?:(?:本|此|该)(?:节|项|部分|段|栏)?|这一?[节项])?(?:内容)?[为是]?{_OPTIONAL_WORD}|"
    r"(?<!不)可(?:以)?(?:不填|留空|省略|忽略|跳过)|(?:如|若|没)有?无?.{0,12}(?:可|请)(?:以|直接)?(?:删除|忽略|留空|不填|跳过|省略)|"
    r"不(?:涉及|适用).{0,4}(?:可|请|则)(?:以|直接)?(?:删除|忽略|留空|不填|跳过|省略)|"
    r"(?:leave|left) (?:it |this )?(?:blank|empty)|(?:delete|remove|skip) this (?:section|part|line)",
    re.IGNORECASE,
)
_NEGATED_HINT = re.compile(r"(?:不可|不能|不得|请勿|勿|不要|不允许|do not|don't|must not)\s*(?:以)?", re.IGNORECASE)
_MARK_WORDS = re.compile(
    rf"{_OPTIONAL_WORD}|{_REQUIRED_WORD}|(?:可)?多选|单选|[二三四五六七八多]选一|择一|不定项|"
    r"(?:请)?(?:选择|勾选|只选|选)(?:其中)?[一1](?:项|个)|至少[选勾]?.{0,2}[一1][项个]|"
    r"choose one|select one|pick one|multiple",
    re.IGNORECASE,
)

_NOT_MANY = re.compile(r"(?:不可|不能|不支持|不允许|禁止|勿|非)多选")
_ANY_WORD = re.compile(
    r"多选|至少|一[项个](?:或|及)(?:多[项个]|以上)|一[项个]以上|不定项|所有适用|全部适用|适用的?(?:项|选项)?(?:打|都)?勾|"
    r"勾选(?:所有|全部)?(?:适用|涉及|相关)|all that apply|one or more|at least one|multiple|any that apply",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(
    r"单选|[二三四五六七八多任]选[一1其]|择一|其一|选[一1](?=[）)\]】\s]|$)|选择?[^。；;]{0,6}?[一1]\s*[项个种类]|之一|"
    r"(?:只|仅)(?:能|可|需)?(?:选|勾|保留)|(?:勾选?|打勾|保留)[^。；;]{0,4}?[一1]\s*[项个种行]|(?:只|仅)[一1]项|"
    r"(?:choose|select|pick|check|tick|keep|uncomment) (?:only |exactly |just )?one|only one|exactly one|one of|"
    r"single choice",
    re.IGNORECASE,
)
_ALL_WORD = re.compile(
    r"自检|自查|检查(?:清单|列表|单|项)|核对(?:清单|表)?|清单|全部勾选|逐[项一条]|均[需须要]|都[需须要]|必须勾|须全部|需全部|请?确认|承诺|确保|提交前|合入前|"
    r"check ?-?list|self[- ]?(?:check|review)|before submitting|confirm",
    re.IGNORECASE,
)
_TYPE_WORD = re.compile(r"类型|类别|种类|分类|范围|\b(?:type|kind|scope)", re.IGNORECASE)
_STATEMENT = re.compile(
    r"已|完成|通过|确认|没有|无[^关]|符合|遵循|遵守|不包含|不含|确保|保证|经过|"
    r"\b(?:i have|i've|my |has been|have been|passed?|added|updated|follows?)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"^(?:是|有|yes|需要?|涉及|影响|兼容|支持|包含|会|true)", re.IGNORECASE)
_NO = re.compile(r"^(?:否|无|没有|no\b|not\b|不|false)", re.IGNORECASE)

_PLACEHOLDER_WORDS = (
    r"(?:填写|填入|填上|描述|补充|输入|说明|粘贴|列出|简述|写明|注明|写下|简要|详细|概述|阐述|介绍|提供|附上|贴上|键入)"
)
_PLACEHOLDER = re.compile(
    r"^(?:"
    rf"(?:请(?:您)?(?:务必)?|在此|此处|在这里|这里|在本行|本行|在下方|在下面)[^\s:：]{{0,8}}?{_PLACEHOLDER_WORDS}.{{0,60}}|"
    r"(?:请)?填写.{0,20}|待(?:补充|填写?|完善|定|更新|补)|占位(?:符|内容)?|示例文[本字]|略|"
    r"todo(?:\W.*)?|tbd|tbc|fixme|placeholder|x{2,}|\.{2,}|…+|_{2,}|-{2,}|—+|[?？]+|"
    r"(?:please )?(?:fill(?: (?:me )?in| out)?|enter|provide|describe|write|type)\b[^.]{0,60}\bhere|"
    r"please (?:fill|enter|provide|describe|write|add)\b.{0,80}|"
    r"(?:your|add) .{0,40}\bhere"
    r")$",
    re.IGNORECASE,
)
_WRAPPED_PLACEHOLDER = re.compile(
    rf"^(?:<[^<>/]+>|\{{\{{[^{{}}]*\}}\}}|\[[^\[\]]*(?:{_PLACEHOLDER_WORDS}|xx|todo)[^\[\]]*\]|[【〔][^【】〔〕]*{_PLACEHOLDER_WORDS}[^【】〔〕]*[】〕])$",
    re.IGNORECASE,
)
_STRONG_PLACEHOLDER = re.compile(
    r"在此(?:行|处)?|此处|在这里|在本行|在下方(?:填|写|描)|todo|tbd|待(?:补充|填)|请填写|here\W*$", re.IGNORECASE
)
_TICK_HINT = re.compile(r"勾选|选择|打勾|\[x\]|tick|check the box|保留", re.IGNORECASE)
_NONE_ALLOWED = re.compile(
    r"(?:没有|无|若无|如无|不涉及).{0,14}(?:填|写|注明|说明|标注|使用)\S{0,3}?[\"“「'`]?(?:无|不涉及|N/?A|none)|"
    r"(?:write|put|use) [\"“'`]?(?:none|n/a)",
    re.IGNORECASE,
)
_WAIVER = re.compile(
    r"(?:不需要?|无需|无须|不用|不必|不涉及|不适用|免(?:除|于)?|跳过|"
    r"no need|not (?:needed|required|applicable)|n/?a\b|skip)",
    re.IGNORECASE,
)
_NONE_ANSWER = re.compile(r"(?:^|[:：\s])(?:无|没有|不涉及|不适用|n/?a|none)(?:\W|$|关联|相关|issue)", re.IGNORECASE)
_INSTRUCTION_TITLE = re.compile(
    r"须知|注意事项|提交指南|填写(?:说明|指南|须知)|使用说明|温馨提示|贡献指南|guidelines?$", re.IGNORECASE
)
_INSTRUCTION_START = re.compile(
    r"^(?:请|注意|注[:：]|提示|温馨提示|重要|警告|务必|如果|若|例如|例[:：]|"
    r"(?:示例|样例|格式|参考格式|示例如下|格式如下|参考)[:：]?$|"
    r"note\b|tips?\b|warning\b|important\b|please\b|e\.g|example|if )",
    re.IGNORECASE,
)


def key_of(text: str) -> str:
    """What is left of a text when width, case, blanks, punctuation, emoji and Markdown marks are taken away."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return "".join(char for char in folded if char.isalnum())


def plain_text(text: str) -> str:
    """A text without emphasis, code marks, tags and entities; of a link its words remain, an image stays."""
    words = re.sub(r"(?<!!)\[([^\[\]]+)\]\([^()\s]*\)", r"\1", text)
    words = re.sub(r"</?(?!img\b)[a-zA-Z][^<>]*>", " ", words)
    return re.sub(r"\*\*|__|~~|`", "", html.unescape(words)).strip()


def title_keys(title: str) -> tuple[str, ...]:
    """Keys a heading may go by, strongest first: whole, without brackets, and each part of a two-language title."""
    bare = strip_marks(title)
    outside = _BRACKETED.sub(" ", bare)
    inside = [match[0][1:-1] for match in _BRACKETED.finditer(bare)]
    parts = [part for text in (outside, *inside) for part in re.split(r"\s*[/／|｜]\s*", text)]
    keys = [key_of(text) for text in (bare, outside, *parts)]
    long_enough = [key for number, key in enumerate(keys) if key and (number < 2 or len(key) >= 2)]
    return tuple(dict.fromkeys(long_enough))


def strip_marks(title: str) -> str:
    """A title without "(必填)", "（单选）" and the like, without emphasis, closing colon and stars."""
    text = _BRACKETED.sub(lambda match: " " if _MARK_WORDS.search(match[0]) else match[0], title)
    text = re.sub(rf"[\s\-—–·|:：,，_*]+(?:{_OPTIONAL_WORD}|{_REQUIRED_WORD})\W*$", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\*\*|__|~~|<[^>]+>", "", text)
    return re.sub(r"\s+", " ", text).strip(" \t*＊:：_`").strip()


def is_optional_title(title: str) -> bool:
    """Whether a heading or field name says that it may stay empty."""
    if re.search(_REQUIRED_WORD, title, re.IGNORECASE) and not re.search(r"非必|不必|无需必", title):
        return False
    plain = re.sub(r"\*\*|__", "", title)
    return bool(_OPTIONAL_IN_BRACKETS.search(plain) or _OPTIONAL_AT_EDGE.search(plain.strip()))


def is_optional_hint(hint: str) -> bool:
    """Whether a hint under a heading says that the section may stay empty."""
    text = hint.strip()
    match = _OPTIONAL_HINT.search(text)
    return match is not None and not _NEGATED_HINT.search(text[max(0, match.start() - 3) : match.start() + 2])


def said_mode(text: str) -> Mode | None:
    """The mode a text names outright ("单选", "至少选一项"), if it does."""
    plain = _NOT_MANY.sub("单选", text)
    if _ANY_WORD.search(plain):
        return Mode.ANY
    return Mode.ONE if _ONE_WORD.search(plain) else None


def mode_of(label: str, hints: str, items: list[str]) -> Mode:
    """How many boxes count, told by the label, the hints around the list, and the items themselves."""
    if said := said_mode(label) or said_mode(hints):
        return said
    if len(items) == 2 and sum(1 for item in items if _NO.match(item)) == 1 == sum(1 for i in items if _YES.match(i)):
        return Mode.ONE
    if _ALL_WORD.search(label) or (_ALL_WORD.search(hints) and not _TYPE_WORD.search(label)):
        return Mode.ALL
    statements = sum(1 for item in items if _STATEMENT.search(item))
    return Mode.ALL if statements * 2 >= len(items) else Mode.ANY


def is_placeholder(text: str) -> bool:
    """Whether a line, whoever wrote it, is only an invitation to write something."""
    bare = unicodedata.normalize("NFKC", text).strip(" \t*_`>-+|")
    if _WRAPPED_PLACEHOLDER.match(bare):
        return True
    bare = bare.strip(" \t()[]<>【】「」“”\"'。.!,;:") or bare
    return bool(_PLACEHOLDER.match(bare))


def asks_for_text(text: str) -> bool:
    """Whether a visible template line is a blank to write into, even beside a check-list."""
    return is_placeholder(text) and bool(_STRONG_PLACEHOLDER.search(text)) and not _TICK_HINT.search(text)


def allows_none(hints: str) -> bool:
    """Whether the template itself says that "无" is an answer."""
    return bool(_NONE_ALLOWED.search(hints))


def answers_none(text: str) -> bool:
    """Whether the author says that there is none."""
    return bool(_NONE_ANSWER.search(unicodedata.normalize("NFKC", text)))


def is_waiver(text: str) -> bool:
    """Whether the text of a lone check-box excuses the author from writing ("本条 PR 不需要纳入 Changelog")."""
    return bool(_WAIVER.search(text)) and not _STATEMENT.search(text) and "说明" not in text


def is_instruction_title(title: str) -> bool:
    """Whether a section only instructs and asks for nothing."""
    return bool(_INSTRUCTION_TITLE.search(title))


def is_instruction(text: str) -> bool:
    """Whether a line speaks to the author instead of naming a blank."""
    return bool(_INSTRUCTION_START.match(text.strip(" *_>-+")))
