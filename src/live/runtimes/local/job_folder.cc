#include "live/runtimes/local/job_folder.h"

#include <utility>

#include "core/file.h"
#include "core/json_text.h"

namespace allot {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void LocalJobFolder::Create(const LocalJob& job, const std::string& token,
                            const std::string& source) const {
  for (const char* folder : {"workers", "run", "log"}) fs::create_directories(path_ / folder);
  WriteTextFile(path_ / "source", source);
  WriteTextFile(path_ / "token", token);
  fs::permissions(path_ / "token", fs::perms::owner_read | fs::perms::owner_write);
  WriteTextFile(path_ / "job.json", JsonText(ToJson(job)) + "\n");  // last: now it is complete
}

bool LocalJobFolder::complete() const { return fs::exists(path_ / "job.json"); }

LocalJob LocalJobFolder::ReadJob() const {
  LocalJob job = LocalJobFromJson(Json::parse(ReadTextFile((path_ / "job.json").string())));
  const fs::path state = path_ / "state";
  if (fs::exists(state)) {
    const Json end = Json::parse(ReadTextFile(state.string()));
    job.asked.state = static_cast<JobState>(end.at("state").get<int>());
    job.asked.reason = end.at("reason");
  }
  return job;
}

std::string LocalJobFolder::ReadToken() const { return ReadTextFile((path_ / "token").string()); }

std::string LocalJobFolder::ReadSource() const { return ReadTextFile((path_ / "source").string()); }

void LocalJobFolder::WriteEnd(JobState state, const std::string& reason) const {
  WriteTextFile(path_ / "state",
                Json{{"state", static_cast<int>(state)}, {"reason", reason}}.dump());
}

void LocalJobFolder::MarkArrived() const { WriteTextFile(path_ / "arrived", ""); }

bool LocalJobFolder::arrived() const { return fs::exists(path_ / "arrived"); }

void LocalJobFolder::WriteWorker(const std::string& worker, const LocalWorkerRecord& record) const {
  WriteTextFile(OfWorker(worker, ".json"), Json{{"pid", record.process.pid},
                                                {"started", record.process.started},
                                                {"node", record.node},
                                                {"gpus", record.gpus}}
                                               .dump());
}

void LocalJobFolder::MarkStopped(const std::string& worker) const {
  WriteTextFile(OfWorker(worker, ".stopped"), "");
}

void LocalJobFolder::Retire(const std::string& worker) const {
  std::error_code ignored;
  fs::rename(OfWorker(worker, ".json"), OfWorker(worker, ".ended"), ignored);
}

std::map<std::string, LocalWorkerRecord> LocalJobFolder::ReadWorkers() const {
  std::map<std::string, LocalWorkerRecord> workers;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ / "workers")) {
    if (entry.path().extension() != ".json") continue;
    const Json json = Json::parse(ReadTextFile(entry.path().string()));
    const std::string worker = entry.path().stem().string();
    workers[worker] = {.process = {json.at("pid"), json.at("started")},
                       .node = json.at("node"),
                       .gpus = json.at("gpus"),
                       .stopped = fs::exists(OfWorker(worker, ".stopped"))};
  }
  return workers;
}

fs::path LocalJobFolder::log(const std::string& worker) const {
  return path_ / "log" / (worker + ".log");
}

fs::path LocalJobFolder::exit_file(const std::string& worker) const {
  return OfWorker(worker, ".exit");
}

fs::path LocalJobFolder::OfWorker(const std::string& worker, const char* extension) const {
  return path_ / "workers" / (worker + extension);
}

}  // namespace allot
