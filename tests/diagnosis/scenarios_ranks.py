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
"""Scenarios of distributed runs: real launchers where this machine can run them, recorded lines of accelerators."""

from __future__ import annotations

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenario import Step

I, F = "infrastructure", "flake"  # noqa: E741
ST, SMOKE = "ST", "Smoke_Ascend"
WORKER = (
    "import os\nimport sys\nimport time\n\n\ndef work(rank):\n    if rank == 1:\n        raise ValueError('bad mesh')\n"
    "    time.sleep(20)\n\n\nwork(int(os.environ['RANK']))\n"
)
STAMP = "2025-10-11-11:32:"

SCENARIOS = (
    S(
        "torchrun-exception",
        {"w.py": WORKER},
        steps=(Step(ST, "python -m torch.distributed.run --nproc-per-node 2 --master-port 29611 w.py 2>&1"),),
        expected=(
            # before a process group exists, torch does not say which rank speaks
            E(ST, "python", "ValueError", "w.py", 8, "work", message="ValueError: bad mesh"),
            E(ST, "python", "worker-exit", None, None, None, rank=None),  # type: ignore[arg-type]
            E(ST, "torchrun", "worker-exit", function="root cause", rank=1),
        ),
        cause=("python", "ValueError"),
    ),
    S(
        "torchrun-signal",
        {
            "w.py": "import os\nimport signal\nimport time\nif os.environ['RANK'] == '0':\n    time.sleep(1)\n"
            "    os.kill(os.getpid(), signal.SIGSEGV)\ntime.sleep(20)\n"
        },
        steps=(Step(ST, "python -m torch.distributed.run --nproc-per-node 2 --master-port 29612 w.py 2>&1"),),
        expected=(
            E(ST, "python", "worker-exit", None, None, None, rank=None),  # type: ignore[arg-type]
            E(ST, "torchrun", "crash", function="root cause", rank=0, message=None),
        ),
        cause=("torchrun", "crash"),
    ),
    S(
        "torchrun-silent-children",
        steps=(
            Step(
                ST,
                recorded="torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
                + "=" * 60
                + "\npytest FAILED\n"
                + "-" * 60
                + "\nFailures:\n  <NO_OTHER_FAILURES>\n"
                + "-" * 60
                + "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-06-12_01:02:03\n  host   "
                "   : node\n"
                "  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 99)\n  error_file: <N/A>\n"
                "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
                + "="
                * 60,
            ),
        ),
        expected=(E(ST, "torchrun", "worker-exit", function="root cause", rank=3),),
        cause=("torchrun", "worker-exit"),
        notes=("evidence-not-in-console",),
    ),
    S(
        "msrun-grep",
        steps=(
            Step(
                ST,
                recorded="Worker process 4711 exit with exception.\nAnalyzing exception log...\n"
                "./logs/t/case/worker_2.log:120:E       AssertionError: loss is nan\n"
                "./logs/t/case/worker_2.log-121-E       assert False\n"
                "./logs/t/case/worker_2.log-122-\n"
                "./logs/t/case/worker_2.log:123:tests/st/test_loss.py:44: AssertionError\n"
                "--\n"
                "./logs/t/case/worker_2.log:130:FAILED tests/st/test_loss.py::test_loss - AssertionError: loss is nan\n"
                "RuntimeError: Distributed job exited with exception. Please check logs in directory: ./logs/t/case.",
            ),
        ),
        expected=(
            E(ST, "msrun", "worker-exit", message="Worker process 4711 exit with exception."),
            E(ST, "pytest", "AssertionError", "tests/st/test_loss.py", 44, "tests/st/test_loss.py::test_loss", rank=2),
            E(ST, "msrun", "worker-exit"),
        ),
        cause=("pytest", "AssertionError"),
    ),
    S(
        "ranks-time-out-behind-one-error",
        steps=(
            Step(
                SMOKE,
                recorded="\n".join(
                    [
                        f"./log/worker_0.log:9:[ERROR] HCCL(15,python):{STAMP}59.335.888 [hccl.cc:12]15 Wait:"
                        f" wait socket"
                        " establish timeout, role[0] rank[0] timeout[120 s]",
                        f"./log/worker_1.log:9:EI0006: [PID: 16] {STAMP}59.400.000 Communication_Error_Bind:"
                        f" Getting socket"
                        " times out.",
                        f"./log/worker_2.log:7:[ERROR] DEVICE(17,fffd01,python):{STAMP}01.000.001"
                        " [mindspore/ccsrc/plugin/device/x.cc:761] Launch] Launch kernel failed, ret 507015",
                        f"./log/worker_3.log:9:EI0006: [PID: 18] {STAMP}59.500.000 Communication_Error_Bind:"
                        f" Getting socket"
                        " times out.",
                    ]
                ),
            ),
        ),
        expected=(
            E(SMOKE, "ascend", "hccl-timeout", failure_class=F, rank=0),
            E(SMOKE, "ascend", "EI0006", failure_class=F, rank=1),
            E(SMOKE, "mindspore", "507015", "mindspore/ccsrc/plugin/device/x.cc", 761, "Launch", rank=2),
            E(SMOKE, "ascend", "EI0006", failure_class=F, rank=3),
        ),
        cause=("mindspore", "507015"),
    ),
    S(
        "ranks-earliest-error-first",
        steps=(
            Step(
                SMOKE,
                recorded="\n".join(
                    f"./log/worker_{rank}.log:7:[ERROR] DEVICE(1{rank},fffd0{rank},python):{STAMP}{second}.000.001"
                    f" [mindspore/ccsrc/runtime/x.cc:{rank + 10}] Run] {words}"
                    for rank, second, words in ((0, 40, "Sync stream failed"), (1, 12, "Tensor shape is wrong"))
                ),
            ),
        ),
        expected=(
            E(SMOKE, "mindspore", "DEVICE", "mindspore/ccsrc/runtime/x.cc", 10, rank=0),
            E(
                SMOKE,
                "mindspore",
                "DEVICE",
                "mindspore/ccsrc/runtime/x.cc",
                11,
                rank=1,
                message="Tensor shape is wrong",
            ),
        ),
        cause=("mindspore", "DEVICE"),
    ),
    S(
        "all-ranks-time-out",
        steps=(
            Step(
                SMOKE,
                recorded="\n".join(
                    f"./log/worker_{rank}.log:9:EI0006: [PID: 16] {STAMP}59.400.000 Communication_Error_Bind:"
                    f" Getting socket"
                    " times out."
                    for rank in range(4)
                ),
            ),
        ),
        expected=tuple(E(SMOKE, "ascend", "EI0006", failure_class=F, rank=rank) for rank in range(4)),
        cause=("ascend", "EI0006"),
    ),
    S(
        "mindspore-blocks",
        steps=(
            Step(
                SMOKE,
                recorded="RuntimeError: Launch graph failed\n"
                + "-" * 50
                + "\n- Ascend Error Message:\n"
                + "-" * 50
                + "\nEE9999: Inner Error!\n        rtKernelLaunch failed.\n"
                + "-" * 50
                + "\n- Framework Error Message: (For framework developers)\n"
                + "-" * 50
                + "\nGraph executor returned failed status\n"
                + "-" * 50
                + "\n- C++ Call Stack: (For framework developers)\n"
                + "-" * 50
                + "\nmindspore/ccsrc/backend/x.cc:88 RunGraph",
            ),
        ),
        expected=(
            E(SMOKE, "ascend", "EE9999", message="Inner Error!"),
            E(SMOKE, "mindspore", "framework", message="Graph executor returned failed status"),
            E(SMOKE, "mindspore", "call-stack", "mindspore/ccsrc/backend/x.cc", 88, "RunGraph"),
        ),
        cause=("ascend", "EE9999"),
    ),
    S(
        "card-shared",
        steps=(
            Step(
                SMOKE,
                recorded="RuntimeError: NPU out of memory. Tried to allocate 22.00 MiB (NPU 0; 60.96 GiB"
                " total capacity;"
                " 1.20 GiB already allocated; 19.79 MiB free; 2.00 GiB reserved)\n"
                "[ERROR] RUNTIME(16,python):2026-06-12-01:02:03.000.000 [x.cc:3]16 Malloc: Malloc device memory failed,"
                " size[33554432], ret[207001], Device 6 may be other processes occupying this card",
            ),
        ),
        expected=(
            E(SMOKE, "ascend", "out-of-memory", failure_class=I),
            E(SMOKE, "ascend", "207001", failure_class=I),
        ),
        cause=("ascend", "out-of-memory"),
    ),
    S(
        "model-too-big",
        steps=(
            Step(
                SMOKE,
                recorded="RuntimeError: NPU out of memory. Tried to allocate 44.00 GiB (NPU 0; 60.96 GiB"
                " total capacity;"
                " 30.00 GiB already allocated; 29.00 GiB free; 31.00 GiB reserved)",
            ),
        ),
        expected=(E(SMOKE, "ascend", "out-of-memory"),),
    ),
    S(
        "interleaved-ranks",
        steps=(
            Step(
                ST,
                recorded="[rank1]: Traceback (most recent call last):\n[rank0]: Traceback (most recent call last):\n"
                '[rank1]:   File "/home/jenkins/workspace/Gate/hyper_parallel/mesh.py", line 31, in build\n'
                '[rank0]:   File "/home/jenkins/workspace/Gate/hyper_parallel/mesh.py", line 31, in build\n'
                "[rank1]:     raise ValueError(size)\n[rank0]:     raise ValueError(size)\n"
                "[rank0]: ValueError: 8\n[rank1]: ValueError: 8",
            ),
        ),
        expected=(
            E(ST, "python", "ValueError", "hyper_parallel/mesh.py", 31, "build", rank=0),
            E(ST, "python", "ValueError", "hyper_parallel/mesh.py", 31, "build", rank=1),
        ),
        cause=("python", "ValueError"),
    ),
)
