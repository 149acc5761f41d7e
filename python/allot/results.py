"""What experiments return: tables as pandas frames, figures, the HTML report."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from allot.errors import in_keywords


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas: pip install pandas") from error
    return pandas


def _axes(axes: Any):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots(figsize=(7, 4))[1]


def _flat(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary as one row: nested ones with a dot, missing figures as NaN."""
    row: dict[str, Any] = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            row.update({f"{key}.{inner}": each for inner, each in _flat(value).items()})
        elif not isinstance(value, list):
            row[key] = float("nan") if value is None else value
    return row


class Result:
    """What the engine holds of an experiment, and can write."""

    def __init__(self, data: Any, described: Mapping[str, Any]) -> None:
        self._data = data
        self._described = described  # title and command

    def save(self, folder: str | os.PathLike) -> None:
        """Writes what `--out` of the command writes: results and runs; of a sweep without its cells' own files."""
        self._data.save(os.fspath(folder))

    def report(self, path: str | os.PathLike, title: str = "") -> str:
        """Writes the HTML report, one self-contained page. Returns its path."""
        from allot import _allot

        with tempfile.TemporaryDirectory() as folder:
            self.save(folder)
            _allot._write_report(folder, os.fspath(path), title or self._described.get("title", ""),
                                 self._described.get("command", ""))
        return os.fspath(path)


class Comparison(Result):
    """Several policies on several workloads.

    `policies`, `workloads`: names, in order. `evaluation`: all of it as evaluation.json has it
    (docs/formats/results.md). `note`: what reading the trace left out, and whether the workload is
    more than the cluster can serve.
    """

    def __init__(self, data: Any) -> None:
        self.evaluation: dict[str, Any] = json.loads(data.json())
        super().__init__(data, self.evaluation)
        self.policies: list[str] = [policy["id"] for policy in self.evaluation["policies"]]
        self.workloads: list[str] = [workload["name"] for workload in self.evaluation["workloads"]]
        self.note: str = in_keywords(data.note)

    @property
    def unseen(self) -> bool | None:
        """Of a trained policy: whether training saw none of the workloads; None: not known, or none was trained."""
        return self.evaluation.get("unseen")

    def frame(self):
        """One row a policy, best average JCT first: means over the workloads, times in seconds.

        `ratio`: average JCT of the reference / of this policy, with its 95 % interval; below 1: the
        reference is faster.
        """
        return _pandas().DataFrame(json.loads(self._data.rows())).set_index("policy")

    def runs(self):
        """One row for each run (policy and workload) with all figures of its summary.json."""
        rows = []
        for policy in self.evaluation["policies"]:
            for workload, run in zip(self.evaluation["workloads"], policy["runs"], strict=True):
                own = {"policy": policy["id"], "workload": workload["name"], "load": workload["load"],
                       "seed": workload["seed"]}
                rows.append(own | {key: value for key, value in _flat(run).items() if key != "policy"})
        return _pandas().DataFrame(rows)

    def run(self, policy: str | int, workload: str | int = 0) -> Run:
        """One of the runs, by names or positions. UsageError: there is none."""
        return Run(self, _place(policy, self.policies, "policy"),
                   _place(workload, self.workloads, "workload"))

    def jobs(self, policy: str | int | None = None, workload: str | int | None = None):
        """One row a job: times in seconds since the start of the workload; NaN where there was none."""
        return self._frames("jobs", policy, workload)

    def timeline(self, policy: str | int | None = None, workload: str | int | None = None):
        """The state of the cluster from each point of time on: jobs, GPUs in use, nodes."""
        return self._frames("timeline", policy, workload)

    def plot(self, kind: str = "jct", axes: Any = None):
        """Draws with matplotlib and returns the axes.

        kind: "jct" (average JCT of each policy), "cdf" (JCTs of all jobs), "timeline" (GPUs in use
        on the first workload).
        """
        from allot.errors import UsageError

        kinds = {"jct": self._plot_jct, "cdf": self._plot_cdf, "timeline": self._plot_timeline}
        if kind not in kinds:
            raise UsageError(f"a plot is one of {', '.join(kinds)}, got '{kind}'")
        axes = _axes(axes)
        kinds[kind](axes)
        return axes

    def __repr__(self) -> str:
        return self._data.text()

    def _repr_html_(self) -> str:
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f"<pre>{html.escape(self._data.text())}</pre>{note}"

    def _frames(self, what: str, policy: str | int | None, workload: str | int | None):
        pandas = _pandas()
        of_policies = range(len(self.policies)) if policy is None else [_place(policy, self.policies, "policy")]
        of_workloads = (
            range(len(self.workloads)) if workload is None else [_place(workload, self.workloads, "workload")]
        )
        frames = []
        for p in of_policies:
            for w in of_workloads:
                frame = pandas.DataFrame(getattr(self._data, what)(p, w))
                frame.insert(0, "workload", self.workloads[w])
                frame.insert(0, "policy", self.policies[p])
                frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def _plot_jct(self, axes: Any) -> None:
        frame = self.frame()
        axes.barh(list(frame.index)[::-1], (frame["avg_jct_s"] / 3600)[::-1])
        axes.set_xlabel("average JCT [h]")

    def _plot_cdf(self, axes: Any) -> None:
        for policy in self.policies:
            jct = self.jobs(policy)["jct_s"].dropna().sort_values() / 3600
            axes.step(jct, [(i + 1) / len(jct) for i in range(len(jct))], where="post", label=policy)
        axes.set_xscale("log")
        axes.set_xlabel("JCT [h]")
        axes.set_ylabel("share of jobs")
        axes.legend()

    def _plot_timeline(self, axes: Any) -> None:
        for policy in self.policies:
            points = self.timeline(policy, 0)
            axes.step(points["time_s"] / 3600, points["gpus_used"], where="post", label=policy)
        axes.set_xlabel("time [h]")
        axes.set_ylabel("GPUs in use")
        axes.legend()


