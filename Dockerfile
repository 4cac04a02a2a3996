# syntax=docker/dockerfile:1
# GateBot as a container. State lives on the volume /var/lib/gatebot, the configuration is mounted at
# /etc/gatebot/gatebot.yaml, and every secret is a file named by a *_FILE variable (see docs/operate.md).
#
# BASE may be any Debian-like image that has Python 3.11 and apt.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python3 -m venv /opt/gatebot
COPY pyproject.toml README.md LICENSE ./
COPY config/constraints.txt config/constraints.txt
COPY bot/ bot/
COPY hyper_parallel/ hyper_parallel/
RUN /opt/gatebot/bin/pip install -c config/constraints.txt .

FROM ${BASE} AS run
# git: work trees and pushes; shellcheck: the fixer for its own findings; bubblewrap: the sandbox of checks on foreign code.
# Versions follow the base image's release, so that its security updates are taken.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git shellcheck bubblewrap tini \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 gatebot \
    && useradd --uid 10001 --gid gatebot --home-dir /var/lib/gatebot --create-home gatebot
COPY --from=build /opt/gatebot /opt/gatebot
COPY --chown=root:root config/gatebot.example.yaml /etc/gatebot/gatebot.yaml
ENV PATH=/opt/gatebot/bin:$PATH PYTHONUNBUFFERED=1 GATEBOT_CONFIG=/etc/gatebot/gatebot.yaml
USER 10001:10001
WORKDIR /var/lib/gatebot
VOLUME ["/var/lib/gatebot"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python3", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["tini", "--", "gatebot"]
CMD ["serve", "--host", "0.0.0.0"]
