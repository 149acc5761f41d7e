// The training program of the runtime conformance suite (tests/unit/live/runtimes): trains nothing,
// and does as files in FOLDER say, so that a test can be sure of what happens.
//
//   runtime_worker FOLDER hot       speaks the worker protocol: joins, follows epochs, leaves
//   runtime_worker FOLDER restart   any program: ends with SIGTERM, or with success when finished
//
// It writes pid-WORKER, and told-WORKER: the type and the numbers of the GPUs that it was told to
// use. FOLDER/finish: the job's work is done. FOLDER/exit-WORKER: this worker ends
// with exit code 0, whatever its job does.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "elastic/job_folder.h"
#include "elastic/member.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kStep{10};

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "-" : text;
}

void WritePid(const fs::path& folder, const std::string& worker) {
  WriteTextFile(folder / ("told-" + worker),
                Variable("ALLOT_GPU_TYPE") + " " + Variable("CUDA_VISIBLE_DEVICES") + "\n");
  WriteTextFile(folder / ("pid-" + worker), std::to_string(::getpid()) + "\n");
}

int Restart(const fs::path& folder) {
  const char* worker = std::getenv("ALLOT_WORKER_ID");  // Slurm runs the job itself: it has none
  WritePid(folder, worker == nullptr ? "job" : worker);
  while (!fs::exists(folder / "finish")) std::this_thread::sleep_for(kStep);
  return 0;
}

constexpr Seconds kSaveSeconds = 0.5;

int Hot(const fs::path& folder) {
  Member::StopOnSigterm();
  Member member(WorkerEnvironment::OfThisProcess(), [](const std::string&) { return ""; });
  const WorkerEnvironment& here = member.environment();
  WritePid(folder, here.worker);
  // Steps go by a clock that all workers of the job share: nobody need hand them on.
  const auto begin = fs::last_write_time(folder / "begin");
  const auto step = [&] { return (fs::file_time_type::clock::now() - begin) / kStep; };
  std::int64_t trained = -1;  // epoch
  while (true) {
    std::this_thread::sleep_for(kStep);
    if (member.stopping()) {
      member.Saved(step(), static_cast<double>(step()), kSaveSeconds);
      return 0;
    }
    if (fs::exists(folder / ("exit-" + here.worker))) return 0;
    const Epoch epoch = member.latest();
    const int rank = epoch.rank_of(here.worker);
    if (rank < 0) {
      if (trained >= 0) return 0;  // left out
      continue;
    }
    if (epoch.number > trained) member.Reached(trained = epoch.number, step());
    // Of a job whose batch follows its workers: it trains as it was told.
    WorkerBatch batch = member.batch_wanted();
    if (batch.local == 0) batch = {static_cast<std::int32_t>(epoch.members.size()), 1, 0};
    member.Report({.step = step(),
                   .work = static_cast<double>(step()),
                   .range = {1, 1024, 1, 64},
                   .batch = batch});
    if (rank == 0 && fs::exists(folder / "finish")) {
      OpenRunFolder(here.run_dir).Write(kFinished, "");
      member.Finish(step(), static_cast<double>(step()));
      return 0;
    }
  }
}

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[2] : "";
  if (mode != "hot" && mode != "restart") {
    std::fprintf(stderr, "usage: runtime_worker FOLDER hot|restart\n");
    return 2;
  }
  try {
    return mode == "hot" ? allot::Hot(argv[1]) : allot::Restart(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "runtime_worker: %s\n", error.what());
    return 1;
  }
}
