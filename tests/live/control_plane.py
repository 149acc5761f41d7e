#!/usr/bin/env python3
"""A throw-away Kubernetes control plane in a folder: etcd, API server, controller manager and scheduler of its own, and a
kubelet per node that runs pods as processes (kubernetes/proclet.py).

    control_plane.py start DIR     start it and wait until all nodes are ready; prints KUBECONFIG=...
    control_plane.py stop DIR      end what `start` started, by its process ids

Loopback only, own certificates, any user, nothing outside the folder. The programs are one binary, which `./dev kubernetes`
builds from kubernetes/kcp once and keeps in BINARY, outside of the tree. Four nodes with 20 GPUs that exist in their
kubelets' books alone. Rights and admission are those of deploy/kubernetes: `allot.kubeconfig` has no others.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "kubernetes"))

from cluster import CHILDREN, ClusterError, alive, free_ports  # noqa: E402
from kube import ApiError, Kube  # noqa: E402

VERSION = "1.36.3"
BINARY = Path(os.environ.get("ALLOT_KUBERNETES") or
              Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "allot" / f"kubernetes-{VERSION}")
DEPLOY = HERE.parents[1] / "deploy" / "kubernetes"
NODES = (("n1", "v100", 4), ("n2", "v100", 4), ("n3", "p100", 4), ("n4", "k80", 8))
PARTS = ("etcd", "apiserver", "controller-manager", "scheduler")
CONTROLLERS = ("serviceaccount-controller", "root-ca-certificate-publisher-controller", "namespace-controller",
               "job-controller", "garbage-collector-controller", "pod-garbage-collector-controller",
               "node-lifecycle-controller", "taint-eviction-controller", "ttl-after-finished-controller",
               "disruption-controller", "clusterrole-aggregation-controller", "resourcequota-controller")


def missing():
    """Why no control plane can run here, or None."""
    if not os.access(BINARY, os.X_OK):
        return f"no control plane at {BINARY}: ./dev kubernetes builds it"
    return None if shutil.which("openssl") else "openssl is not installed"


class ControlPlane:
    """One control plane; the folder holds everything, so that another process can find and stop it."""

    def __init__(self, folder, nodes=NODES):
        self.folder = Path(folder).resolve()
        self.nodes = nodes

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- programs ----
    def start(self):
        for name in ("log", "pid", "pki", "etcd"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "pki").chmod(0o700)
        for attempt in range(5):  # a port may have been taken since it was free
            self._take_ports()
            try:
                for part in PARTS[:2]:
                    self.start_part(part)
                self.until(self.answers, "the API server", of=PARTS[:2])
                break
            except ClusterError:
                self.stop()
                if attempt == 4:
                    raise
        self._install()
        for part in PARTS[2:]:
            self.start_part(part)
        for node, *_ in self.nodes:
            self.start_node(node)
        self.until(self.all_ready, "all nodes")
        self.until(lambda: self._there("/api/v1/namespaces/default/serviceaccounts/default"), "the default account")
        return self

    def start_part(self, part):
        api, etcd, peer, manager, scheduler = self.ports
        pki = self.folder / "pki"
        arguments = {
            "etcd": [f"--data-dir={self.folder}/etcd", f"--listen-client-urls=http://127.0.0.1:{etcd}",
                     f"--advertise-client-urls=http://127.0.0.1:{etcd}", f"--listen-peer-urls=http://127.0.0.1:{peer}",
                     f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                     f"--initial-cluster=default=http://127.0.0.1:{peer}"],
            # A loopback address is no valid endpoint: no reconciler.
            "apiserver": [f"--etcd-servers=http://127.0.0.1:{etcd}", "--bind-address=127.0.0.1", f"--secure-port={api}",
                          "--endpoint-reconciler-type=none", f"--tls-cert-file={pki}/server.crt",
                          f"--tls-private-key-file={pki}/server.key", f"--client-ca-file={pki}/ca.crt",
                          f"--service-account-key-file={pki}/sa.key", f"--service-account-signing-key-file={pki}/sa.key",
                          "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16",
                          "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                          "--anonymous-auth=false", "--profiling=false"],
            "controller-manager": [f"--kubeconfig={self.kubeconfig('controller-manager')}", "--bind-address=127.0.0.1",
                                   f"--secure-port={manager}", "--leader-elect=false",
                                   f"--service-account-private-key-file={pki}/sa.key", f"--root-ca-file={pki}/ca.crt",
                                   "--use-service-account-credentials=true", "--node-monitor-period=2s",
                                   "--node-monitor-grace-period=20s", f"--controllers={','.join(CONTROLLERS)}"],
            "scheduler": [f"--kubeconfig={self.kubeconfig('scheduler')}", "--bind-address=127.0.0.1",
                          f"--secure-port={scheduler}", "--leader-elect=false"],
        }
        # The managers end themselves when the API server was away too long; a kubelet starts them again.
        again = ("/bin/sh", "-c", 'while :; do "$@"; sleep 1; done', part) if part in PARTS[2:] else ()
        self._spawn(part, *again, str(BINARY), part, *arguments[part])

    def start_node(self, node):
        kind, gpus = next((kind, gpus) for name, kind, gpus in self.nodes if name == node)
        self._spawn(f"node-{node}", sys.executable, str(HERE / "kubernetes" / "proclet.py"), str(self.kubeconfig(node)), node,
                    str(self.folder / "node" / node), "--gpus", str(gpus), "--type", kind, "--heartbeat", "5")

    def kill(self, name, signum=signal.SIGKILL):
        """A signal to one of PARTS or node-NAME; after SIGKILL, waits until it is gone."""
        pid = self.pid(name)
        os.killpg(pid, signum)
        if signum == signal.SIGKILL:
            self.until(lambda: not alive(pid), f"the end of {name}")

    def kill_pods(self, node):
        """What runs on a node whose kubelet is gone."""
        for state in self.folder.glob(f"node/{node}/*/state"):
            if not (state.parent / "exit").exists():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(json.loads(state.read_text())["pid"], signal.SIGKILL)

    def start_api_server(self):
        """The API server again; waits until rights hold and the scheduler sees new pods."""
        self.start_part("apiserver")
        self.until(self.answers, "the API server", of=PARTS[:2])
        pods, pod = "/api/v1/namespaces/default/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "probe-"},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "w", "image": "none.invalid/none"}]}}
        made = []

        def may():
            with contextlib.suppress(ApiError):  # 403 until its rules are read
                made.append(self.api("user").post(pods, pod)["metadata"]["name"])
            return made
        self.until(may, "the rights of users")
        self.until(lambda: self._there(f"{pods}/{made[0]}")["spec"].get("nodeName"), "the scheduler")
        self.api().delete(f"{pods}/{made[0]}", {"gracePeriodSeconds": 0})

    def pid(self, name):
        return int((self.folder / "pid" / name).read_text())

    def stop(self):
        """Ends all programs, those of nodes first, and what their pods left."""
        names = [*(f"node-{node}" for node, *_ in self.nodes), *reversed(PARTS)]
        pids = [self.pid(name) for name in names if (self.folder / "pid" / name).exists()]
        for signum, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            for pid in filter(alive, pids):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signum)
            deadline = time.monotonic() + seconds
            while any(map(alive, pids)) and time.monotonic() < deadline:
                time.sleep(0.02)
        self.kill_pods("*")
        for name in names:
            (self.folder / "pid" / name).unlink(missing_ok=True)

    # ---- asking ----
    def kubeconfig(self, who="admin"):
        return self.folder / f"{who}.kubeconfig"

    def api(self, who="admin"):
        return Kube(self.kubeconfig(who))

    def answers(self):
        try:
            self.api().get("/api/v1/namespaces/default")
            return True
        except (ApiError, OSError):
            return False

    def all_ready(self):
        def ready(node):
            conditions = node["status"].get("conditions", [])
            return not node["spec"].get("taints") and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return sum(map(ready, self.api().get("/api/v1/nodes")["items"])) == len(self.nodes)

    def until(self, holds, what, seconds=120, of=()):
        deadline = time.monotonic() + seconds
        while not holds():
            for part in of:
                if not alive(self.pid(part)):
                    raise ClusterError(f"{part} has ended:\n{(self.folder / 'log' / part).read_text()[-2000:]}")
            if time.monotonic() > deadline:
                raise ClusterError(f"waited {seconds} s for {what}")
            time.sleep(0.05)

    # ---- inside ----
    def _there(self, path):
        try:
            return self.api().get(path)
        except ApiError:
            return None

    def _spawn(self, name, *command):
        with open(self.folder / "log" / name, "ab") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       start_new_session=True, cwd=self.folder)
        (self.folder / "pid" / name).write_text(str(process.pid))
        CHILDREN[process.pid] = process

    def _take_ports(self):
        self.ports = free_ports(5)
        pki = self.folder / "pki"
        if not (pki / "ca.crt").exists():
            self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                          pki / "ca.key", "-subj", "/CN=throw-away", "-days", "30", "-out", pki / "ca.crt")
            self._openssl("genrsa", "-out", pki / "sa.key", "2048")
            self._certify("server", "apiserver", "throw-away", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        people = {"admin": ("admin", "system:masters"), "allot": ("system:serviceaccount:allot:allot", "system:serviceaccounts"), "user": ("user", "people"),
                  "controller-manager": ("system:kube-controller-manager", "parts"),
                  "scheduler": ("system:kube-scheduler", "parts"),
                  **{node: (f"system:node:{node}", "system:nodes") for node, *_ in self.nodes}}
        for who, (name, group) in people.items():
            if not (pki / f"{who}.crt").exists():
                self._certify(who, name, group)
            self.kubeconfig(who).write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "throw-away",
                "clusters": [{"name": "throw-away", "cluster": {"server": f"https://127.0.0.1:{self.ports[0]}",
                                                                "certificate-authority": str(pki / "ca.crt")}}],
                "users": [{"name": who, "user": {"client-certificate": str(pki / f"{who}.crt"),
                                                 "client-key": str(pki / f"{who}.key")}}],
                "contexts": [{"name": "throw-away", "context": {"cluster": "throw-away", "user": who}}]}))

    def _certify(self, file, name, group, extension="extendedKeyUsage=clientAuth"):
        pki = self.folder / "pki"
        (pki / "extension").write_text(extension + "\n")
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                      pki / f"{file}.key", "-subj", f"/O={group}/CN={name}", "-out", pki / f"{file}.csr")
        self._openssl("x509", "-req", "-in", pki / f"{file}.csr", "-CA", pki / "ca.crt", "-CAkey", pki / "ca.key",
                      "-CAcreateserial", "-days", "30", "-out", pki / f"{file}.crt", "-extfile", pki / "extension")

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(("openssl", *map(str, arguments)), check=True, capture_output=True)

    def _install(self):
        """deploy/kubernetes, without the daemon itself; and the user `user` with what users have in a namespace."""
        self.apply("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: allot\n")
        for file in ("rights.yaml", "network.yaml", "admission.yaml"):
            for text in (DEPLOY / file).read_text().split("\n---\n"):
                self.apply(text)
        self.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
                   "metadata: {name: user, namespace: default}\n"
                   "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\n"
                   "subjects: [{kind: User, name: user, apiGroup: rbac.authorization.k8s.io}]\n")

    def apply(self, text):
        """One object of a manifest; the API server reads YAML itself. One that is there stays."""
        def field(name, part=text):
            found = re.search(rf"(?:^|[ {{]){name}: *([^\s,}}]+)", part, re.MULTILINE)
            return found[1] if found else ""
        metadata = re.search(r"^metadata:.*\n(?: .*\n)*", text + "\n", re.MULTILINE)[0]
        kind, version, space = field("kind").lower(), field("apiVersion"), field("namespace", metadata)
        plural = kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
        path = f"{'/api' if version == 'v1' else '/apis'}/{version}/{f'namespaces/{space}/' if space else ''}{plural}"
        try:
            self.api().call("POST", path, text, "application/yaml")
        except ApiError as error:
            if error.code != 409:
                raise


@contextlib.contextmanager
def throw_away(**options):
    folder = Path(tempfile.mkdtemp(prefix="allot-kubernetes-"))
    try:
        with ControlPlane(folder / "cluster", **options) as one:
            yield one
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("command", choices=("start", "stop"))
    parser.add_argument("folder")
    options = parser.parse_args()
    if options.command == "start" and missing():
        sys.exit(missing())
    one = ControlPlane(options.folder)
    if options.command == "stop":
        one.stop()
        return
    one.start()
    print(f"KUBECONFIG={one.kubeconfig()}")


if __name__ == "__main__":
    main()
