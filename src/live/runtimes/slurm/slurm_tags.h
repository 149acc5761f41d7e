#pragma once
// What the Slurm runtime writes beside Slurm's own records of a job, so that a daemon which has
// lost everything finds it again. Pure text, for the runtime and its tests.
//
// A job that was begun, and a worker, which is a job of its own, have the tag in their
// AdminComment, which no user can write. A worker has it in its comment too, for people: there it
// counts for nothing.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/slurm_records.h"
#include "core/types.h"

namespace allot {

// A worker that is a share of the job itself: all of it on one node (resized by restart).
struct ShareTag {
  std::string worker{};
  std::string node{};
  std::uint64_t gpus = 0;
};

// What an elastic job asked for, for its workers: its own record has what its script needs.
struct AskedTag {
  std::uint16_t cpus_per_task = 0;
  std::uint32_t cpus_per_node = 1;
  std::uint64_t memory = 0;  // MiB; kMemoryPerCpu
  std::string constraint{};  // without spaces
};

struct JobTag {
  std::string job{};  // the daemon's name of it
  std::optional<AskedTag> asked{};
  std::vector<ShareTag> shares{};
  bool stopping = false;  // is being requeued
  bool failed = false;    // given up by the daemon
  std::string why{};      // of that, for people; the tag ends with it
  long long stopped = 0;  // Unix time of its last requeue: SecondOfRequeue
  // By which its script splits its GPUs: plans/job_plan.h reads it.
  std::optional<std::string> plan{};
};

struct WorkerTag {
  std::uint32_t user_job = 0;  // Slurm's number of the job that it works for
  std::string job{};
  std::string worker{};
  std::uint64_t gpus = 0;
};

inline constexpr std::string_view kWorkerTag = "elastic-of:";  // begins a WorkerTag

std::string ToText(const JobTag& tag);
std::string ToText(const WorkerTag& tag);
// slurmd refuses a job that starts within the second of its requeue, as the controller's clock
// says, because it remembers the time of the order to end it. How long the job took to end does not
// matter. Times are Unix times of this machine.
long long SecondOfRequeue(double requeued);
bool IsSettling(const JobTag& tag, double now);
// What `slurm` asks for now.
AskedTag AskedBy(const SlurmJob& slurm);
// `slurm` as it was submitted: with what it asked for, if its record shows that no more.
std::shared_ptr<const SlurmJob> AsAsked(std::shared_ptr<const SlurmJob> slurm, const JobTag& tag);
// nullopt: not ours, or not whole.
std::optional<JobTag> ParseJobTag(std::string_view text);
std::optional<WorkerTag> ParseWorkerTag(std::string_view text);

// The daemon's name of a job: what users call it (SlurmJob::known_as), which a controller that lost
// its state gives again, and when it was submitted.
std::string JobName(std::string_view known_as, long long submit);
double SubmitTimeOf(std::string_view job_name);

}  // namespace allot
