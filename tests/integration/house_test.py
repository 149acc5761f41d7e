"""The house stands as docs/house.md draws it: who includes whom, one idea a file, registries complete."""

import functools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path.relative_to(ROOT)
    for top in ("src", "agents", "envs", "models", "python")
    for path in (ROOT / top).rglob("*")
    if path.suffix in (".h", ".cc")
)


def table_of_layers():
    """Layer -> the layers it stands on, as docs/house.md draws them; what those may see, it may see too."""
    rows = re.findall(r"^\| `([a-z_/]+)` \| .* \| (.*) \|$", (ROOT / "docs" / "house.md").read_text(), re.MULTILINE)
    stands_on = {layer.removeprefix("src/").removeprefix("python/"): below.split(", ") for layer, below in rows}
    stands_on["core"] = []  # "nothing of ours"
    del stands_on["cli"]  # everything
    del stands_on["bindings"]  # everything
    return stands_on


BELOW = table_of_layers()
MAX_LINES = {".h": 200, ".cc": 800}


def test_only_perf_looks_into_units():
    """Units by kind are counted in src/perf; elsewhere they are compared, added and asked for their demand."""
    looks = re.compile(r"[.>]units\s*\[|\.counts\(\)\s*\[|\bkey\(\)\.(units|span|partner)\(")
    found = []
    for path in SOURCES:
        if path.parts[:2] == ("src", "perf"):
            continue
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if looks.search(line):
                found.append(f"{path}:{number}: {line.strip()}")
    assert not found, "\n".join(found)


def test_names_of_types_are_given_once():
    """Two types of one name in two headers are one type to the linker, which then keeps the code of either."""
    headers = {}
    for path in SOURCES:
        if path.suffix != ".h":
            continue
        for name in re.findall(r"^(?:struct|class|enum class|union) (\w+)[^;]*?\{", (ROOT / path).read_text(), re.MULTILINE):
            headers.setdefault(name, []).append(str(path))
    twice = {name: paths for name, paths in headers.items() if len(paths) > 1}
    assert len(headers) > 300 and not twice, twice


@functools.cache
def visible(layer):
    if layer in ("cli", "bindings"):
        return {*BELOW, "cli", layer}
    seen = {layer}
    for below in BELOW[layer]:
        seen |= visible(below)
    return seen


def layer_of(path):
    """The layer of a file as it is written in an #include: its innermost folder that the table names."""
    folders = Path(path).parts[:-1]
    names = ("/".join(folders[:count]) for count in range(len(folders), 0, -1))
    return next((name for name in names if name in BELOW), folders[0] if folders else "")


def includes(path):
    """(line number, spelling, in angle brackets?) of each #include."""
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[2], match[1] == "<"


def forbidden_includes(path):
    layer = layer_of(path.relative_to(path.parts[0]) if path.parts[0] in ("src", "python") else path)
    if layer not in BELOW and layer not in ("cli", "bindings"):
        yield f"{path}:1: no rule says whom '{layer}' may include"
        return
    torch_allowed = layer in ("agents/training", "experiment/training", "cli") or path.is_relative_to("models/torch") \
        or path.is_relative_to("src/elastic/torch")
    for number, target, system in includes(path):
        if system:
            if re.match(r"(torch|ATen|c10)/", target) and not torch_allowed:
                yield f"{path}:{number}: <{target}>, but libtorch stays in models/torch, agents/training, src/elastic/torch"
            if target.startswith("slurm/") and not path.is_relative_to("src/clients/slurm/libslurm"):
                yield f"{path}:{number}: <{target}>, but libslurm stays in src/clients/slurm/libslurm"
            if re.match(r"(curl|yaml-cpp)/", target) and not path.is_relative_to("src/clients/kubernetes/api"):
                yield f"{path}:{number}: <{target}>, but libcurl and yaml-cpp stay in src/clients/kubernetes/api"
            if target.startswith("openssl/") and not path.is_relative_to("src/auth"):
                yield f"{path}:{number}: <{target}>, but OpenSSL stays in src/auth"
            continue
        if (ROOT / path.parent / target).exists() and "/" not in target:
            yield f'{path}:{number}: "{target}" must be written from the root or from src/'
        elif layer_of(target) not in visible(layer):
            allowed = ", ".join(sorted(visible(layer)))
            yield f'{path}:{number}: "{target}" is of {layer_of(target)}; {layer} may include {allowed}'
        elif target.startswith("models/torch/") and not torch_allowed:
            yield f'{path}:{number}: "{target}", but libtorch stays in models/torch and agents/training'


