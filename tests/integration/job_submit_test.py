"""deploy/slurm/job_submit.lua on requests that the Slurm installed here has no option for, in the Lua that Slurm links."""

import ctypes
import ctypes.util
import re

import pytest

UNSET = 0xFFFE
HARNESS = """
said = ""
slurm = { SUCCESS = 0, ERROR = -1, log_user = function(form, ...) said = string.format(form, ...) end }
dofile(%s)
local job = { partition = "elastic", shared = %s, min_mem_per_node = 2^64, min_mem_per_cpu = 2^64, tres_per_task = %s }
answer = slurm_job_submit(job, {}, 4294967294) .. " " .. said
"""


@pytest.fixture(scope="module")
def lua():
    name = ctypes.util.find_library("lua5.1")
    if name is None:
        pytest.skip("needs liblua5.1, with which Slurm comes")
    library = ctypes.CDLL(name)
    library.luaL_newstate.restype = ctypes.c_void_p
    library.lua_tolstring.restype = ctypes.c_char_p
    return library


@pytest.fixture
def submit(lua, root):
    """What the plugin says to a job of a user's with this number for sharing, and this request for each task: its answer and what
    the user is told."""
    script = root / "deploy" / "slurm" / "job_submit.lua"

    def run(shared=UNSET, of_task="nil"):
        state = ctypes.c_void_p(lua.luaL_newstate())
        try:
            lua.luaL_openlibs(state)
            code = HARNESS % ("[[" + str(script) + "]]", shared, of_task)
            failed = lua.luaL_loadstring(state, code.encode()) or lua.lua_pcall(state, 0, 0, 0)
            if not failed:
                lua.lua_getfield(state, -10002, b"answer")  # a global
            text = lua.lua_tolstring(state, -1, None).decode()
            assert not failed, text
            return text
        finally:
            lua.lua_close(state)
    return run


@pytest.mark.parametrize("shared", [UNSET, 1])
def test_a_job_that_shares_nodes_is_taken(submit, shared):
    assert submit(shared) == "0 "


@pytest.mark.parametrize("shared", [0, 2, 3, 4, 5])  # 4: --exclusive=topo, from 26.05 on; 5: of releases to come
def test_whatever_asks_for_nodes_is_refused(submit, shared):
    assert re.match(r"-1 .*without --exclusive", submit(shared))


def test_cores_of_a_task_are_no_gpus(submit):
    """Newer releases write --cpus-per-task there, too."""
    assert submit(of_task="'cpu=3'") == "0 "
    assert re.match(r"-1 ask for GPUs by --gres", submit(of_task="'cpu=3,gres/gpu:1'"))