class Run:
    """One policy on one workload. `summary`: as summary.json has it, times in seconds."""

    def __init__(self, comparison: Comparison, policy: int, workload: int) -> None:
        self._comparison = comparison
        self._policy, self._workload = policy, workload
        self.policy: str = comparison.policies[policy]
        self.workload: str = comparison.workloads[workload]
        self.note: str = comparison.note
        self.summary: dict[str, Any] = comparison.evaluation["policies"][policy]["runs"][workload]

    def frame(self):
        """The summary as a frame of one row."""
        return _pandas().DataFrame([_flat(self.summary)])

    def jobs(self):
        """As Comparison.jobs."""
        return self._comparison.jobs(self._policy, self._workload).drop(columns=["policy", "workload"])

    def timeline(self):
        """As Comparison.timeline."""
        return self._comparison.timeline(self._policy, self._workload).drop(columns=["policy", "workload"])

    def plot(self, axes: Any = None):
        """Draws unfinished and running jobs and GPUs in use over time; returns the axes."""
        axes = _axes(axes)
        points = self.timeline()
        hours = points["time_s"] / 3600
        for column, label in (("active", "unfinished jobs"), ("running", "running jobs"), ("gpus_used", "GPUs in use")):
            axes.step(hours, points[column], where="post", label=label)
        axes.set_xlabel("time [h]")
        axes.legend()
        return axes

    def report(self, path: str | os.PathLike, title: str = "") -> str:
        """As Comparison.report."""
        return self._comparison.report(path, title)

    def __repr__(self) -> str:
        return repr(self._comparison)

    def _repr_html_(self) -> str:
        return self._comparison._repr_html_()


class Sweep(Result):
    """The cells of a sweep. `results`: all of it as results.json has it (docs/sweeps.md)."""

    def __init__(self, data: Any) -> None:
        self.results: dict[str, Any] = json.loads(data.json())
        super().__init__(data, self.results)
        self.factors: list[str] = self.results["factors"]

    def frame(self):
        """One row for each combination of the factors but the seed: means over seeds.

        NAME is the mean, NAME_low and NAME_high its 95 % interval; ratio: average JCT of the
        reference / of this row.
        """
        rows = []
        for row in self.results["table"]:
            flat = {}
            for key, value in row.items():
                if isinstance(value, dict):
                    flat[key] = value.get("mean")
                    flat |= {f"{key}_{end}": value.get(end) for end in ("low", "high")}
                else:
                    flat[key] = value
            rows.append(flat)
        return _pandas().DataFrame(rows)

    def cells(self):
        """One row a cell with all figures of its run."""
        rows = []
        for cell in self.results["cells"]:
            flat = _flat(cell)
            rows.append({key.removeprefix("summary."): value for key, value in flat.items()})
        return _pandas().DataFrame(rows)

    def plot(self, x: str | None = None, y: str = "avg_jct_s", axes: Any = None):
        """Draws a figure of the frame over a factor, one line a policy; returns the axes.

        x: default: the first factor of numbers with more than one value, else the policy.
        """
        pandas = _pandas()
        axes = _axes(axes)
        frame = self.frame()
        if x is None:
            many = [f for f in self.factors if f not in ("policy", "seed") and frame[f].nunique() > 1]
            x = many[0] if many else "policy"
        if x == "policy":
            axes.barh(list(frame["policy"])[::-1], list(frame[y])[::-1])
            axes.set_xlabel(y)
            return axes
        for policy, rows in frame.groupby("policy", sort=False):
            places = pandas.to_numeric(rows[x], errors="coerce")
            places = rows[x] if places.isna().any() else places
            axes.plot(places, rows[y], marker="o", label=policy)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return self._data.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._data.text())}</pre>"


def _place(of: str | int, names: list[str], what: str) -> int:
    from allot.errors import UsageError

    if isinstance(of, str) and of in names:
        return names.index(of)
    if isinstance(of, int) and -len(names) <= of < len(names):
        return of % len(names)
    raise UsageError(f"a {what} is one of {', '.join(names)}, or its position, got {of!r}")
