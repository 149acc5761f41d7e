#pragma once
// Folders by which places speak to the processes of their jobs (tests/tools/runtime_worker.cc): one
// a job, all in a temporary folder of the place's own.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {

class WorkerFolders {
 public:
  WorkerFolders() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "allot-runtime-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw RunError("no folder '{}'", pattern);
    root_ = pattern;
  }
  ~WorkerFolders() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  WorkerFolders(const WorkerFolders&) = delete;
  WorkerFolders& operator=(const WorkerFolders&) = delete;

  const std::filesystem::path& root() const { return root_; }

  // A new one, for a job that is about to be submitted.
  std::filesystem::path Make() {
    auto folder = root_ / fmt::format("job{}", ++count_);
    std::filesystem::create_directories(folder);
    WriteTextFile(folder / "begin", "");
    return folder;
  }
  void Name(const std::string& job, const std::filesystem::path& folder) { of_[job] = folder; }

  // "" before it has said anything.
  std::string Told(const std::string& job, const std::string& worker) const {
    const auto file = of_.at(job) / ("told-" + worker);
    return std::filesystem::exists(file) ? std::string(Trim(ReadTextFile(file.string()))) : "";
  }

  void Finish(const std::string& job) { WriteTextFile(of_.at(job) / "finish", ""); }
  void Exit(const std::string& worker) { WriteTextFile(OfWorker(worker) / ("exit-" + worker), ""); }
  void Kill(const std::string& worker) {
    const auto pid = ParseInteger(Trim(ReadTextFile(OfWorker(worker) / ("pid-" + worker))));
    if (!pid || *pid <= 1 || ::kill(static_cast<pid_t>(*pid), SIGKILL) != 0) {
      throw RunError("worker {} cannot be killed: {}", worker, SystemMessage());
    }
  }

 private:
  // Workers are named <job>.<number>.
  const std::filesystem::path& OfWorker(const std::string& worker) const {
    return of_.at(worker.substr(0, worker.rfind('.')));
  }

  std::filesystem::path root_;
  int count_ = 0;
  std::map<std::string, std::filesystem::path> of_;
};

}  // namespace allot
