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
"""Meshes without processes: coordinates, names, rows, sub-meshes, identity."""

import pickle

import pytest

from hyper_parallel import DeviceMesh, get_current_mesh, init_device_mesh


def mesh(shape, names=None, rank=0, ranks=None):
    return init_device_mesh("cpu", shape, mesh_dim_names=names, rank_list=ranks, init_backend=False, rank=rank)


def test_equal_meshes_are_one_object_and_rank_order_tells_meshes_apart():
    assert mesh((2, 2), ("dp", "tp")) is mesh((2, 2), ("dp", "tp"))
    straight, crossed = mesh((2, 2), ranks=[0, 1, 2, 3]), mesh((2, 2), ranks=[0, 2, 1, 3])
    assert straight is not crossed


def test_coordinates_follow_row_major_order_of_the_rank_list():
    m = mesh((2, 3), ("dp", "tp"), rank=12, ranks=[10, 11, 12, 13, 14, 15])
    assert m.get_coordinate() == (0, 2)
    assert m.ranks_along("tp") == (10, 11, 12)
    assert m.ranks_along("dp") == (12, 15)
    assert m.rows(0) == [(10, 13), (11, 14), (12, 15)]
    assert m.get_local_rank("tp") == 2
    assert m.size() == 6
    assert m.size("dp") == 2


def test_a_rank_outside_the_mesh_has_no_coordinate_and_says_so_when_asked_for_its_part():
    m = mesh((2,), rank=7)
    assert m.get_coordinate() is None
    with pytest.raises(ValueError, match="the own rank should be one of"):
        m.own_coordinate()


def test_axis_ids_count_from_the_right():
    m = mesh((2, 4), ("dp", "tp"))
    assert (m.axis_index("dp"), m.axis_id("dp")) == (0, 1)
    assert (m.axis_index(-1), m.axis_id("tp")) == (1, 0)


def test_sub_mesh_of_named_axes_holds_the_own_row():
    m = mesh((2, 2, 2), ("pp", "dp", "tp"), rank=5)
    assert m["tp"].ranks == (4, 5)
    assert m["pp", "tp"].ranks == (0, 1, 4, 5)
    assert m["tp"] is m["tp"]
    assert m["pp", "dp", "tp"] is m


def test_a_flattened_mesh_is_known_by_its_name():
    whole = mesh((2, 2, 2), ("pp", "dp", "tp"), rank=6)
    flat = whole["dp", "tp"]._flatten("dp_tp")
    assert whole["dp_tp"] is flat
    assert flat.ranks == (4, 5, 6, 7)
    assert whole["dp", "tp"]["dp_tp"] is flat
    with pytest.raises(ValueError, match="no axis of the mesh, but got 'pp'"):
        whole["dp", "tp"].flatten("pp")


def test_flatten_keeps_the_ranks():
    assert mesh((2, 2), ("dp", "tp"), rank=3).flatten("all").ranks == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("shape", "names", "ranks", "message"),
    [
        ((2, 0), None, None, "mesh_shape should be positive"),
        ((2, 2), ("a", "a"), None, "unique names"),
        ((2,), ("a", "b"), None, "1 unique names"),
        ((2,), None, [0, 0], "2 different ranks"),
    ],
)
def test_malformed_meshes_are_refused(shape, names, ranks, message):
    with pytest.raises(ValueError, match=message):
        mesh(shape, names, ranks=ranks)


def test_unknown_axis_name_is_refused():
    with pytest.raises(ValueError, match="axis name should be one of"):
        mesh((2,), ("dp",))["tp"]


def test_current_mesh_is_that_of_the_innermost_block():
    outer, inner = mesh((1,), ("a",)), mesh((1,), ("b",))
    assert get_current_mesh() is None
    with outer:
        with inner:
            assert get_current_mesh() is inner
        assert get_current_mesh() is outer


def test_pickling_gives_the_same_mesh():
    m = DeviceMesh("cpu", (1, 1), ("dp", "tp"))
    assert pickle.loads(pickle.dumps(m)) is m
