"""A throw-away Slurm cluster (cluster.py) with accounting: a MariaDB and a slurmdbd of its own, on loopback, in its folder.

Limits of its accounts, users and QOS hold (AccountingStorageEnforce).
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from cluster import NODES, SBIN, Cluster, ClusterError, free_ports, listens

PROGRAMS = ("mariadb-install-db", "mariadbd", "slurmdbd", "sacctmgr")


def missing():
    """Why no accounting can run here, or None."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if absent:
        return f"Slurm's accounting is not installed: {', '.join(absent)} not found"
    if os.getuid():
        return "a MariaDB in a folder is started as root here"
    return None


class AccountedCluster(Cluster):
    """`accounting`: arguments of sacctmgr, one list a call."""

    def __init__(self, folder, accounting, nodes=NODES, settings=None):
        self.accounting = accounting
        super().__init__(folder, nodes, {
            "AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageHost": "127.0.0.1",
            "AccountingStorageTRES": "gres/gpu", "AccountingStorageEnforce": "associations,limits,qos", **(settings or {})})

    def prepare(self):
        database, slurmdbd = free_ports(2)
        data, password = self.folder / "database", secrets.token_hex(8)
        done = subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db",
                               "--auth-root-authentication-method=normal"], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise ClusterError(f"mariadb-install-db: {done.stderr[-600:]}")
        begin = self.folder / "begin.sql"  # one statement a line
        begin.write_text(f"CREATE USER slurm@127.0.0.1 IDENTIFIED BY '{password}';\nGRANT ALL ON *.* TO slurm@127.0.0.1;\n")
        self._spawn("mariadbd", "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--port={database}",
                    "--bind-address=127.0.0.1", f"--socket={self.folder}/mysql.socket", f"--pid-file={self.folder}/pid/mariadbd.own",
                    "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve",
                    f"--init-file={begin}")
        self._until(lambda: listens(database), "mariadbd", alive=("mariadbd",))
        conf = self.folder / "slurmdbd.conf"
        settings = {
            "AuthType": "auth/munge", "AuthInfo": f"socket={self.folder}/munge.socket", "SlurmUser": "root",
            "DbdHost": "localhost", "DbdAddr": "127.0.0.1", "DbdPort": slurmdbd,
            "LogFile": f"{self.folder}/log/slurmdbd.log", "PidFile": f"{self.folder}/pid/slurmdbd.own",
            "StorageType": "accounting_storage/mysql", "StorageHost": "127.0.0.1", "StoragePort": database,
            "StorageUser": "slurm", "StoragePass": password, "StorageLoc": "accounting"}
        conf.touch(mode=0o600)
        conf.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        self.settings |= {"AccountingStoragePort": slurmdbd, "AccountingStoragePass": f"{self.folder}/munge.socket"}
        self.ports = free_ports(2 + len(self.nodes))  # sacctmgr reads slurm.conf
        self._write_conf()
        self._spawn("slurmdbd", "slurmdbd", "-D")
        self._until(lambda: listens(slurmdbd), "slurmdbd", alive=("mariadbd", "slurmdbd"))
        self.client("sacctmgr", "--immediate", "add", "cluster", "throwaway")

    def start(self):
        try:
            super().start()  # the controller tells slurmdbd of GPUs, which have no limits before
            for words in self.accounting:
                self.client("sacctmgr", "--immediate", *words)
        except ClusterError:
            self.stop()
            raise
        return self

    def stop(self):
        super().stop()
        self._end("slurmdbd")
        self._end("mariadbd")


@contextlib.contextmanager
def throw_away(accounting, nodes=NODES, settings=None):
    """As cluster.throw_away."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with AccountedCluster(folder / "cluster", accounting, nodes, settings) as one:
            yield one
