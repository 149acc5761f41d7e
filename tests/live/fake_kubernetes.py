"""The fake API server of the unit tests as a cluster for `allot serve` (tests/tools/fake_kubernetes.cc)."""

import datetime
import json
import subprocess

from waiting import text_of, wait_until


class FakeKubernetes:
    """A cluster whose pods are processes here; `allot serve` on it, and its users."""

    def __init__(self, program, counter, root, folder):
        self.program, self.counter, self.folder, self.state = program, counter, folder, folder / "state"
        self.server = subprocess.Popen(
            [program.parent / "tests" / "fake_kubernetes", root / "tests" / "data" / "kubernetes" / "nodes.json",
             root / "deploy" / "kubernetes" / "rights.yaml"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = json.loads(self.server.stdout.readline())
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": url}}]}))
        self.daemon = None

    def ask(self, do, **more):
        self.server.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def objects(self, kind):
        return self.ask("list", kind=kind)

    def submit(self, name, space="team", steps=10**9, gpus=1, **options):
        """A Job of so many steps."""
        home = self.folder / f"{space}-{name}"
        home.mkdir()
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        container = {"name": "w", "image": "none",
                     "command": [str(self.counter), "--steps", str(steps), "--pace-ms", "10", "--save-every", "50"],
                     "env": [{"name": "ALLOT_RUN_DIR", "value": str(home)}],
                     "resources": {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}}
        self.ask("create", kind="jobs", object={
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": space, "creationTimestamp": now,
                         "annotations": {f"allot.dev/{key}": str(value) for key, value in options.items()}},
            "spec": {"managedBy": "allot.dev/scheduler",
                     "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}})

    def serve(self, *more, policy="drf"):
        with (self.folder / "log").open("a") as log:
            self.daemon = subprocess.Popen(
                list(map(str, [self.program, "serve", "--runtime", f"kubernetes:kubeconfig={self.kubeconfig}", "--policy",
                               policy, "--state", self.state, "--interval", "0.3", "--poll", "0.05", *more])),
                stdout=log, stderr=log)
        return self

    def log(self):
        return text_of(self.folder / "log")

    def say(self, *words, exit=0):
        done = subprocess.run(list(map(str, [self.program, *words, "--state", self.state])), capture_output=True,
                              text=True, check=False, timeout=120)
        assert exit is None or done.returncode == exit, done.stderr
        return done.stdout if done.returncode == 0 else done.stderr

    def until_said(self, what, *words):
        """Waits until a command says `what`; all that it says then."""
        said = [""]

        def there():
            said[0] = self.say(*words, exit=None)
            return what in said[0]
        wait_until(there, lambda: f"'{what}' of allot {words}: {said[0]}\n{self.log()[-3000:]}")
        return said[0]

    def status(self):
        return json.loads(self.until_said('"jobs"', "status", "--json"))

    def conditions(self, name):
        """Type -> reason, of those that are true."""
        for job in self.objects("jobs"):
            if job["metadata"]["name"] == name:
                return {c["type"]: c["reason"] for c in job["status"].get("conditions", []) if c["status"] == "True"}
        return {}

    def end(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait(60)

    def close(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()
        self.server.stdin.close()
        self.server.wait(60)
