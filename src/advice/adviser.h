#pragma once
// One round of advice: reads the queues, lets a policy order them, and finds which jobs need
// another Nice; and the writing of it, and its undoing. 'allot advise' repeats it.
//
// It writes nothing but the Nice of waiting jobs, always one that is at least what the job had
// before advice. It leaves alone what the target says (AdviceTarget), jobs that came with a Nice of
// their own, and jobs whose Nice is no longer what it wrote. Each write is in the audit before and
// after. Jobs whose write is refused are named, and the others go on.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advice/advice_audit.h"
#include "advice/advice_worth.h"
#include "advice/advised_order.h"
#include "advice/advised_queue.h"
#include "core/file_lock.h"

namespace allot {

struct AdviceOptions {
  std::string policy = "index";
  int most_nice = 1000;
  int writes_per_minute = 60;
};

// A job that is to get another Nice.
struct AdvisedChange {
  NiceChange change;
  std::string queue;
  Seconds waits = 0;    // so far
  std::size_t own = 0;  // its place in the scheduler's own order, from 1
  std::size_t advised = 0;
};

struct QueueAdvice {
  std::string queue;
  std::size_t waiting = 0;                  // jobs
  std::map<std::string, int> left_alone{};  // jobs by reason
  AdvisedOrder order{};
};

struct Advice {
  Seconds now = 0;
  std::vector<QueueAdvice> queues;
  std::vector<AdvisedChange> changes;  // of all queues, the most useful first
};

struct Undone {
  int restored = 0;
  int as_before = 0;                     // already
  int over = 0;                          // jobs that have ended
  std::vector<std::string> others_nice;  // jobs whose Nice somebody else has changed since
  std::vector<std::string> refused;      // why a job keeps what advice wrote, for people
};

struct Written {
  int values = 0;
  std::vector<std::string> refused;  // why a job did not get its Nice, for people
};

class Adviser {
 public:
  enum class Records { kNone, kWrites, kWritesAndWorth };
  // `state`: the folder of the records. UsageError for an unknown policy. One without records
  // leaves no file there, and cannot write. RunError if another process records there.
  Adviser(std::unique_ptr<AdviceTarget> target, AdviceOptions options,
          const std::filesystem::path& state, Records records);

  // Changes nothing of the scheduler's; records what the advice is worth (AdviceWorth). RunError
  // when the scheduler does not answer.
  Advice Advise();
  // Writes as many of the changes as the limit a minute permits now. RunError if this process lacks
  // the right to restore them (AdviceTarget::MayWrite), or too many in a row are refused.
  Written Write(const Advice& advice);
  // Restores each Nice that advice has changed. RunError if too many writes in a row are refused.
  // It may be repeated.
  Undone Undo();
  // Whether an adviser has written with this state folder.
  static bool HasWritten(const std::filesystem::path& state);
  // Of the last week before this Unix time, as recorded in the folder.
  static WorthReport WorthOfWeek(const std::filesystem::path& state, Seconds now);

  const AdviceTarget& target() const { return *target_; }
  // Why the past of jobs is not known; "": it is.
  const std::string& no_past() const { return no_past_; }

 private:
  void LeaveAlone(AdvisedQueue* queue) const;
  void AddChanges(const AdvisedQueue& queue, const AdvisedOrder& order, Advice* advice) const;
  Status SetNice(const NiceChange& change);

  std::unique_ptr<AdviceTarget> target_;
  AdviceOptions options_;
  std::filesystem::path state_;
  std::unique_ptr<FileLock> lock_;  // null: it does not record
  AdviceAudit audit_;
  std::optional<AdviceWorth> worth_;  // likewise
  int refused_in_a_row_ = 0;
  Workload past_;
  std::string no_past_;
  std::optional<Seconds> past_read_;
};

}  // namespace allot