def test_sources_were_found():
    layers = {layer_of(path.relative_to(path.parts[0]) if path.parts[0] in ("src", "python") else path) for path in SOURCES}
    assert {"core", "sched", "envs", "models", "agents/heuristic", "cli", "bindings"} <= layers


def test_include_directions():
    faults = [fault for path in SOURCES for fault in forbidden_includes(path)]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize("above, below", [("sim", "metrics"), ("metrics", "sim"), ("sched", "features"),
                                          ("models", "sched"), ("envs", "record"), ("core", "cli"),
                                          ("sched", "stages"), ("sim", "stages"), ("length_model", "sched"),
                                          ("clients/slurm", "workload"), ("clients/kubernetes", "workload"),
                                          ("clients/slurm", "clients/kubernetes"), ("table", "workload"),
                                          ("live/state", "live/port"), ("live/runtimes", "live/workers"),
                                          ("metrics", "report"), ("stages/fill", "stages")])
def test_the_table_of_directions_forbids(above, below):
    assert below not in visible(above)


def test_no_file_does_two_things():
    counts = {path: (ROOT / path).read_text().count("\n") for path in SOURCES}
    long = [f"{path}: {lines} lines, at most {MAX_LINES[path.suffix]}"
            for path, lines in counts.items() if lines > MAX_LINES[path.suffix]]
    assert not long, "\n" + "\n".join(long)


def test_a_source_has_a_header_of_its_stem():
    """A class is not cut into sources of one header. What is longer than a source has parts with names and headers."""
    entry = re.compile(r'^\s*ALLOT_REGISTER\(|^int main\(|^NB_MODULE\(|^extern "C" \{', re.MULTILINE)
    without = [str(path) for path in SOURCES if path.suffix == ".cc" and not entry.search((ROOT / path).read_text())
               and not (ROOT / path).with_name(path.stem.removesuffix("_torch") + ".h").exists()]
    assert not without, f"a source with no header of its stem registers something or is an entry: {without}"


def test_headers_open_with_their_contract():
    def opening(path):
        return (ROOT / path).read_text().splitlines()[:2]

    headers = [path for path in SOURCES if path.suffix == ".h"]
    bare = [str(path) for path in headers
            if opening(path)[0] != "#pragma once" or not opening(path)[1].startswith("// ")]
    assert not bare, f"'#pragma once', then a paragraph on what, for whom and the contract: {bare}"


