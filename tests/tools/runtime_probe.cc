// Drives one runtime (live/runtimes/runtime.h) by hand: a command a line on stdin, a JSON object a
// line on stdout. tests/integration/slurm_test.py stands in for the daemon through it.
//
//   runtime_probe SPEC STATE_FOLDER
//   look | start JOB WORKER NODE GPUS(hex) [WORKER NODE GPUS ...] | stop WORKER save|kill
//   announce JOB EPOCH MEMBER... | progress JOB | fail JOB REASON | forget JOB | wait SECONDS

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "live/runtimes/runtime.h"

namespace allot {
namespace {

using nlohmann::json;

json ToJson(const Status& status) {
  return status.ok() ? json{{"ok", true}} : json{{"ok", false}, {"why", status.message()}};
}

json Number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json ToJson(const RuntimeSnapshot& snapshot) {
  json nodes = json::object();
  json jobs = json::object();
  json workers = json::object();
  for (const RuntimeNode& node : snapshot.nodes) {
    nodes[node.name] = {{"type", node.gpu_type}, {"gpus", node.capacity.gpus}, {"up", node.up()}};
  }
  for (const auto& job : snapshot.jobs) {
    jobs[job->id] = {{"user", job->user},
                     {"name", job->name},
                     {"min", job->min_gpus},
                     {"max", job->max_gpus},
                     {"requested", job->requested},
                     {"types", job->gpu_types},
                     {"mode", job->mode == ResizeMode::kHot ? "hot" : "restart"},
                     {"model", job->model},
                     {"state", NameOf(job->state)},
                     {"reason", job->reason}};
  }
  constexpr const char* kWorkerStates[] = {"starting", "ready", "ended"};
  for (const RuntimeWorker& worker : snapshot.workers) {
    workers[worker.id] = {
        {"job", worker.job},       {"node", worker.node},
        {"gpus", worker.gpus},     {"state", kWorkerStates[static_cast<std::size_t>(worker.state)]},
        {"failed", worker.failed}, {"reason", worker.reason}};
  }
  return {{"ok", true}, {"nodes", nodes}, {"jobs", jobs}, {"workers", workers}};
}

json ToJson(const JobProgress& progress) {
  return {{"ok", true},
          {"epoch", progress.epoch},
          {"broken", progress.broken},
          {"step", progress.step},
          {"work", Number(progress.work)},
          {"rate", Number(progress.rate)},
          {"saved_work", Number(progress.saved_work)},
          {"noise_scale", Number(progress.noise_scale)},
          {"loss", Number(progress.loss)},
          {"batch", progress.batch.present.local * progress.batch.present.workers *
                        (progress.batch.present.accumulation + 1)}};
}

json Do(Runtime& runtime, std::istringstream& words) {
  std::string command;
  std::string name;
  words >> command;
  if (command == "look") return ToJson(runtime.TakeSnapshot());
  words >> name;
  if (command == "wait") {
    runtime.Wait(std::stod(name));
    return {{"ok", true}};
  }
  if (command == "start") {
    std::vector<WorkerRequest> workers;
    WorkerRequest worker;
    while (words >> worker.worker >> worker.node >> std::hex >> worker.gpus) {
      workers.push_back(worker);
    }
    return ToJson(runtime.Start(name, workers));
  }
  if (command == "stop") {
    std::string mode;
    words >> mode;
    return ToJson(runtime.Stop(name, mode == "kill" ? StopMode::kKill : StopMode::kSave));
  }
  if (command == "announce") {
    Membership membership;
    words >> membership.epoch;
    for (std::string member; words >> member;) membership.members.push_back(member);
    return ToJson(runtime.Announce(name, membership));
  }
  if (command == "progress") return ToJson(runtime.Progress(name));
  if (command == "fail") {
    std::string reason;
    std::getline(words, reason);
    return ToJson(runtime.Fail(name, reason));
  }
  if (command == "forget") {
    runtime.Forget(name);
    return {{"ok", true}};
  }
  throw UsageError("unknown command '{}'", command);
}

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: runtime_probe SPEC STATE_FOLDER\n";
    return 2;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("probe"));
  try {
    const auto runtime = allot::MakeRuntime(argv[1], {.state = argv[2]});
    std::cout << "{\"ok\":true}" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      nlohmann::json answer;
      try {
        answer = allot::Do(*runtime, words);
      } catch (const allot::Error& error) {
        answer = {{"ok", false}, {"why", error.what()}};
      }
      std::cout << answer.dump() << std::endl;
    }
  } catch (const allot::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.code());
  }
}
