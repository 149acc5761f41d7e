#include "clients/slurm/slurm_commands.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "clients/slurm/resources.h"
#include "clients/slurm/shared_jobs.h"
#include "clients/slurm/slurm_json.h"
#include "clients/slurm/slurm_program.h"
#include "clients/slurm/slurm_text.h"
#include "core/strings.h"

namespace allot {
namespace {

// Nobody waits for a daemon that begins.
constexpr Seconds kAtBegin = 30;
constexpr double kMuchLonger = 5;

// A requeued job would wait two minutes. Ours may be another clock than the controller's.
constexpr const char* kLongAgo = "starttime=2000-01-01";

constexpr std::uint16_t kNoCpus = 0xfffe;  // and above: not set

bool SaysThatItIsOver(const SlurmProgramOutput& output) {
  return output.errors.find("Invalid job id") != std::string::npos ||
         output.errors.find("already completing or completed") != std::string::npos;
}

class SlurmCommands final : public SlurmBackEnd {
 public:
  SlurmCommands(SlurmPrograms programs, Seconds patience)
      : programs_(std::move(programs)), patience_(patience) {}

  Status Load(SlurmSnapshot* snapshot) override;
  Status LoadSettings(SlurmSettings* settings) override;
  Status Submit(const SlurmSubmission& submission, std::uint32_t* id) override;
  Status Change(const SlurmChange& change) override;
  Status Requeue(std::uint32_t id) override;
  Status Cancel(const std::string& job) override;
  Status Split(const std::string& tasks, const std::string& partition) override;

 private:
  // Refused, too, where the program itself says no.
  Status Run(std::vector<std::string> words, const SlurmDeadline& deadline,
             SlurmProgramOutput* output, const char* what) const;
  Status LoadExclusive(const SlurmDeadline& deadline, std::vector<SlurmJob>* jobs);
  Status LoadNodes(const SlurmDeadline& deadline, std::vector<SlurmNode>* nodes);
  Status LoadConfig(const SlurmDeadline& deadline, SlurmSettings* settings) const;
  void LoadSeldom(const SlurmDeadline& deadline, SlurmDeadline::Clock::time_point now);
  Status Tag(std::uint32_t id, const std::string& tag, const SlurmDeadline& deadline) const;
  std::string NameOf(std::uint32_t id) const;

