#pragma once
// The record of what advice is worth: each job once, with the waits estimated in the first round
// that saw it, and when it started. Kept in a file, so that a week is known after a restart.
//
// An estimate of a job is no worse in a later round, but a job that waits long is in more rounds
// than one that waits short: to count each once is what a mean over jobs means.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "advice/advised_order.h"
#include "advice/advised_queue.h"
#include "advice/json_lines.h"
#include "advice/worth_report.h"

namespace allot {

class AdviceWorth {
 public:
  // Reads what is there. DataError for a file that is none.
  explicit AdviceWorth(std::filesystem::path path);

  // A round: jobs of the queue that are estimated for the first time. RunError when the file cannot
  // be written.
  void See(const AdvisedQueue& queue, const AdvisedOrder& order, Seconds now);
  // Jobs that have started since. `jobs`: all that are not over; of one that started and ended
  // between two rounds the wait stays unknown.
  void SeeStarts(const std::map<std::string, JobNow>& jobs);

  // Of jobs that were first seen in this time. O(jobs log jobs + 2000 days).
  WorthReport Between(Seconds from, Seconds until) const;

 private:
  struct Seen {
    Seconds time = 0;  // when it was first seen
    std::string user;
    std::string account;
    JobWait wait;
    std::optional<Seconds> came{};
  };
  using Key = std::pair<std::string, Seconds>;  // id and submission: numbers may come again

  std::string Apply(const nlohmann::ordered_json& record);
  void Add(const std::vector<nlohmann::ordered_json>& records);

  std::map<Key, Seen> jobs_;
  std::map<std::string, Seconds> waiting_;  // submission of those whose start is not known, by id
  JsonLines file_;                          // is read into the others
};

}  // namespace allot
