"""Policies in Python: what they see, what they may answer, what is said of their faults."""

import gc
import os
import subprocess
import sys
import textwrap

import pytest

from local import Live

allot = pytest.importorskip("allot")
np = pytest.importorskip("numpy")

WORLD = {"cluster": "2x8", "load": 1.2, "span": "1d"}


def simulate(policy, **options):
    return allot.simulate(policy, threads=1, bar=False, **{**WORLD, **options})


def once(check):
    """A FIFO policy that calls check(observation) at decisions with at least two jobs, and how often it did."""
    calls = []

    def fifo(observation):
        if len(observation) >= 2:
            check(observation)
            calls.append(observation.decision)
        return observation.requested

    simulate(fifo)
    return calls


class Fifo(allot.Policy):
    """As allot's own fifo: who runs goes on, the others start in the order of submission where there is room."""

    def decide(self, observation):
        free = int(observation.total_gpus - observation.gpus_of(observation.running).sum())
        configurations = np.array(observation.running)
        wanted = observation.gpus_of(observation.requested)
        for row in np.flatnonzero(configurations < 0):
            if wanted[row] <= free:
                configurations[row] = observation.requested[row]
                free -= int(wanted[row])
        return configurations


class TestObservation:
    def test_columns_have_an_element_for_each_job(self):
        def check(observation):
            columns = observation.columns()
            assert {"job", "submit", "running", "done_work", "estimated_work"} <= set(columns)
            assert "table" not in columns
            assert {len(values) for values in columns.values()} == {len(observation)}
            assert (np.diff(observation.submit) >= 0).all()
            assert set(columns) < set(allot.Observation.units())

        assert once(check)

    def test_columns_are_read_only_and_one_object(self):
        def check(observation):
            assert observation.submit is observation.submit
            assert not observation.submit.flags.owndata
            with pytest.raises(ValueError, match="read-only"):
                observation.submit[0] = 1

        assert once(check)

    def test_where_jobs_run_adds_up_to_the_cluster(self):
        def check(observation):
            used = np.bitwise_count(observation.share_gpus)
            by_node = np.bincount(observation.share_node, weights=used, minlength=2)
            assert (by_node + observation.free_gpus == observation.node_gpus).all()
            assert observation.share_begin[-1] == len(observation.share_node)
            assert observation.share_units.shape == (len(used), 2)
            assert observation.node_type.tolist() == [0, 0]
            assert observation.total_gpus == 16 and observation.gpu_types == ["gpu"]

        assert once(check)

    def test_places_are_those_of_the_topology(self, tmp_path):
        trace = tmp_path / "jobs.csv"
        trace.write_text("job_id,submit_s,gpus,duration_s,comm_share\na,0,8,600,0\nb,1,16,600,0.25\n")
        seen = []

        def fifo(observation):
            assert observation.levels == [("leaf", 5.0)]
            assert observation.domains_of(0).tolist() == [0, 0, 1, 1]
            assert observation.congestion.tolist() == [1] * len(observation)
            seen.extend(zip(observation.submit.tolist(), observation.comm_share.tolist()))
            with pytest.raises(allot.UsageError, match="one of the 1 in `levels`, from 0, got 1"):
                observation.domains_of(1)
            return observation.requested

        allot.simulate(fifo, workload=trace, cluster="4x8", topology="leaf=2:factor=5", threads=1, bar=False)
        assert {(0, 0), (1, 0.25)} == set(seen)

    def test_without_a_topology_places_are_alike(self):
        def check(observation):
            assert observation.levels == []
            assert not observation.comm_share.any() and (observation.congestion == 1).all()

        assert once(check)

    def test_tables_hold_what_configurations_refer_to(self):
        def check(observation):
            table = observation.table(0)
            requested = observation.requested[0]
            assert table.gpus[requested] == observation.gpus_of(observation.requested)[0]
            assert table.rate[requested] == observation.rate_of(observation.requested)[0]
            assert table is observation.table(0)
            assert len(table) == len(table.cost) and table.kinds == ["gpu"]

        assert once(check)

    def test_arrivals_and_ends_are_those_of_the_jobs(self):
        seen = {"arrived": 0, "ended": set()}

        def fifo(observation):
            seen["arrived"] += len(observation.arrived)
            seen["ended"] |= set(observation.ended["job"].tolist())
            return observation.requested

        run = simulate(fifo)
        assert seen["arrived"] == run.summary["jobs"]
        assert len(seen["ended"]) <= run.summary["jobs"]
        assert len(seen["ended"]) > run.summary["jobs"] / 2

    def test_after_the_decision_it_is_over(self):
        kept = []

        def fifo(observation):
            kept.append(observation)
            return observation.requested

        simulate(fifo)
        with pytest.raises(allot.UsageError, match="the observation of decision 0 is over"):
            kept[0].submit
        with pytest.raises(allot.UsageError, match="is over"):
            len(kept[-1])

    def test_arrays_that_are_kept_never_change(self):
        kept, copies = [], []

        def fifo(observation):
            arrays = (observation.submit[::2], observation.running, observation.share_gpus, observation.share_units)
            kept.append(arrays)
            copies.append([array.copy() for array in arrays])
            return observation.requested

        simulate(fifo)
        gc.collect()
        for arrays, before in zip(kept, copies, strict=True):
            for array, copy in zip(arrays, before, strict=True):
                assert np.array_equal(array, copy)

    def test_arrays_that_are_kept_change_nothing(self):
        kept = []

        class Keeps(Fifo):
            def decide(self, observation):
                kept.append(observation.columns())
                return super().decide(observation)

        assert simulate(Keeps).summary["avg_jct_s"] == simulate(Fifo).summary["avg_jct_s"]


