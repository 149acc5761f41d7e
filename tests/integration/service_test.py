"""`allot serve` as a service: options in a file, signals, who may ask, who asked, and where commands find it."""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from local import ENDLESS
from waiting import wait_until

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")


def said(live, text):
    wait_until(lambda: text in live.log(), lambda: f"'{text}' in the log: {live.log()[-3000:]}")


def reload(live, config, text):
    config.write_text(text)
    live.daemon.send_signal(signal.SIGHUP)


def test_rules_of_the_config_file_are_read_again(live, tmp_path):
    config = tmp_path / "serve.toml"
    config.write_text('interval = "300ms"\nkeep-jobs = 10\n')
    live.serve("--config", config)
    live.submit("a", steps=ENDLESS, high=8)
    live.training("a", at_least=8)
    reload(live, config, 'poll = "20ms"\nkeep-jobs = 11\n[rules]\nsizes = [1, 2]\n')
    said(live, "changes of --keep-jobs need a restart")
    live.submit("b", steps=ENDLESS, high=8)  # "a" keeps what it has until it is given something else
    wait_until(lambda: [live.job(name) and live.job(name)["gpus"] for name in "ab"] == [2, 2],
               lambda: f"two GPUs each, which the rules allow: {live.status()['jobs']}")
    assert live.status()["rules"] == str(config)


def test_a_config_file_with_a_fault_changes_nothing(live, tmp_path):
    config = tmp_path / "serve.toml"
    config.write_text("[rules]\nsizes = [1, 2]\n")
    live.serve("--config", config)
    for text, why in (("[rules]\nsizes = [3\n", ":2: must be TOML"), ("[rules]\nsize = 3\n", ":2: unknown key 'size'"),
                      ('keep-jobs = "soon"\n', ":1)"), ("intervall = 3\n", ":1: unknown option 'intervall'")):
        reload(live, config, text)
        said(live, "the settings stay as they are, because the new ones cannot be read: ")
        said(live, f"{config}{why}")
    live.submit("a", steps=ENDLESS, high=8)
    live.training("a", at_least=2)
    assert live.job("a")["gpus"] == 2


def test_a_log_that_nobody_reads_ends_nothing(live):
    daemon = subprocess.Popen(list(map(str, live.arguments("--policy", "drf"))), stderr=subprocess.PIPE)
    live.daemon = daemon
    wait_until(live.asked, "a daemon that answers")
    daemon.stderr.close()
    live.say("pause")  # which it logs
    wait_until(lambda: live.status()["paused"], "a daemon that is paused and answers")


def test_log_and_journal_say_who_asked(live):
    live.serve()
    live.submit("a", steps=ENDLESS)
    live.training("a")
    for words in (("pause",), ("resume",), ("drain", "--node", "n1"), ("drain", "--node", "n1", "--undo"), ("cancel", "a")):
        live.say(*words)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    by = f"{user} (uid {os.getuid()})"
    asked = [r["what"] for r in live.journal() if r.get("by") == by]
    assert asked == ["pause", "resume", "drain", "undrain", "cancel"]
    said(live, f'control request of {by}: {{"do":"cancel","job":"a"}}')


def ask(live, *words, **more):
    """Without --state."""
    env = {name: value for name, value in os.environ.items() if name not in ("ALLOT_STATE", "XDG_STATE_HOME")}
    env.update(more.pop("env", {}))
    return subprocess.run(list(map(str, [live.program, *words])), capture_output=True, text=True, timeout=120, env=env, cwd="/", **more)


def test_commands_find_the_daemon_by_variable_and_home(live):
    with tempfile.TemporaryDirectory() as home:  # a short one: the path of a socket has at most 107 characters
        find_the_daemon(live, Path(home))
        live.end()


def find_the_daemon(live, home):
    live.state = home / ".local/state/allot"
    live.serve()
    for env in ({"ALLOT_STATE": str(live.state)}, {"HOME": str(home)}):
        for words in (("status",), ("queue",), ("top",), ("pause",), ("journal", "check")):
            done = ask(live, *words, env=env)
            assert done.returncode == 0, (env, words, done.stderr)


@pytest.mark.skipif(os.path.exists("/var/lib/allot"), reason="this machine has the service")
def test_commands_say_where_they_looked(live, tmp_path):
    done = ask(live, "status", env={"HOME": str(tmp_path)})
    assert done.returncode == 1
    for part in (f"'{tmp_path}/.local/state/allot/control.sock' (No such file or directory)",
                 "'/var/lib/allot/control.sock'", "'/run/allot/users.sock'", "--state or ALLOT_STATE"):
        assert part in done.stderr, done.stderr


@needs_root
def test_another_user_sees_their_own_jobs_and_changes_nothing(live, tmp_path_factory):
    run = tmp_path_factory.mktemp("run")
    for folder in (run, *run.parents):
        if folder.stat().st_uid == os.getuid() and str(folder) != "/":
            folder.chmod(folder.stat().st_mode | 0o055)
    live.environment = {**os.environ, "RUNTIME_DIRECTORY": str(run)}
    live.serve()
    live.submit("secret", steps=ENDLESS)
    live.training("secret")
    env = {"HOME": "/", "ALLOT_STATE": str(run)}
    status = ask(live, "status", "--json", env=env, **NOBODY)
    assert status.returncode == 0, status.stderr
    assert "secret" not in status.stdout
    (row,) = json.loads(status.stdout)["jobs"]
    assert row["name"] == "(other)" and row["stage"] == "training" and row["gpus"] > 0
    assert "(other)" in ask(live, "status", env=env, **NOBODY).stdout
    for words in (("pause",), ("cancel", "secret"), ("drain",)):
        done = ask(live, *words, env=env, **NOBODY)
        assert done.returncode == 1 and "no daemon answers" in done.stderr, (words, done)
    assert "secret" in ask(live, "status", env=env).stdout, "root sees all"
    assert not live.status()["paused"]


def test_a_dry_run_says_what_it_sees(live):
    daemon = subprocess.Popen(list(map(str, live.arguments("--policy", "drf", "--dry-run"))), stderr=subprocess.PIPE, text=True)
    try:
        line = wait_until(lambda: next((line for line in daemon.stderr if "the cluster has" in line), None), "the line")
        assert "the cluster has 2 nodes with 8 GPUs; 0 jobs, 0 of them with GPUs: waiting until one is submitted" in line
    finally:
        daemon.kill()
        daemon.wait()
