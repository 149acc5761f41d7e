#include "advice/advice_worth.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace allot {
namespace {

constexpr const char* kSeen = "seen";
constexpr const char* kStarted = "started";
constexpr Seconds kDay = 86400;
constexpr std::size_t kFewestDays = 3;

struct Sums {
  Seconds own = 0;
  Seconds advised = 0;
};

double ShorterOf(const Sums& sums) { return sums.own > 0 ? 1 - sums.advised / sums.own : kUnknown; }

class WorthSum {
 public:
  void Add(Seconds time, const JobWait& wait, const std::optional<Seconds>& came) {
    Sums& day = by_day_[static_cast<std::int64_t>(std::floor(time / kDay))];
    for (Sums* sums : {&day, &all_}) {
      sums->own += wait.own;
      sums->advised += wait.advised;
    }
    ++worth_.jobs;
    if (!came) return;
    ++worth_.started;
    came_ += *came;
  }

  const Sums& all() const { return all_; }

  Worth Finish() const {
    Worth worth = worth_;
    worth.own = all_.own / std::max(1, worth.jobs);
    worth.advised = all_.advised / std::max(1, worth.jobs);
    if (worth.started > 0) worth.came = came_ / worth.started;
    worth.shorter.value = ShorterOf(all_);
    if (by_day_.size() < kFewestDays || std::isnan(worth.shorter.value)) return worth;
    std::vector<Sums> days;
    TaskValues drawn(1);  // indices of days
    for (const auto& [day, sums] : by_day_) {
      drawn[0].push_back(static_cast<double>(days.size()));
      days.push_back(sums);
    }
    worth.shorter = StratifiedBootstrap(drawn, [&days](const TaskValues& tasks) {
      Sums sums;
      for (const double day : tasks[0]) {
        sums.own += days[static_cast<std::size_t>(day)].own;
        sums.advised += days[static_cast<std::size_t>(day)].advised;
      }
      return sums.own > 0 ? ShorterOf(sums) : 0;
    });
    return worth;
  }

 private:
  std::map<std::int64_t, Sums> by_day_;
  Sums all_;
  Seconds came_ = 0;
  Worth worth_;
};

}  // namespace

AdviceWorth::AdviceWorth(std::filesystem::path path)
    : file_(std::move(path), "a record of worth",
            [this](const nlohmann::ordered_json& record) { return Apply(record); }) {}

std::string AdviceWorth::Apply(const nlohmann::ordered_json& record) {
  const auto what = record.at("what").get<std::string>();
  const auto id = record.at("job").get<std::string>();
  const Key key = {id, record.at("submit").get<double>()};
  if (what == kSeen) {
    jobs_[key] = {.time = record.at("time").get<double>(),
                  .user = record.at("user").get<std::string>(),
                  .account = record.at("account").get<std::string>(),
                  .wait = {record.at("own").get<double>(), record.at("advised").get<double>()}};
    waiting_[id] = key.second;
    return "";
  }
  if (what != kStarted) return "must say seen or started";
  const auto job = jobs_.find(key);
  if (job != jobs_.end()) job->second.came = record.at("wait").get<double>();
  waiting_.erase(id);
  return "";
}

void AdviceWorth::See(const AdvisedQueue& queue, const AdvisedOrder& order, Seconds now) {
  std::vector<nlohmann::ordered_json> seen;
  for (std::size_t j = 0; j < queue.waiting.size(); ++j) {
    const QueuedJob& job = queue.waiting[j];
    const JobWait& wait = order.waits[j];
    if (std::isnan(wait.own) || jobs_.contains({job.id, job.submit})) continue;
    seen.push_back({{"what", kSeen},
                    {"time", now},
                    {"job", job.id},
                    {"submit", job.submit},
                    {"user", job.user},
                    {"account", job.account},
                    {"queue", queue.name},
                    {"own", wait.own},
                    {"advised", wait.advised}});
  }
  Add(seen);
}

void AdviceWorth::Add(const std::vector<nlohmann::ordered_json>& records) {
  file_.Append(records);
  for (const nlohmann::ordered_json& record : records) Apply(record);
}

void AdviceWorth::SeeStarts(const std::map<std::string, JobNow>& jobs) {
  std::vector<nlohmann::ordered_json> started;
  for (auto known = waiting_.begin(); known != waiting_.end();) {
    const auto& [id, submit] = *known;
    const auto job = jobs.find(id);
    const bool is_over = job == jobs.end() || job->second.submit != submit;
    if (!is_over && job->second.start > 0) {
      started.push_back({{"what", kStarted},
                         {"job", id},
                         {"submit", submit},
                         {"wait", std::max(0.0, job->second.start - submit)}});
    }
    known = is_over ? waiting_.erase(known) : std::next(known);
  }
  Add(started);
}

WorthReport AdviceWorth::Between(Seconds from, Seconds until) const {
  WorthSum all;
  std::map<std::pair<std::string, std::string>, WorthSum> users;
  for (const auto& [key, job] : jobs_) {
    if (job.time < from || job.time > until) continue;
    all.Add(job.time, job.wait, job.came);
    users[{job.user, job.account}].Add(job.time, job.wait, job.came);
  }
  WorthReport report{.from = from, .until = until, .all = all.Finish(), .users = {}};
  for (const auto& [who, sum] : users) {
    report.users.push_back({who.first, who.second, sum.Finish()});
  }
  std::stable_sort(report.users.begin(), report.users.end(),
                   [](const WorthOfUser& a, const WorthOfUser& b) {
                     return a.worth.own * a.worth.jobs > b.worth.own * b.worth.jobs;
                   });
  return report;
}

}  // namespace allot