class TestAnswers:
    def test_fifo_is_fifo(self):
        result = allot.compare(["fifo", Fifo], bar=False, **WORLD)
        own, python = (result.jobs(name).drop(columns="policy") for name in result.policies)
        assert own.equals(python)

    @pytest.mark.parametrize(
        "answer",
        [
            lambda o, wanted: {int(job): int(c) for job, c in zip(o.job, wanted, strict=True)},
            lambda o, wanted: list(wanted),
            lambda o, wanted: wanted.astype(np.int16),
            lambda o, wanted: o.allocate(wanted),
            lambda o, wanted: o.allocate_gpus(o.gpus_of(wanted)),
            lambda o, wanted: step_by_step(o, wanted),
        ],
        ids=["dict", "list", "array", "allocate", "allocate_gpus", "give"],
    )
    def test_all_forms_mean_the_same(self, answer):
        def policy(observation):
            return answer(observation, Fifo().decide(observation))

        assert simulate(policy).jobs().equals(simulate(Fifo).jobs())

    def test_order_says_who_is_served_first(self):
        def last_first(observation):
            return observation.allocate(observation.requested, order=np.arange(len(observation))[::-1])

        ran = set()

        def check(observation):
            answer = observation.allocate(observation.requested, order=[len(observation) - 1])
            assert len(answer) == 1
            ran.add(observation.decision)
            return answer

        simulate(last_first)
        with pytest.raises(allot.RunError):  # who is left out never runs: nothing moves
            simulate(lambda observation: observation.allocate(observation.requested, order=[]))
        run = simulate(check)
        assert ran and run.summary["unfinished"] == 0

    def test_nodes_can_be_named(self):
        used = set()

        def on_the_second_node(observation):
            answer = allot.Allocation(observation)
            free = 8
            for row, gpus in enumerate(observation.gpus_of(observation.requested)):
                if gpus <= free:
                    answer.place(row, int(observation.requested[row]), [(1, int(gpus))])
                    free -= gpus
            used.update(observation.share_node.tolist())
            return answer

        simulate(on_the_second_node, rigid=True, span="6h", cluster="4x8")
        assert used == {1}

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (lambda o: None, "got None"),
            (lambda o: 3, "got int"),
            (lambda o: np.zeros(len(o)), "whole numbers.*float64"),
            (lambda o: [0] * (len(o) + 1), "one element for each of the"),
            (lambda o: [99999] * len(o), r"row 0 \(job 0.*must be from 0 to \d+, got 99999"),
            (lambda o: {99999: 0}, "job 99999 is not in the observation"),
            (lambda o: o.allocate_gpus([7] * len(o)), r"one of these numbers of GPUs: 1 .*, got 7"),
            (lambda o: o.allocate(o.requested, order=[0, 0]), "served once"),
            (lambda o: [5000000000] * len(o), "got 5000000000"),
        ],
    )
    def test_a_wrong_answer_is_an_error_with_its_place(self, answer, message):
        def wrong(observation):
            return answer(observation)

        with pytest.raises(allot.RunError, match=message) as error:
            simulate(wrong)
        text = str(error.value)
        lines = [wrong.__code__.co_firstlineno, answer.__code__.co_firstlineno]
        assert text.startswith("policy 'wrong', decision 0 at ")
        assert any(f"{os.path.basename(__file__)}:{line}" in text for line in lines)