  const SlurmPrograms programs_;
  const Seconds patience_;
  Seconds last_look_ = kAtBegin / kMuchLonger;
  std::map<std::uint32_t, std::string> tasks_;  // of arrays, as the last look named them
  SlurmLimits limits_;
  std::vector<SlurmPartition> partitions_;
  std::optional<SlurmDeadline::Clock::time_point> seldom_at_;  // limits and partitions were loaded
  bool scontrol_says_json_ = true;                             // from 23.02 on
  bool squeue_says_exclusive_ = true;                          // from 26.05 on
};

Status SlurmCommands::Run(std::vector<std::string> words, const SlurmDeadline& deadline,
                          SlurmProgramOutput* output, const char* what) const {
  Status run = RunSlurmProgram({std::move(words), SlurmEnvironment(), ""}, deadline, output);
  if (!run.ok()) return run;
  return output->exit == 0 ? run : Status::Refused("{}: Slurm says: {}", what, LastLineOf(*output));
}

// What squeue takes grows with the number of jobs, and it says nothing before it has all of them: a
// controller counts as one that does not answer only when it takes much longer than last time.
Status SlurmCommands::Load(SlurmSnapshot* snapshot) {
  const auto begin = SlurmDeadline::Clock::now();
  const SlurmDeadline deadline(std::max(patience_, kMuchLonger * last_look_));
  SlurmSnapshot loaded;
  SlurmProgramOutput output;
  Status done = Run({programs_.squeue, "--all", "--states=all", "--json"}, deadline, &output,
                    "asking for jobs");
  try {
    std::vector<SlurmJob> jobs;
    if (done.ok()) jobs = ReadJobsJson(output.text);
    if (done.ok()) done = LoadExclusive(deadline, &jobs);
    SharedJobs shared(snapshot->jobs);
    for (SlurmJob& job : jobs) shared.Add(std::move(job));
    loaded.jobs = shared.Take();
    if (done.ok()) done = LoadNodes(deadline, &loaded.nodes);
    if (done.ok()) {
      done = Run({programs_.scontrol, "--oneliner", "show", "reservation"}, deadline, &output,
                 "asking for reservations");
    }
    if (!done.ok()) return done;
    MarkReservations(ReadReservationsText(output.text), std::time(nullptr), &loaded.nodes);
    LoadSeldom(deadline, begin);
    loaded.limits = limits_;
    loaded.partitions = partitions_;
  } catch (const Error& error) {
    return Status::Refused("{}", error.what());
  }
  last_look_ = std::chrono::duration<double>(SlurmDeadline::Clock::now() - begin).count();
  tasks_.clear();
  for (const auto& job : loaded.jobs) {
    if (job->task >= 0) tasks_[job->id] = job->known_as();
  }
  *snapshot = std::move(loaded);
  return done;
}

Status SlurmCommands::LoadExclusive(const SlurmDeadline& deadline, std::vector<SlurmJob>* jobs) {
  if (!squeue_says_exclusive_) return Status::Ok();
  SlurmProgramOutput output;
  Status done = Run(
      {programs_.squeue, "--all", "--states=all", "--noheader", "--Format=JobID:16,Exclusive:16"},
      deadline, &output, "asking for jobs");
  squeue_says_exclusive_ = output.errors.find("Invalid job format") == std::string::npos;
  if (!squeue_says_exclusive_) return Status::Ok();
  if (done.ok()) MarkExclusive(output.text, jobs);
  return done;
}

Status SlurmCommands::LoadNodes(const SlurmDeadline& deadline, std::vector<SlurmNode>* nodes) {
  SlurmProgramOutput output;
  Status done = Status::Ok();
  if (scontrol_says_json_) {
    done = Run({programs_.scontrol, "--all", "show", "nodes", "--json"}, deadline, &output,
               "asking for nodes");
    scontrol_says_json_ = done.ok() || output.errors.find("--json") == std::string::npos;
  }
  if (!scontrol_says_json_) {
    done = Run({programs_.sinfo, "--all", "--json"}, deadline, &output, "asking for nodes");
  }
  if (done.ok()) *nodes = ReadNodesJson(output.text);
  return done;
}

// Limits and partitions. Where they cannot be had, those of before hold: the pending reasons of
// what Slurm does not start tell.
void SlurmCommands::LoadSeldom(const SlurmDeadline& deadline,
                               SlurmDeadline::Clock::time_point now) {
  if (seldom_at_ && std::chrono::duration<double>(now - *seldom_at_).count() < kSettingsEvery) {
    return;
  }
  seldom_at_ = now;
  SlurmProgramOutput output;
  SlurmSettings settings;
  if (!LoadConfig(deadline, &settings).ok()) return;
  partitions_ = settings.partitions;
  if (!settings.enforces_limits) {
    limits_ = {};
  } else if (Run({programs_.scontrol, "--oneliner", "show", "assoc_mgr", "flags=assoc,qos"},
                 deadline, &output, "asking for limits")
                 .ok()) {
    limits_ = ReadLimitsText(output.text);
  }
}

Status SlurmCommands::LoadConfig(const SlurmDeadline& deadline, SlurmSettings* settings) const {
  SlurmProgramOutput output;
  Status done = Run({programs_.scontrol, "show", "config"}, deadline, &output,
                    "asking for the configuration");
  if (!done.ok()) return done;
  ReadConfigText(output.text, settings);
  done = Run({programs_.scontrol, "--all", "--oneliner", "show", "partition"}, deadline, &output,
             "asking for partitions");
  if (done.ok()) settings->partitions = ReadPartitionsText(output.text, settings->memory);
  return done;
}

Status SlurmCommands::LoadSettings(SlurmSettings* settings) {
  Status done = LoadConfig(SlurmDeadline(std::max(patience_, kAtBegin)), settings);
  if (!done.ok()) return done;
  settings->api = "commands";
  settings->library = VersionOf(programs_, std::max(patience_, kAtBegin));
  return done;
}

// sbatch of 22.05 cannot write an AdminComment, in which alone a tag counts: the job is held until
// it has it.
Status SlurmCommands::Submit(const SlurmSubmission& submission, std::uint32_t* id) {
  const SlurmDeadline deadline(patience_);
  std::vector<std::string> environment = submission.environment;
  if (const char* conf = std::getenv("SLURM_CONF")) {
    environment.push_back(fmt::format("SLURM_CONF={}", conf));
  }
  SlurmProgramOutput output;
  Status done = RunSlurmProgram(
      {SubmissionWords(programs_.sbatch, submission), std::move(environment), submission.script},
      deadline, &output);
  if (!done.ok()) return done;
  const std::string_view said = Trim(output.text);
  const auto number = ParseInteger(said.substr(0, said.find(';')));  // "42;cluster"
  if (output.exit != 0 || !number) {
    return Status::Refused("submitting a worker: Slurm says: {}", LastLineOf(output));
  }
  *id = static_cast<std::uint32_t>(*number);
  done = Tag(*id, submission.comment, deadline);
  if (!done.ok()) (void)Cancel(std::to_string(*id));
  return done;
}

Status SlurmCommands::Tag(std::uint32_t id, const std::string& tag,
                          const SlurmDeadline& deadline) const {
  SlurmProgramOutput output;
  Status done = Run({programs_.scontrol, "update", fmt::format("jobid={}", id),
                     fmt::format("admincomment={}", tag)},
                    deadline, &output, "tagging a worker");
  if (!done.ok()) return done;
  return Run({programs_.scontrol, "release", std::to_string(id)}, deadline, &output,
             "releasing a worker");
}

// To these programs the number of an array's last task is the array.
std::string SlurmCommands::NameOf(std::uint32_t id) const {
  const auto task = tasks_.find(id);
  return task == tasks_.end() ? std::to_string(id) : task->second;
}

Status SlurmCommands::Change(const SlurmChange& change) {
  const SlurmDeadline deadline(patience_);
  const std::vector<std::string> update = {programs_.scontrol, "update",
                                           "jobid=" + NameOf(change.id)};
  SlurmProgramOutput output;
  if (change.nice) {  // by the plain number, which stands for a whole array
    return Run({programs_.scontrol, "update", fmt::format("jobid={}", change.id),
                fmt::format("nice={}", *change.nice)},
               deadline, &output, "changing the Nice of a job");
  }
  Status done = Status::Ok();
  std::vector<std::string> words = update;
  if (change.node_count > 0) {
    words.push_back(fmt::format("numnodes={0}-{0}", change.node_count));
    done = Run(words, deadline, &output, "setting the number of nodes");
    if (!done.ok()) return done;
  }
  words = update;
  const auto set = [&](const char* field, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", field, value));
  };
  set("partition", change.partition);
  set("admincomment", change.admin_comment);
  set("reqnodelist", change.nodes);
  set("gres", change.gres.substr(change.gres.starts_with(kGresPrefix) ? kGresPrefix.size() : 0));
  if (change.time_limit > 0) set("timelimit", std::to_string(change.time_limit));
  if (const auto& one_core = change.one_core) {
    for (const char* each : {"numtasks=1", "cpuspertask=1", "numcpus=1-1", "mincpusnode=1"}) {
      words.emplace_back(each);
    }
    if (one_core->memory_mib > 0) set("minmemorynode", std::to_string(one_core->memory_mib));
    if (one_core->any_features) words.emplace_back("features=");
  }
  if (change.first) set("priority", std::to_string(kBeforeAll));
  if (change.node_count > 0) words.emplace_back(kLongAgo);
  if (words.size() > update.size()) done = Run(words, deadline, &output, "changing a job");
  if (!done.ok() || !change.release) return done;
  return Run({programs_.scontrol, "release", NameOf(change.id)}, deadline, &output,
             "releasing a job");
}

Status SlurmCommands::Requeue(std::uint32_t id) {
  SlurmProgramOutput output;
  return Run({programs_.scontrol, "requeuehold", "incomplete", NameOf(id)},
             SlurmDeadline(patience_), &output, "requeueing a job");
}

Status SlurmCommands::Cancel(const std::string& job) {
  SlurmProgramOutput output;
  Status done = Run({programs_.scancel, job}, SlurmDeadline(patience_), &output, "ending a job");
  return done.ok() || !SaysThatItIsOver(output) ? done : Status::Ok();
}

Status SlurmCommands::Split(const std::string& tasks, const std::string& partition) {
  SlurmProgramOutput output;
  return Run({programs_.scontrol, "update", fmt::format("jobid={}", tasks),
              fmt::format("partition={}", partition)},
             SlurmDeadline(patience_), &output, "splitting an array");
}

}  // namespace

Status FindSlurmPrograms(const std::filesystem::path& folder, SlurmPrograms* programs) {
  const std::pair<const char*, std::string*> wanted[] = {{"squeue", &programs->squeue},
                                                         {"sinfo", &programs->sinfo},
                                                         {"scontrol", &programs->scontrol},
                                                         {"sbatch", &programs->sbatch},
                                                         {"scancel", &programs->scancel}};
  for (const auto& [name, path] : wanted) {
    *path = FindSlurmProgram(folder, name).value_or("");
    if (!path->empty()) continue;
    return Status::Refused("Slurm's program {} is not {}", name,
                           folder.empty() ? "on PATH" : "in " + folder.string());
  }
  return Status::Ok();
}

std::string VersionOf(const SlurmPrograms& programs, Seconds patience) {
  SlurmProgramOutput output;
  const Status run = RunSlurmProgram({{programs.squeue, "--version"}, SlurmEnvironment(), ""},
                                     SlurmDeadline(patience), &output);
  if (!run.ok() || output.exit != 0) return "";
  const std::string_view said = Trim(output.text);  // "slurm-wlm 22.05.8"
  return std::string(said.substr(said.rfind(' ') + 1));
}

std::unique_ptr<SlurmBackEnd> OpenSlurmCommands(SlurmPrograms programs, Seconds patience) {
  return std::make_unique<SlurmCommands>(std::move(programs), patience);
}

std::vector<std::string> SubmissionWords(const std::string& sbatch,
                                         const SlurmSubmission& submission) {
  std::vector<std::string> words = {sbatch,         "--parsable",       "--hold",
                                    "--no-requeue",  // nobody would have asked for it again
                                    "--export=ALL", "--propagate=NONE", "--open-mode=append",
                                    "--nodes=1-1",  "--ntasks=1"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  // Not where it is this very user: sbatch refuses both options to all but root.
  if (submission.user_id != ::geteuid()) {
    add("uid", std::to_string(submission.user_id));
    add("gid", std::to_string(submission.group_id));
  }
  add("job-name", submission.name);
  add("comment", submission.comment);
  add("partition", submission.partition);
  add("nodelist", submission.node);
  const std::string& gres = submission.gres;
  add("gres", gres.substr(gres.starts_with(kGresPrefix) ? kGresPrefix.size() : 0));
  add("chdir", submission.work_dir);
  add("output", submission.output);
  add("account", submission.account);
  add("qos", submission.qos);
  if (submission.time_limit > 0) {
    add("time", submission.time_limit >= kNoTimeLimit - 1 ? "UNLIMITED"
                                                          : std::to_string(submission.time_limit));
  }
  if (submission.cpus_per_task > 0 && submission.cpus_per_task < kNoCpus) {
    add("cpus-per-task", std::to_string(submission.cpus_per_task));
  }
  if ((submission.memory & kMemoryPerCpu) != 0) {
    add("mem-per-cpu", fmt::format("{}M", submission.memory & ~kMemoryPerCpu));
  } else if (submission.memory > 0) {
    add("mem", fmt::format("{}M", submission.memory));
  }
  return words;
}

}  // namespace allot