# What `allot list --json` calls the kind -> the files of which each registers exactly one entry.
REGISTRIES = {
    "policies": ["agents/heuristic/*.cc", "agents/lookahead/*_policy.cc", "agents/learned/*_policy.cc"],
    "formats": ["src/workload/formats/*_format.cc"],
    "cluster-formats": ["src/cluster/*_cluster_format.cc"],
    "topology-formats": ["src/cluster/*_topology_format.cc"],
    "laws": ["src/workload/laws/*.cc"],
    "rewards": ["envs/rewards/*.cc"],
    "settings": ["envs/settings/*.cc"],
    "networks": ["agents/learned/*_network.cc"],
    "methods": ["agents/training/*_trainer.cc", "agents/training/*_trainer_torch.cc"],
    "objectives": ["agents/training/objectives/*.cc"],
    "admission": ["src/stages/admission/*.cc"],
    "ordering": ["src/stages/ordering/*.cc"],
    "types": ["src/stages/types/*.cc"],
    "sizing": ["src/stages/sizing/*.cc"],
    "placement": ["src/stages/placement/*.cc"],
    "sharing": ["src/stages/rounds/sharing/*.cc"],
    "autoscalers": ["src/sim/autoscalers/*.cc"],
    "beliefs": ["src/sim/beliefs/*.cc"],
    "faults": ["src/sim/faults/*.cc"],
    "services": ["src/sim/services/*.cc"],
    "lenders": ["src/sim/lenders/*.cc"],
    "checkpoints": ["src/sim/checkpointing/*.cc"],
    "progress": ["src/sim/processes/*.cc"],
    "peers": ["src/fidelity/*_peer.cc"],
    "profiles": ["src/sim/*_profile.cc"],
    "tasks": ["src/experiment/score/tasks/*.cc"],
    "sweeps": ["src/sweep/presets/*.toml"],
    "figures": ["src/report/figures/*.cc"],
    "runtimes": ["src/live/runtimes/*/*_runtime.cc"],
    "advice": ["src/advice/*_queue.cc"],
    "throughput": ["src/perf/*_model.cc"],
    "catalogues": ["src/perf/catalogue.cc", "src/perf/power_laws.cc", "src/perf/dl2_job_types.cc",
                   "src/perf/gavel_job_types.cc", "src/perf/gavel_pairs.cc",
                   "src/perf/pollux_applications.cc", "src/perf/transformers.cc"],
}


def registrations(path):
    return len(re.findall(r"^\s*ALLOT_REGISTER\(", path.read_text(), re.MULTILINE))


def files_of(kind):
    return [path for pattern in REGISTRIES[kind] for path in sorted(ROOT.glob(pattern))]


@pytest.mark.parametrize("kind", REGISTRIES)
def test_each_file_registers_one_entry(kind):
    files = files_of(kind)
    assert files, f"no file matches {REGISTRIES[kind]}"
    wrong = [f"{path.relative_to(ROOT)}: {registrations(path)} registrations, expected 1"
             for path in files if path.suffix == ".cc" and registrations(path) != 1]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.fixture(scope="module")
def listed_by_kind(program):
    return json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_program_lists_what_the_folder_holds(listed_by_kind, kind):
    listed = [entry["id"] for entry in listed_by_kind[kind]]
    files = [str(path.relative_to(ROOT)) for path in files_of(kind)]
    assert len(listed) == len(files), f"the program lists {listed}, the folder holds {files}"
    assert listed == sorted(listed)


def test_nothing_registers_elsewhere():
    known = {path for kind in REGISTRIES for path in files_of(kind)}
    known |= set((ROOT / "src" / "cli").glob("*.cc"))  # commands
    known |= set((ROOT / "python" / "bindings").glob("*.cc"))
    known |= set((ROOT / "src" / "live").glob("*/*_runtime.cc"))  # not all of them are in every build
    known |= set((ROOT / "src" / "live").rglob("*_health.cc"))  # of 'allot doctor'
    stray = [str(path) for path in SOURCES
             if path.suffix == ".cc" and registrations(ROOT / path) and ROOT / path not in known]
    assert not stray, f"registered outside the folders of REGISTRIES: {stray}"


def test_scripts_can_be_run():
    folders = ("bench", "docs", "examples", "tests", "tools", "traces")
    scripts = [path for top in folders for path in (ROOT / top).rglob("*") if path.suffix in (".py", ".sh")]
    shut = [path.relative_to(ROOT) for path in scripts
            if path.read_bytes()[:2] == b"#!" and not os.access(path, os.X_OK)]
    assert scripts and not shut, f"scripts that begin with #! must be executable: {shut}"


def test_package_list_has_the_sections_that_dev_asks_for():
    dev = "".join(script.read_text() for script in (ROOT / "dev", *(ROOT / "tools").glob("*.sh")))
    listed = re.findall(r"^# ([a-z]+)$", (ROOT / "cmake" / "apt-packages.txt").read_text(), re.MULTILINE)
    asked = {section for line in re.findall(r"^\s*(?:require|prefer) ([a-z ]+)$", dev, re.MULTILINE)
             for section in line.split()}
    assert asked == set(listed)