def step_by_step(observation, wanted):
    answer = allot.Allocation(observation)
    for row, configuration in enumerate(wanted):
        if configuration >= 0:
            answer.give(row, int(configuration))
    return answer


class TestErrors:
    def test_an_exception_names_line_and_decision_and_is_the_cause(self):
        def fails(observation):
            if observation.decision == 3:
                raise KeyError("nothing")  # here
            return observation.requested

        line = fails.__code__.co_firstlineno + 2
        with pytest.raises(allot.RunError, match=rf"policy 'fails', decision 3 .*python_policy_test.py:{line}") as error:
            allot.compare(["fifo", fails], threads=2, bar=False, **WORLD)
        assert isinstance(error.value.__cause__, KeyError)

    def test_a_policy_without_decide_says_so(self):
        class Empty(allot.Policy):
            pass

        with pytest.raises(allot.RunError, match="Empty has no decide"):
            simulate(Empty)

    def test_what_is_no_policy_is_refused(self):
        with pytest.raises(allot.UsageError, match="got int"):
            simulate(7)
        with pytest.raises(allot.UsageError, match="subclass of allot.Policy, got the class dict"):
            simulate(dict)


class TestNames:
    def test_a_registered_name_can_be_used_with_arguments(self):
        class Limited(Fifo):
            def __init__(self, most=1000):
                self.most = most

            def decide(self, observation):
                wanted = super().decide(observation)
                wanted[self.most :] = -1
                return wanted

        allot.register_policy("limited", Limited)
        result = allot.compare("limited,limited:most=1,fifo", bar=False, **WORLD)
        jct = result.frame()["avg_jct_s"]
        assert jct["limited"] == jct["fifo"] < jct["limited:most=1"]
        with pytest.raises(allot.UsageError, match="unexpected keyword argument 'least'"):
            simulate("limited:least=1")

    def test_names_of_allot_and_unknown_ones_are_refused(self):
        with pytest.raises(allot.UsageError, match="allot's own"):
            allot.register_policy("fifo", Fifo)
        with pytest.raises(allot.UsageError, match="got 'a:b'"):
            allot.register_policy("a:b", Fifo)
        allot.register_policy("mine_alone", Fifo)
        with pytest.raises(allot.UsageError, match="did you mean 'mine_alone'"):
            simulate("mine_alon")

    def test_each_run_has_an_object_of_its_own(self):
        class Counts(Fifo):
            def __init__(self):
                self.decisions = 0

            def decide(self, observation):
                assert observation.decision == self.decisions
                self.decisions += 1
                return super().decide(observation)

            def notes(self):
                return {"decisions": self.decisions}

        one = Counts()
        result = allot.compare([one], workloads=4, threads=4, bar=False, **WORLD)
        runs = result.evaluation["policies"][0]["runs"]
        assert [int(run["notes"]["decisions"]) for run in runs] == [run["decisions"] for run in runs]
        assert one.decisions == 0

    def test_seeds_are_those_of_the_workloads(self):
        seeds = []

        class Draws(Fifo):
            def begin(self, seed):
                seeds.append(seed)

        allot.compare([Draws], workloads=2, seed=5, threads=1, bar=False, **WORLD)
        first = list(seeds)
        allot.compare([Draws], workloads=2, seed=5, threads=1, bar=False, **WORLD)
        assert seeds == first * 2 and len(set(first)) >= 1

    def test_who_reads_true_lengths_is_an_oracle(self):
        class Reads(Fifo):
            needs_lengths = True

        result = allot.compare([Fifo, Reads], length_estimates="true", bar=False, **WORLD)
        assert result.frame()["oracle"].to_dict() == {"Fifo": False, "Reads": True}


MODULE = """
    import allot

    class Mine(allot.Policy):
        def __init__(self, reverse=False):
            self.reverse = reverse

        def decide(self, observation):
            rows = range(len(observation))
            return observation.allocate(observation.requested, order=list(reversed(rows)) if self.reverse else rows)

    class Fails(allot.Policy):
        def decide(self, observation):
            return observation.nothing
"""


@pytest.fixture
def module(tmp_path):
    (tmp_path / "my_policy.py").write_text(textwrap.dedent(MODULE))
    return tmp_path


