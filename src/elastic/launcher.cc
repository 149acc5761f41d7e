#include "elastic/launcher.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPoll{100};
// Clocks of two machines may differ by so much.
constexpr double kClockSkew = 60;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Of the batch job's own place: the worker job has another.
bool BelongsToPlace(const std::string& name) {
  return name.starts_with("SLURM") || name.starts_with("ALLOT_") || name.starts_with("CUDA_") ||
         name.starts_with("GPU_") || name.starts_with("ROCR_") || name == "HOSTNAME" ||
         name == "TMPDIR" || name == "ENVIRONMENT";
}

std::string FirstOf(const std::string& list) { return list.substr(0, list.find(',')); }

}  // namespace

int RunUserJob(const std::vector<std::string>& command) {
  const std::string id = Variable("SLURM_JOB_ID");
  const std::string submitted_in = Variable("SLURM_SUBMIT_DIR");
  const pid_t script = getppid();
  if (id.empty() || submitted_in.empty()) {
    throw UsageError("run: must be in a Slurm job's script, but SLURM_JOB_ID is not set");
  }
  const std::filesystem::path folder = std::filesystem::path(submitted_in) / ".allot" / id;
  // At a restart by Slurm the job continues; the folder of an earlier job of this number must go.
  if (Variable("SLURM_RESTART_COUNT").empty()) std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  chmod(folder.c_str(), 0700);

  json environment = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals != std::string::npos && !BelongsToPlace(name)) {
      environment[name] = text.substr(equals + 1);
    }
  }
  const json order{{"command", command},
                   {"environment", environment},
                   {"folder", std::filesystem::current_path().string()},
                   {"written", Now()}};
  WriteTextFile(folder / "command.json", order.dump(1, ' ', false, json::error_handler_t::replace));
  while (!std::filesystem::exists(folder / "finished")) {
    if (getppid() != script) throw RunError("run: the job's script must wait for it, it has ended");
    std::this_thread::sleep_for(kPoll);
  }
  return 0;
}

int RunWorker(std::chrono::seconds patience) {
  const std::filesystem::path folder = Variable("ALLOT_RUN_DIR");
  const std::string job = Variable("ALLOT_JOB_ID");
  if (folder.empty() || job.empty()) {
    throw UsageError("worker: must be started by allot, but ALLOT_RUN_DIR is not set");
  }
  // "42-67403a1b": an order older than the job is that of another which had its number.
  const double submitted =
      static_cast<double>(std::strtoll(job.substr(job.find('-') + 1).c_str(), nullptr, 16));
  json order;
  for (double end = Now() + static_cast<double>(patience.count());;) {
    std::ifstream file(folder / "command.json");
    if (file) order = json::parse(file, nullptr, false);
    if (order.is_object() && order.value("written", 0.0) > submitted - kClockSkew) break;
    if (Now() > end) {
      throw RunError(
          "worker: the job's script must call 'allot-elastic run' within {} s, it did not",
          patience.count());
    }
    std::this_thread::sleep_for(kPoll / 2);
  }

  for (const auto& [name, value] : order.at("environment").items()) {
    setenv(name.c_str(), value.get<std::string>().c_str(), 1);
  }
  const std::string gpus = Variable("SLURM_JOB_GPUS");
  const std::string visible = Variable("CUDA_VISIBLE_DEVICES");
  const std::string& accessible = gpus.empty() ? visible : gpus;
  setenv("ALLOT_ACCESSIBLE_GPUS", accessible.c_str(), 1);
  setenv("ALLOT_LOCAL_GPU_ID", FirstOf(accessible).c_str(), 1);
  std::filesystem::current_path(order.at("folder").get<std::string>());

  std::vector<std::string> command = order.at("command");
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw RunError("worker: cannot run '{}': {}", command.front(), std::strerror(errno));
}

}  // namespace allot
