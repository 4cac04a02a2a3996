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
"""Sentences of the command line."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "cli.config_good": {"zh": "配置没有问题：{source}", "en": "The settings are good: {source}"},
    "cli.config_lacks": {
        "zh": "还缺 {name}（或 {name}_FILE）：没有它 gatebot serve 无法工作。",
        "en": "Still missing: {name} (or {name}_FILE); gatebot serve does not work without it.",
    },
    "cli.defaults": {"zh": "默认值", "en": "defaults"},
    "cli.listening": {"zh": "GateBot 已启动：{url}", "en": "GateBot listens on {url}"},
    "cli.no_repository": {
        "zh": "“{reference}” 没有写仓库。请写成 owner/repo#{number}，或在配置项 repositories 里只写一个仓库。",
        "en": "“{reference}” names no repository. Write owner/repo#{number}, or set exactly one in repositories.",
    },
    "cli.by_service": {"zh": "由正在运行的服务执行。", "en": "Carried out by the running service."},
    "cli.here": {
        "zh": "没有服务在运行，已在此处执行一步；后续请运行 gatebot serve，或加 --watch。",
        "en": "No service is running, so one step was done here; go on with gatebot serve, or use --watch.",
    },
    "cli.done": {"zh": "{case}：{phase}", "en": "{case}: {phase}"},
    "cli.effect": {"zh": "  {kind} → {state} {detail}", "en": "  {kind} → {state} {detail}"},
    "cli.nothing": {"zh": "  没有对外动作。", "en": "  Nothing left for the outside."},
    "cli.log_or_pull": {
        "zh": "diagnose：请给出 --log FILE 或一个合并请求，二者选一。",
        "en": "diagnose: give either --log FILE or a pull request.",
    },
    "cli.dry_run_store": {
        "zh": "服务的 dry_run 只支持 storage.url 为 sqlite:///….sqlite",
        "en": "dry_run of the service wants storage.url to be sqlite:///….sqlite",
    },
    "cli.later": {"zh": "现在做不到，请稍后再试：{why}", "en": "Not now; try again later: {why}"},
    "cli.not_found": {"zh": "没有找到：{why}", "en": "Not found: {why}"},
    "cli.refused": {"zh": "对方不接受：{why}", "en": "Refused: {why}"},
    "cli.hint.token_missing": {
        "zh": "没有配置 GitCode 访问令牌：请设置 GATEBOT_GITCODE_TOKEN 或 GATEBOT_GITCODE_TOKEN_FILE。",
        "en": "No GitCode token is configured: set GATEBOT_GITCODE_TOKEN or GATEBOT_GITCODE_TOKEN_FILE.",
    },
    "cli.hint.token": {
        "zh": "GitCode 不接受访问令牌：请检查 GATEBOT_GITCODE_TOKEN 是否缺失、写错或过期。",
        "en": "GitCode does not accept the token: is GATEBOT_GITCODE_TOKEN missing, wrong or expired?",
    },
    "cli.hint.scopes": {
        "zh": "GitCode 访问令牌的权限不够：请按 docs/operate.md 补上所需的 scope。",
        "en": "The GitCode token lacks a scope: docs/operate.md lists those it needs.",
    },
    "cli.hint.api_url": {
        "zh": "gitcode.api_url 返回了重定向：请改成最终地址。",
        "en": "gitcode.api_url answers with a redirect: set its final address.",
    },
    "cli.hint.jenkins_login": {
        "zh": "Jenkins 不接受登录：请检查 GATEBOT_JENKINS_USER 和 GATEBOT_JENKINS_TOKEN。",
        "en": "Jenkins does not accept the log-in: check GATEBOT_JENKINS_USER and GATEBOT_JENKINS_TOKEN.",
    },
    "cli.hint.jenkins_right": {
        "zh": "GATEBOT_JENKINS_USER 的账号没有这项权限：请在 Jenkins 上授权。",
        "en": "The account of GATEBOT_JENKINS_USER lacks this permission: grant it on Jenkins.",
    },
    "cli.hint.jenkins_url": {
        "zh": "jenkins.url 返回了重定向：请改成最终地址。",
        "en": "jenkins.url answers with a redirect: set its final address.",
    },
    "cli.hint.storage": {
        "zh": "打不开 storage.url：请检查地址、目录权限和数据库驱动。",
        "en": "storage.url cannot be opened: check its address, the directory's rights and the database driver.",
    },
    "cli.hint.one_service": {
        "zh": "另一个 gatebot serve 正在使用同一个 storage.url：请先停掉它；多副本需要 PostgreSQL。",
        "en": "Another gatebot serve works on the same storage.url: stop it first; several replicas need PostgreSQL.",
    },
    "cli.hint.newer_release": {
        "zh": "数据由更新的版本写成：请启动更新的版本，或恢复升级前的备份。",
        "en": "The data was written by a newer release: start that one, or restore the backup made before it.",
    },
    "cli.hint.listen": {
        "zh": "无法监听 server.host 和 server.port：请检查地址，以及端口是否已被占用。",
        "en": "Cannot listen on server.host and server.port: check the address, and whether the port is taken.",
    },
    "cli.hint.dbos": {
        "zh": "安装的 dbos 版本不合适：请运行 pip install 'dbos>=3.4,<3.5'。",
        "en": "The installed dbos does not fit: run pip install 'dbos>=3.4,<3.5'.",
    },
    "cli.no_build": {"zh": "没有找到这个合并请求的失败构建。", "en": "No failed build of this pull request was found."},
}
