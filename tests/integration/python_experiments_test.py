"""Experiments from Python: the command line's results, as frames, figures and pages."""

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

allot = pytest.importorskip("allot")
pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def ctrl_c():
    """SIGINT as in a terminal, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


WORLD = {"cluster": "2x8", "load": 1.2, "span": "1d"}


@pytest.fixture(scope="module")
def comparison():
    return allot.compare(["fifo", "las", "srtf"], workloads=2, reference="las", bar=False, **WORLD)


@pytest.fixture
def run_allot(program, tmp_path):
    """The program, in a folder of its own."""

    def run(*arguments):
        command = [str(program), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)

    return run


def without_timings(value):
    if isinstance(value, dict):
        timed = ("cpu_s", "wall_s", "decision_us_p50", "decision_us_p99", "command")
        return {key: without_timings(each) for key, each in value.items() if key not in timed}
    return [without_timings(each) for each in value] if isinstance(value, list) else value


class TestCompare:
    def test_it_is_what_the_program_computes(self, comparison, run_allot):
        done = run_allot(
            "compare", "-p", "fifo,las,srtf", "--cluster", "2x8", "--load", "1.2", "--span", "1d", "--workloads", "2",
            "--reference", "las", "--json",
        )
        assert without_timings(json.loads(done.stdout)) == without_timings(comparison.evaluation)

    def test_frame_has_a_row_a_policy_best_first(self, comparison):
        frame = comparison.frame()
        assert set(frame.index) == {"fifo", "las", "srtf"}
        assert frame["avg_jct_s"].is_monotonic_increasing
        assert frame["ratio"]["las"] == 1 and frame["reference"]["las"]
        assert (frame["ratio_low"] <= frame["ratio_high"]).all()

    def test_runs_and_jobs_agree(self, comparison):
        runs = comparison.runs()
        assert len(runs) == 6
        jobs = comparison.jobs()
        means = jobs.groupby(["policy", "workload"])["jct_s"].mean()
        for _, run in runs.iterrows():
            assert means[run["policy"], run["workload"]] == pytest.approx(run["avg_jct_s"], rel=1e-12)
        assert set(comparison.jobs("fifo", 1)["workload"]) == {comparison.workloads[1]}

    def test_timeline_never_uses_more_than_there_is(self, comparison):
        points = comparison.timeline("las")
        assert points["gpus_used"].between(0, 16).all() and points["gpus_used"].max() > 8
        assert (points["running"] <= points["active"]).all()

    def test_one_run_can_be_taken_out(self, comparison):
        run = comparison.run("srtf", 1)
        assert run.summary == comparison.evaluation["policies"][2]["runs"][1]
        assert len(run.jobs()) == run.summary["jobs"]
        with pytest.raises(allot.UsageError, match="a policy is one of fifo, las, srtf"):
            comparison.run("drf")

    def test_shows_itself(self, comparison):
        assert "srtf" in repr(comparison) and "<pre>" in comparison._repr_html_()

    def test_results_do_not_depend_on_threads(self, comparison):
        def policy(observation):
            return observation.requested

        one, four = (
            allot.compare(["fifo", policy], workloads=3, threads=threads, bar=False, **WORLD)
            for threads in (1, 4)
        )
        assert without_timings(one.evaluation) == without_timings(four.evaluation)

    def test_report_is_a_page(self, comparison, tmp_path):
        path = comparison.report(tmp_path / "page.html", title="Weeks")
        page = open(path, encoding="utf-8").read()
        assert "<html" in page and "Weeks" in page and "srtf" in page

    def test_a_saved_one_is_read_by_the_program(self, comparison, run_allot, tmp_path):
        comparison.save(tmp_path / "saved")
        run_allot("report", tmp_path / "saved", "-o", "page.html")
        assert sorted(p.name for p in (tmp_path / "saved").rglob("jobs.csv")) == ["jobs.csv"] * 6

    def test_out_and_log_are_written(self, tmp_path):
        def policy(observation):
            return observation.requested

        allot.compare(["fifo", policy], out=tmp_path / "out", log=tmp_path / "log", bar=False, **WORLD)
        assert (tmp_path / "out" / "evaluation.json").is_file()
        assert sorted(p.parent.parent.name for p in (tmp_path / "log").rglob("main_data.hdf5")) == [
            "fifo-v0", "policy-v0",
        ]

    def test_a_lower_bound_can_be_asked_for(self):
        result = allot.compare("srtf", bounds=True, bar=False, **WORLD)
        bound = result.evaluation["workloads"][0]["jct_bound_s"]
        assert 0 < bound <= result.frame()["avg_jct_s"]["srtf"]

    def test_a_setting_brings_its_own_policies(self):
        result = allot.compare(setting="dl2:size=S", bar=False)
        assert len(result.policies) > 3


class StarvesOne(allot.Policy):
    """First come, first served, but the last of seven jobs is never served, where there are as many."""

    time_driven = False

    def decide(self, observation):
        chosen = observation.requested.copy()
        chosen[observation.job == 6] = -1
        return chosen


class TestRunsThatDoNotFinish:
    JOBS = "job_id,submit_s,gpus,duration_s\n"

    @pytest.fixture
    def trace(self, tmp_path):
        (tmp_path / "few.csv").write_text(self.JOBS + "".join(f"j{i},{600 * i},1,900\n" for i in range(7)))
        return tmp_path / "few.csv"

    def test_others_are_in_the_table(self, trace, tmp_path):
        result = allot.compare([StarvesOne, "fifo"], workload=trace, cluster="1x2", out=tmp_path / "out", bar=False)
        frame, runs = result.frame(), result.runs().set_index("policy")
        assert frame.loc["fifo", "avg_jct_s"] > 0 and frame.loc["fifo", "did_not_finish"] == 0
        assert frame.loc["StarvesOne", "did_not_finish"] == 1 and frame["ratio"].isna().all()
        assert runs["avg_jct_s"].isna().to_dict() == {"StarvesOne": True, "fifo": False}
        assert "1 job waits on an idle cluster" in runs.loc["StarvesOne", "did_not_finish"]
        assert runs.loc["StarvesOne", "unfinished"] == 1
        assert "StarvesOne did not finish: policy 'StarvesOne': 1 job waits" in repr(result)
        assert (tmp_path / "out" / "fifo" / "summary.json").is_file()
        assert "did not finish" in open(result.report(tmp_path / "r.html")).read()

    def test_alone_it_is_an_error(self, trace):
        for run in (allot.simulate, allot.compare):
            with pytest.raises(allot.RunError, match="policy 'StarvesOne': 1 job waits on an idle cluster"):
                run(StarvesOne, workload=trace, cluster="1x2", bar=False)

    def test_the_program_ends_with_1(self, trace, tmp_path):
        (tmp_path / "mine.py").write_text("import allot\n\n\nclass Starves(allot.Policy):\n    time_driven = False\n\n"
                                          "    def decide(self, o):\n        return [-1] * len(o)\n")
        done = subprocess.run([sys.executable, "-m", "allot", "compare", "--workload", trace, "--cluster", "1x2", "-p",
                               "fifo,python:mine:Starves"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "allot: 1 of 2 runs did not finish" in done.stderr and "did not finish: policy" in done.stdout

    def test_sweeps_pair_the_others(self, trace):
        sweep = allot.sweep(policies=[StarvesOne, "fifo"], workload=str(trace), clusters="1x2", bar=False)
        assert sweep.cells().set_index("cell.policy")["failed"].notna().to_dict() == {"StarvesOne": True, "fifo": False}


class TestFaults:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"lod": 1}, "no option 'lod' .did you mean 'load'"),
            ({"load": "much"}, "load: must be a number, got 'much'"),
            ({"workloads": 0}, "workloads: must be from 1 to 100000, got 0"),
            ({"load": object()}, "'load' must be a text, a number"),
            ({"threads": -1}, "threads must be a whole number from 0 to 1024, got -1"),
            ({"reference": "drf"}, "the reference must be one of the policies"),
            ({"setting": "dl2:size=S", "cluster": "1x1"}, "excludes"),
        ],
    )
    def test_wrong_options_are_named(self, options, message):
        with pytest.raises(allot.UsageError, match=message):
            allot.compare("fifo", bar=False, **options)

    def test_messages_speak_of_keywords(self, tmp_path):
        (tmp_path / "wide.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,64,10\n")
        with pytest.raises(allot.DataError, match=r'oversized="drop" leaves such jobs out, oversized="clip" makes them smaller'):
            allot.simulate("fifo", workload=tmp_path / "wide.csv", cluster="1x2", bar=False)
        with pytest.raises(allot.UsageError, match="^log_steps must be policy or environment, got 'both'"):
            allot.simulate("fifo", log_steps="both", log=tmp_path, bar=False, **WORLD)
        with pytest.raises(allot.UsageError, match=r"policy 'A' is named twice; an object in Python takes name="):
            allot.compare([type("A", (allot.Policy,), {}), type("A", (allot.Policy,), {})], bar=False, **WORLD)

    def test_a_name_twice_is_refused(self):
        with pytest.raises(allot.UsageError, match="'fifo' is named twice"):
            allot.compare(["fifo", "fifo"], bar=False, **WORLD)

    def test_bad_data_is_a_data_error(self, tmp_path):
        (tmp_path / "trace.csv").write_text("nothing\n1\n")
        with pytest.raises(allot.DataError):
            allot.compare("fifo", workload=tmp_path / "trace.csv", bar=False)

    def test_errors_are_the_usual_kinds(self):
        assert issubclass(allot.UsageError, ValueError) and issubclass(allot.RunError, RuntimeError)
        assert issubclass(allot.DataError, allot.Error)

    def test_simulate_runs_one_workload(self):
        with pytest.raises(allot.UsageError, match="simulate runs one workload, got 2"):
            allot.simulate("fifo", workloads=2, bar=False, **WORLD)


class TestSimulate:
    def test_summary_and_frames(self):
        run = allot.simulate("las:queues=3600", bar=False, **WORLD)
        assert run.policy == "las:queues=3600" and run.summary["jobs"] == len(run.jobs())
        assert run.frame()["avg_jct_s"][0] == run.summary["avg_jct_s"]
        assert {"time_s", "gpus_used"} <= set(run.timeline().columns)

    def test_note_says_what_is_too_much(self):
        run = allot.simulate("fifo", cluster="4x8", to="14d", bar=False)
        assert "times what 4x8 can serve" in run.note


class TestEvaluate:
    @pytest.fixture(scope="class")
    @staticmethod
    def checkpoint(request):
        found = sorted((request.config.rootpath / "checkpoints").glob("*/accepted/config.json"))
        if not found:
            pytest.skip("no checkpoint in this tree")
        return next(p for p in found if p.parent.parent.name == "universal").parent

    def test_a_checkpoint_is_the_reference(self, checkpoint):
        result = allot.evaluate(checkpoint, "fifo,srtf", bar=False, **WORLD)
        assert result.evaluation["reference"] == "learned" and result.policies == ["learned", "fifo", "srtf"]
        assert "unseen" in result.evaluation

    def test_lineage_says_whether_training_saw_the_workloads(self):
        class Trained(allot.Policy):
            lineage = {"sources": [{"workload": "embedded", "from": "0", "to": "7d"}]}

            def decide(self, observation):
                return observation.requested

        unseen = allot.evaluate(Trained, "fifo", **{"from": "14d", "to": "21d"}, bar=False, **WORLD)
        seen = allot.evaluate(Trained, "fifo", to="7d", bar=False, **WORLD)
        assert (unseen.unseen, seen.unseen) == (True, False)
        assert allot.evaluate(Trained, [], seen=False, to="7d", bar=False, **WORLD).unseen is True
        assert unseen.evaluation["reference"] == "Trained"


class TestSweep:
    def test_the_cross_product_is_run(self):
        class Mine(allot.Policy):
            def decide(self, observation):
                return observation.requested

        result = allot.sweep(
            policies=["fifo", Mine], loads=[0.5, 1], seeds=range(2), cluster=None, clusters="2x8", span="1d",
            vary={"restart_cost": [0, 60]}, reference="fifo", bar=False,
        )
        frame = result.frame()
        assert len(frame) == 8 and len(result.cells()) == 16
        assert set(frame["policy"]) == {"fifo", "Mine"} and (frame["seeds"] == 2).all()
        with pytest.raises(allot.UsageError, match="unknown policy 'Mine'"):
            allot.simulate("Mine", bar=False)

    def test_a_folder_is_taken_up(self, tmp_path):
        definition = {"policies": ["fifo", "las"], "loads": [1], "clusters": "2x8", "span": "1d"}
        first = allot.sweep(definition, out=tmp_path / "sweep", bar=False)
        assert (tmp_path / "sweep" / "results.json").is_file()
        second = allot.sweep(definition, out=tmp_path / "sweep", bar=False)
        assert without_timings(first.results) == without_timings(second.results)

    def test_report_is_a_page(self, tmp_path):
        result = allot.sweep(policies="fifo,las", loads=[0.5, 1], clusters="2x8", span="1d", bar=False)
        assert "las" in open(result.report(tmp_path / "page.html"), encoding="utf-8").read()

    def test_faults_are_named(self):
        with pytest.raises(allot.UsageError, match="unknown key 'lods'"):
            allot.sweep(policies="fifo", lods=[1], bar=False)

        class Fails(allot.Policy):
            def decide(self, observation):
                return observation.nothing

        with pytest.raises(allot.RunError, match="policy 'Fails', decision 0 .*python_experiments_test.py"):
            allot.sweep(policies=[Fails], loads=[1], clusters="2x8", span="1d", bar=False)


class TestPlots:
    def test_figures_are_drawn(self, comparison):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        for kind in ("jct", "cdf", "timeline"):
            assert comparison.plot(kind).has_data()
        assert comparison.run("fifo").plot().has_data()
        result = allot.sweep(policies="fifo,las", loads=[0.5, 1], clusters="2x8", span="1d", bar=False)
        assert len(result.plot().lines) == 2
        with pytest.raises(allot.UsageError, match="a plot is one of jct"):
            comparison.plot("pie")


class TestProgressAndInterrupts:
    def test_progress_is_told(self, capfd):
        pytest.importorskip("tqdm")
        allot.compare("fifo,las", bar=True, **WORLD)
        assert "compare" in capfd.readouterr().err

    def test_ctrl_c_ends_a_run_of_own_policies(self):
        def press():
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.getsignal(signal.SIGINT)
        threading.Thread(target=press).start()
        with pytest.raises(KeyboardInterrupt):
            allot.compare(["fifo", "las"], cluster="16x8", load=1.0, span="28d", workloads=200, bar=False)
        assert signal.getsignal(signal.SIGINT) is before
        assert allot.simulate("fifo", bar=False, **WORLD).summary["unfinished"] == 0

    def test_ctrl_c_ends_a_policy_that_does_not_answer(self):
        def waits(observation):
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                time.sleep(0.01)

        with pytest.raises(KeyboardInterrupt):
            allot.simulate(waits, threads=1, bar=False, **WORLD)
        assert allot.simulate("fifo", bar=False, **WORLD).summary["unfinished"] == 0

    def test_other_threads_run_meanwhile(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.wait(0.001):
                ticks.append(1)

        thread = threading.Thread(target=tick)
        thread.start()
        allot.compare("fifo,las,srtf", cluster="16x8", load=1.0, span="14d", workloads=8, bar=False)
        stop.set()
        thread.join()
        assert len(ticks) > 10


class TestRewards:
    ENVIRONMENT = {"setting": "dl2:size=S", "action": "choice"}

    @pytest.fixture(scope="class")
    @staticmethod
    def seen():
        """What the reward "seen" was asked: it gives back 1000 x jobs that ended + jobs that are there."""
        asked = []

        def reward(step, observation):
            asked.append((step.elapsed, step.finished, observation.now))
            return 1000.0 * step.finished + len(observation)

        allot.register_reward("seen", reward)
        return asked

    @staticmethod
    def steps(env, count=4):
        env.action_space.seed(1)
        env.reset(seed=3)
        return [env.step(env.action_space.sample()) for _ in range(count)]

    def test_it_is_what_steps_give(self, seen):
        del seen[:]
        steps = self.steps(allot.GpuClusterEnv(reward="seen", **self.ENVIRONMENT))
        for (_, reward, _, _, info), (elapsed, finished, now) in zip(steps, seen, strict=True):
            assert reward == 1000.0 * info["finished_jobs"] + info["active_jobs"]
            assert (elapsed, finished, now) == (info["dt"], info["finished_jobs"], info["time_s"])

    def test_pools_on_several_threads_ask_it(self, seen):
        del seen[:]
        pool = allot.GpuClusterVectorEnv(4, threads=2, reward="seen", **self.ENVIRONMENT)
        pool.reset(seed=3)
        pool.action_space.seed(1)
        for _ in range(5):
            _, rewards, _, _, _ = pool.step(pool.action_space.sample())
            assert len(rewards) == 4
        pool.close()
        assert len(seen) == 20

    def test_its_errors_name_line_and_decision(self):
        def fails(step, observation):
            return step.nothing

        allot.register_reward("fails", fails)
        with pytest.raises(allot.RunError, match="reward 'fails', decision 1 .*python_experiments_test.py"):
            self.steps(allot.GpuClusterEnv(reward="fails", **self.ENVIRONMENT))

    def test_its_errors_have_a_cause(self):
        allot.register_reward("divides", lambda step, observation: 1 / 0)
        env = allot.GpuClusterEnv(setting="dl2:size=S", action="choice", reward="divides")
        env.reset(seed=1)
        with pytest.raises(allot.RunError, match="reward 'divides', decision") as error:
            env.step(np.zeros(env.action_space.shape, int))
        assert isinstance(error.value.__cause__, ZeroDivisionError)

    def test_it_must_be_a_number(self):
        allot.register_reward("text", lambda step, observation: "much")
        allot.register_reward("unknown", lambda step, observation: float("nan"))
        for name, message in (("text", "could not convert"), ("unknown", "must be finite, got nan")):
            with pytest.raises(allot.RunError, match=message):
                self.steps(allot.GpuClusterEnv(reward=name, **self.ENVIRONMENT))

    def test_a_name_of_allot_is_refused(self):
        with pytest.raises(allot.UsageError, match="one of allot's own"):
            allot.register_reward("jct", lambda step, observation: 0.0)
        with pytest.raises(allot.UsageError, match="got int"):
            allot.register_reward("seven", 7)


def test_score_plays_a_suite_with_policies_of_both_languages(root, tmp_path):
    oldest = runpy.run_path(str(root / "python" / "examples" / "own_policy.py"))["OldestFirst"]
    result = allot.score([oldest, "fifo"], suite="small", salt="test", out=tmp_path / "result.json", threads=1)
    assert result == json.loads((tmp_path / "result.json").read_text())
    assert [each["policy"] for each in result["aggregates"]] == ["OldestFirst", "fifo"]
    assert all("jct_to_tuned" in task["entries"][0] for task in result["tasks"])
    with pytest.raises(allot.UsageError, match="suite must be one of small, v1, v2"):
        allot.score("fifo", suite="v0")
