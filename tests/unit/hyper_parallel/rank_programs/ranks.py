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
"""Starts gloo ranks of one program, collects what each returns, prints it as JSON."""

import json
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _rank(rank, size, port, program, args, path):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(size))
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    result = program(rank, *args)
    gathered = [None] * size
    dist.all_gather_object(gathered, result)
    if rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(gathered, file)
    dist.barrier()
    dist.destroy_process_group()


def main(program, size, args, path):
    mp.spawn(_rank, args=(size, _free_port(), program, args, path), nprocs=size)
    sys.exit(0)
