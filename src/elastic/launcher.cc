#include "elastic/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.h"
#include "elastic/environment.h"
#include "elastic/job_folder.h"

namespace allot {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPoll{100};
// The largest difference between the clocks of two machines.
constexpr double kClockSkew = 60;

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// True for variables that describe the batch job's own allocation, which the worker job does not
// share. Users' own settings by ALLOT_... apply to both.
bool BelongsToPlace(const std::string& name) {
  if (name == "ALLOT_ELASTIC_LIBRARY" || name == "ALLOT_PROFILE") return false;
  return name.starts_with("SLURM") || name.starts_with("ALLOT_") || name.starts_with("CUDA_") ||
         name.starts_with("GPU_") || name.starts_with("ROCR_") || name == "HOSTNAME" ||
         name == "TMPDIR" || name == "ENVIRONMENT";
}

// JSON is UTF-8, users' texts need not be: text that is not UTF-8 becomes an array of numbers.
json ToJson(const std::string& bytes) {
  try {
    (void)json(bytes).dump();
    return bytes;
  } catch (const json::type_error&) {
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
  }
}

std::string FromJson(const json& value) {
  if (value.is_string()) return value;
  const auto bytes = value.get<std::vector<std::uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

// Prints the paths of the workers' outputs into the script's output; the Slurm runtime chooses
// them. `name` may be inherited (IsOf), `id` is the job's own.
void PrintOutputPaths(const std::filesystem::path& job_folder, const std::string& name,
                      const std::string& id) {
  const std::filesystem::path submitted_in = job_folder.parent_path().parent_path();
  const auto file = submitted_in / fmt::format("slurm-{}.K.out", name);
  const std::string otherwise =
      name == id ? "" : fmt::format(", or slurm-{}.K.out if it is no task of that array", id);
  fmt::print(stderr, "allot-elastic: worker K (0, 1, ...) prints into {}{}\n", file.string(),
             otherwise);
}

// Compares by the number in the folder's name, not by the variables of a task of an array: a job
// that is submitted inside such a task inherits them.
bool IsOf(const json& order, const std::filesystem::path& folder) {
  return order.value("id", "") == folder.filename().string();
}

}  // namespace

int RunUserJob(const std::vector<std::string>& command) {
  const pid_t script = getppid();
  const OwnedFolder folder = MakeJobFolder();
  const std::string id = folder.path().filename().string();

  json environment = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    const std::string variable = text.substr(0, equals);
    if (equals != std::string::npos && !BelongsToPlace(variable)) {
      environment[variable] = ToJson(text.substr(equals + 1));
    }
  }
  json words = json::array();
  for (const std::string& word : command) words.push_back(ToJson(word));
  // The daemon's name of the job: for a task of an array the number that its user knows.
  const auto task = EnvironmentVariable("SLURM_ARRAY_TASK_ID");
  const std::string name =
      task ? fmt::format("{}_{}", EnvironmentVariable("SLURM_ARRAY_JOB_ID").value_or(""), *task)
           : id;
  const json order{{"id", id},
                   {"command", words},
                   {"environment", environment},
                   {"folder", ToJson(std::filesystem::current_path().string())},
                   {"written", Now()}};
  PrintOutputPaths(folder.path(), name, id);
  folder.Write(kOrder, order.dump(1, ' ', false, json::error_handler_t::replace));
  while (!folder.Has(kFinished)) {
    if (getppid() != script) throw RunError("run: the job's script must wait for it, it has ended");
    std::this_thread::sleep_for(kPoll);
  }
  return 0;
}

int RunWorker(std::chrono::seconds patience) {
  const auto run_dir = EnvironmentVariable("ALLOT_RUN_DIR");
  const auto job = EnvironmentVariable("ALLOT_JOB_ID");
  if (!run_dir || !job) {
    throw UsageError("worker: must be started by allot, but ALLOT_RUN_DIR is not set");
  }
  // "42-67403a1b": an order older than the job belongs to an earlier job with the same number.
  const double submitted =
      static_cast<double>(std::strtoll(job->substr(job->find('-') + 1).c_str(), nullptr, 16));
  json order;
  for (const auto end = std::chrono::steady_clock::now() + patience;;) {
    const std::optional<OwnedFolder> folder = OpenJobFolder(*run_dir);
    const std::optional<std::string> text = folder ? folder->Read(kOrder) : std::nullopt;
    if (text) order = json::parse(*text, nullptr, false);
    if (order.is_object() && order.value("written", 0.0) > submitted - kClockSkew &&
        IsOf(order, *run_dir)) {
      break;
    }
    if (std::chrono::steady_clock::now() > end) {
      throw RunError(
          "worker: the job's script must call 'allot-elastic run' within {} s, it did not",
          patience.count());
    }
    std::this_thread::sleep_for(kPoll / 2);
  }

  for (const auto& [name, value] : order.at("environment").items()) {
    setenv(name.c_str(), FromJson(value).c_str(), 1);
  }
  std::optional<std::string> accessible = EnvironmentVariable("SLURM_JOB_GPUS");
  if (!accessible) accessible = EnvironmentVariable("CUDA_VISIBLE_DEVICES").value_or("");
  setenv("ALLOT_ACCESSIBLE_GPUS", accessible->c_str(), 1);
  setenv("ALLOT_LOCAL_GPU_ID", accessible->substr(0, accessible->find(',')).c_str(), 1);
  std::filesystem::current_path(FromJson(order.at("folder")));

  std::vector<std::string> command;
  for (const json& word : order.at("command")) command.push_back(FromJson(word));
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw RunError("worker: cannot run '{}': {}", command.front(), std::strerror(errno));
}

}  // namespace allot
