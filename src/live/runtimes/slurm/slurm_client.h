#pragma once
// A client of Slurm's controller, by the back end that fits its release (slurm_back_end.h), for the
// Slurm runtime and 'allot doctor'. One thread. Every call has a deadline, so that a controller
// that does not answer blocks nobody.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/slurm/slurm_back_end.h"
#include "clients/slurm/slurm_events.h"
#include "core/error.h"
#include "core/types.h"
#include "live/runtimes/slurm/slurm_chores.h"

namespace allot {

class SlurmClient {
 public:
  // RunError when there is no way to the controller. `read_only`: whatever would change something
  // is refused.
  SlurmClient(const SlurmAccess& access, bool read_only);
  SlurmClient(OpenedSlurm slurm, bool read_only);
  ~SlurmClient();
  SlurmClient(const SlurmClient&) = delete;
  SlurmClient& operator=(const SlurmClient&) = delete;

  // Which way was taken and why, for people.
  const std::string& way() const { return way_; }

  // RunError when the controller does not answer in time; for its settings that is half a minute.
  const SlurmSnapshot& TakeSnapshot();
  std::string ControllerAddress();
  std::string StateFolder();  // of the controller: StateSaveLocation
  SlurmSettings Settings();   // for 'allot doctor'
  // Of so many days, by Slurm's accounting. Refused where it has none, with Slurm's words.
  Status NodeEvents(int days, std::vector<SlurmNodeEvent>* events) const;

  // Asked before each change, which is refused with its words.
  void WriteOnlyIf(std::function<Status()> may_act) { may_act_ = std::move(may_act); }

  // Refused with Slurm's words, or because no answer came in time: what was asked for may still
  // happen, and the next snapshot shows it, for calls are made in their order.
  Status Submit(const SlurmSubmission& submission, std::uint32_t* id);
  Status Change(const SlurmChange& change);
  // Of a job that runs: it is held, once it has been ended. Nothing happens, refused or not, where
  // it came to its end itself, also since the last snapshot: Slurm would run it again.
  Status Requeue(std::uint32_t id);
  // SlurmJob::known_as(): the number of an array's last task would end all of them. Ok also where
  // there is no such job (any more).
  Status Cancel(const std::string& job);
  // Tasks that a record of an array stands for, "10_[0-3]", become records of their own.
  Status Split(const std::string& tasks, const std::string& partition);

 private:
  Status MayWrite() const;
  void EndUntagged();

  const bool read_only_;
  std::function<Status()> may_act_;
  std::unique_ptr<SlurmBackEnd> back_end_;
  std::string way_;
  std::optional<std::string> sacctmgr_;  // its path
  SlurmSnapshot snapshot_;
  SlurmChores untagged_;  // are to end
};

// Refused where Slurm's programs took the place of libslurm and `user` is not root: sbatch submits
// for others for root alone, so that their jobs would wait for ever. Says what to install.
Status MayServeThrough(const OpenedSlurm& opened, unsigned user);

}  // namespace allot