def run(*command, folder, exit=0, **options):
    done = subprocess.run(
        [*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=300, check=False, **options
    )
    assert done.returncode == exit, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class TestCommandLine:
    ARGUMENTS = ("--cluster", "2x8", "--load", "1", "--span", "1d")

    @pytest.mark.parametrize("spec", ["python:my_policy:Mine", "python:my_policy.py:Mine"])
    def test_a_spec_names_module_and_class(self, module, spec):
        done = run(
            sys.executable, "-m", "allot", "compare", "-p", f"fifo,{spec},{spec},reverse=true", *self.ARGUMENTS,
            folder=module,
        )
        assert f"{spec},reverse=true" in done.stdout

    def test_the_program_goes_on_in_python(self, module, program):
        python = os.path.dirname(sys.executable)
        environment = {**os.environ, "PATH": f"{python}{os.pathsep}{os.environ['PATH']}"}
        done = run(
            program, "simulate", "-p", "python:my_policy:Mine", *self.ARGUMENTS, folder=module, env=environment
        )
        assert "python:my_policy:Mine" in done.stdout

    def test_without_the_package_the_program_says_so(self, module, program):
        (module / "python3").write_text("#!/bin/sh\nexec " + sys.executable + ' -S -E "$@"\n')
        (module / "python3").chmod(0o755)
        environment = {"PATH": f"{module}{os.pathsep}{os.environ['PATH']}", "ALLOT_PACKAGE": "/nowhere"}
        done = run(
            program, "simulate", "-p", "python:my_policy:Mine", folder=module, exit=2, env=environment
        )
        assert "need the Python package" in done.stderr

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("python:nothing_there:Mine", "there is no module 'nothing_there'"),
            ("python:my_policy:Other", "module 'my_policy' has no 'Other'"),
            ("python:my_policy", "is python:MODULE:CLASS"),
            ("python:gone.py:Mine", "there is no file 'gone.py'"),
            ("python:my_policy:Mine,speed=1", "unexpected keyword argument 'speed'"),
        ],
    )
    def test_faults_of_a_spec_are_told(self, module, spec, message):
        done = run(sys.executable, "-m", "allot", "simulate", "-p", spec, *self.ARGUMENTS, folder=module, exit=2)
        assert message in done.stderr

    def test_a_fault_of_the_policy_names_its_line(self, module):
        done = run(
            sys.executable, "-m", "allot", "simulate", "-p", "python:my_policy:Fails", *self.ARGUMENTS,
            folder=module, exit=1,
        )
        assert "my_policy.py:14, in decide" in done.stderr

    def test_faults_of_a_live_policy_are_told_with_pauses(self, tmp_path, program, monkeypatch):
        counter = program.parent / "examples" / "elastic_counter"
        if not os.access(counter, os.X_OK):
            pytest.skip(f"not built: {counter}")
        monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
        (tmp_path / "shaky.py").write_text(
            "import time\n\nimport allot\n\n\nclass Shaky(allot.Policy):\n    decisions = 0\n\n    def decide(self, o):\n"
            "        Shaky.decisions += 1\n        if Shaky.decisions < 7:\n            raise ValueError('not yet')\n"
            "        time.sleep(0.5 if Shaky.decisions < 9 else 0)\n        return o.requested\n"
        )
        live = Live(program, counter, tmp_path)
        try:
            live.submit("a", steps=50)
            live.serve("--until-idle", policy="python:shaky:Shaky")
            assert live.daemon.wait(timeout=120) == 0, live.log()[-3000:]
            said = [line for line in live.log().splitlines() if "Shaky" in line]
            faults = [line for line in said if "not yet" in line]
            assert len(faults) == 3 and all(line.count("policy 'python:shaky:Shaky'") == 1 for line in faults), said
            assert "(4 failed decisions in a row)" in faults[2]
            assert any("works again after 6 failed decisions in a row" in line for line in said)
            assert any("longer than the interval of" in line for line in said)
        finally:
            live.end()

    def test_it_serves_a_live_cluster(self, module, program, monkeypatch):
        counter = program.parent / "examples" / "elastic_counter"
        if not os.access(counter, os.X_OK):
            pytest.skip(f"not built: {counter}")
        monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
        live = Live(program, counter, module)
        try:
            live.submit("a", steps=50)
            live.submit("b", steps=50, gpus=2)
            live.serve("--until-idle", policy="python:my_policy:Mine")
            assert live.daemon.wait(timeout=120) == 0, live.log()[-3000:]
            over = {r["job"]: r["state"] for r in live.journal() if r["what"] == "over"}
            assert over == {"a": "finished", "b": "finished"}
        finally:
            live.end()
