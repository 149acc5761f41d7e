"""Another user against the folder of a job, in a submit folder that both may write to (docs/security.md)."""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from daemon import Daemon
from waiting import wait_until

GROUP, USER, OTHER = 64100, 64101, 64102

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root, for two users")


class Place:
    """A submit folder of the users' group. The job is number 7 of USER."""

    def __init__(self, program, folder):
        self.launcher, self.train = program.parent / "allot-elastic", program.parent / "examples" / "elastic_counter"
        for path in (self.launcher, self.train):
            if not path.exists():
                pytest.skip(f"not built: {path}")
        folder.chmod(0o755)
        self.home, self.submit = folder / "home", folder / "submit"
        for path, owner, mode in ((self.home, USER, 0o700), (self.submit, 0, 0o2770)):
            path.mkdir()
            os.chown(path, owner, GROUP)
            path.chmod(mode)
        self.user = self.submit / f".allot-{USER}"
        self.folder = self.user / "7"

    def start(self, user, *command, **options):
        return subprocess.Popen(list(map(str, command)), user=user, group=GROUP, extra_groups=[], text=True, cwd=self.submit,
                                **options)

    def sh(self, user, script):
        """What the user does by hand."""
        with self.start(user, "sh", "-ec", script, stderr=subprocess.PIPE) as shell:
            said = shell.communicate(timeout=120)[1]
        assert shell.returncode == 0, said

    @contextlib.contextmanager
    def script(self):
        """The job's script, with a secret in its environment."""
        process = self.start(USER, self.launcher, "run", "--", "true", stderr=subprocess.PIPE,
                             env={"SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(self.submit), "SECRET": "secret"})
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def refusal(self):
        """Why the job's script fails."""
        with self.script() as script:
            said = script.communicate(timeout=120)[1]
        assert script.returncode == 1, said
        return said

    def make(self):
        """The job's folder, made by its script."""
        with self.script():
            wait_until((self.folder / "command.json").exists, "the job's folder")


class Training(Daemon):
    """A daemon whose workers train as USER."""

    def __init__(self, place, folder):
        super().__init__(folder, [place.train], {"ALLOT_RUN_DIR": str(place.folder)})
        self.place = place

    def spawn(self, environment, output, arguments):
        with open(output, "w") as file:
            return self.place.start(USER, *self.command, *arguments, env={**environment, **self.environment}, stdout=file,
                                    stderr=subprocess.STDOUT)


@pytest.fixture
def place(program):
    with tempfile.TemporaryDirectory() as name:
        yield Place(program, Path(name))


@pytest.fixture
def training(place, tmp_path):
    with Training(place, tmp_path) as one:
        yield one


def exchange(place, more=""):
    """OTHER puts an open folder of his own into the place of the job's."""
    place.sh(OTHER, f"umask 0; mv .allot-{USER} away; mkdir -p .allot-{USER}/7; cd .allot-{USER}/7; {more}")


def save(training):
    training.tell("w0", "save")
    wait_until(lambda: training.heard("w0", "saved"), lambda: f"a checkpoint: {training.output('w0')}")


def test_the_model_stays_in_the_folder_that_was_opened(place, training):
    place.make()
    training.start("w0", arguments=("--pace-ms", 1, "--steps", 1000000, "--save-every", 1000000))
    training.regroup("w0")
    exchange(place)
    save(training)
    assert not list(place.folder.iterdir())
    saved = (place.submit / "away" / "7" / "checkpoint").stat()
    assert (saved.st_uid, saved.st_mode & 0o777) == (USER, 0o600)


def test_weights_of_another_user_are_not_loaded(place, training):
    place.make()
    training.start("w0", arguments=("--pace-ms", 1, "--steps", 1000000, "--save-every", 1000000))
    training.regroup("w0")
    save(training)
    weights = place.submit / "weights"
    weights.write_bytes((place.folder / "checkpoint").read_bytes())
    weights.chmod(0o644)
    exchange(place, "cp ../../weights checkpoint")
    training.start("w1")
    assert training.processes["w1"].wait(120) == 1
    assert f"of user {OTHER}" in training.output("w1") and "restored" not in training.output("w1")


def test_no_file_is_destroyed_through_a_link(place, training):
    place.sh(USER, f"echo precious > {place.home}/precious")
    place.make()
    training.start("w0", arguments=("--pace-ms", 1, "--steps", 1000000, "--save-every", 1000000))
    training.regroup("w0")
    exchange(place, f"for name in checkpoint finished command.json; do ln -s {place.home}/precious $name; done")
    save(training)
    training.start("w1")
    assert training.processes["w1"].wait(120) == 1
    assert f"of user {OTHER}" in place.refusal()
    assert (place.home / "precious").read_text() == "precious\n"


def test_a_first_start_removes_nothing_but_files_of_the_job(place):
    """OTHER renames a folder of USER's that has an entry of the job's number."""
    place.sh(USER, "umask 022; mkdir -p results/7; echo precious > results/7/precious")
    place.sh(OTHER, f"mv results .allot-{USER}")
    place.make()
    assert (place.folder / "precious").read_text() == "precious\n"


def test_a_folder_that_another_user_made_first_is_named_and_gets_no_secret(place):
    place.sh(OTHER, f"umask 0; mkdir -p .allot-{USER}/7")
    said = place.refusal()
    assert f"{place.user}' must be a folder of user {USER}" in said and f"of user {OTHER}" in said
    assert not list(place.folder.iterdir())


def test_a_submit_folder_where_everybody_may_rename_is_refused_with_the_cure(place):
    place.submit.chmod(0o777)
    assert f"chmod +t {place.submit}" in place.refusal()
    place.submit.chmod(0o1777)
    place.make()
