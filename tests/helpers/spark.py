"""A real Spark for tests: a standalone cluster of one master and two workers on loopback, from the package."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from tests.helpers.servers import free_port

WORKERS = 2


def find_java() -> bool:
    """Whether Spark would find Java."""
    return bool(os.environ.get("JAVA_HOME") or shutil.which("java"))


class Cluster:
    """The processes of a cluster, and the environment in which its drivers run. Its files lie in one folder."""

    def __init__(self, folder: Path, memory: str, java: str) -> None:
        self._folder, self._memory = folder, memory
        self._processes: list[subprocess.Popen[bytes]] = []
        (folder / "conf").mkdir()
        # Executors would take a gigabyte each, whatever they need.
        (folder / "conf" / "spark-defaults.conf").write_text(
            f"spark.executor.memory {memory}\nspark.driver.memory {memory}\nspark.local.dir {folder}\n"
            f"spark.executor.extraJavaOptions {java}\nspark.driver.extraJavaOptions {java}\n"
        )
        self.environment = {
            "SPARK_CONF_DIR": str(folder / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": java,
            "SPARK_WORKER_DIR": str(folder / "work"),
        }
        self._port, self._page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self._port}"

    def start(self) -> None:
        own = ["--host", "127.0.0.1", "--port", str(self._port), "--webui-port", str(self._page)]
        self._start("master.Master", *own)
        self._wait(0)
        for _ in range(WORKERS):
            own = ["--host", "127.0.0.1", "--port", str(free_port()), "--webui-port", str(free_port())]
            self._start("worker.Worker", *own, "--cores", "1", "--memory", self._memory, self.master)
        self._wait(WORKERS)

    @property
    def pids(self) -> list[int]:
        """The master and the workers, whose children do the work."""
        return [process.pid for process in self._processes]

    def state(self) -> dict[str, object]:
        """What the master says of itself and of what it has run."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=10) as answer:
            found: dict[str, object] = json.load(answer)
        return found

    def stop(self) -> None:
        """Each is the first of a group of processes, which goes with it."""
        for process in reversed(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def _start(self, name: str, *own: str) -> None:
        found = find_spec("pyspark")
        assert found is not None and found.origin is not None
        run = Path(found.origin).parent / "bin" / "spark-class"
        with (self._folder / "log").open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    ["bash", str(run), f"org.apache.spark.deploy.{name}", *own],
                    env={**os.environ, **self.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _wait(self, workers: int) -> None:
        deadline = time.monotonic() + 120
        while True:
            try:
                if self.state()["aliveworkers"] == workers:
                    return
            except (urllib.error.URLError, OSError):
                pass
            alive = all(process.poll() is None for process in self._processes)
            assert alive and time.monotonic() < deadline, (self._folder / "log").read_text()[-3000:]
            time.sleep(0.1)


@contextmanager
def cluster(memory: str = "512m", java: str = "") -> Iterator[Cluster]:
    """A cluster that is gone at the end, with its files; ``java`` are options of its processes."""
    folder = Path(tempfile.mkdtemp(prefix="spark"))
    made = Cluster(folder, memory, java)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)
