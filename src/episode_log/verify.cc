#include "episode_log/verify.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/index.h"
#include "core/rng.h"
#include "episode_log/episode_columns.h"
#include "episode_log/step_columns.h"
#include "record/minari_reader.h"
#include "sim/run.h"

namespace allot {
namespace {

// A column of the log with so many rows of one shape.
template <typename T>
class LoggedColumn {
 public:
  LoggedColumn(const MinariReader& log, std::int64_t episode, const std::string& name,
               std::size_t rows)
      : name_(name) {
    ArrayShape shape;
    values_ = log.ReadAs<T>(episode, name, &shape);
    if (shape.empty() || shape[0] != rows) {
      throw DataError("{}: episode {}: '{}' must have {} rows, has {}", log.path().string(),
                      episode, name, rows, shape.empty() ? 0 : shape[0]);
    }
    width_ = rows == 0 ? 0 : values_.size() / rows;
  }
  const std::string& name() const { return name_; }
  std::size_t width() const { return width_; }
  T At(std::size_t row, std::size_t i) const { return values_[row * width_ + i]; }

 private:
  std::string name_;
  std::vector<T> values_;
  std::size_t width_;
};

template <typename T>
bool SameBits(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else
    return a == b;
}

std::int64_t WholeOr(const AttributeMap& attributes, const std::string& key, std::int64_t none) {
  const auto found = attributes.find(key);
  const auto* value =
      found == attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? none : *value;
}

// 0: it says none.
std::int64_t FeatureVersionOf(const MinariReader& log) {
  return WholeOr(log.attributes(), "feature_version", 0);
}

// As the columns have it.
StepWindow WindowOf(const MinariReader& log, std::int64_t number) {
  ArrayShape shape;
  log.ReadAs<std::uint8_t>(number, "observations/job_mask", &shape);
  StepWindow window;
  window.jobs = shape.size() == 2 ? shape[1] : 1;
  constexpr std::int64_t kMostConfigurations = std::numeric_limits<std::int16_t>::max();
  const auto defaulted = static_cast<std::int64_t>(window.configurations);
  window.configurations = static_cast<std::size_t>(std::clamp<std::int64_t>(
      WholeOr(log.attributes(), "max_configurations", defaulted), 1, kMostConfigurations));
  return window;
}

class Check : public DecisionListener {
 public:
  Check(const MinariReader& log, std::int64_t number, const LoggedEpisode& episode)
      : episode_(episode),
        number_(number),
        steps_(episode.decisions.times.size()),
        actions_(log, number, "actions", steps_),
        rewards_(log, number, "rewards", steps_),
        terminations_(log, number, "terminations", steps_),
        truncations_(log, number, "truncations", steps_),
        times_(log, number, "infos/time", steps_ + 1),
        active_(log, number, "infos/active_jobs", steps_ + 1),
        elapsed_(log, number, "infos/dt", steps_ + 1),
        slot_jobs_(log, number, "infos/job", steps_ + 1),
        legal_(log, number, "infos/legal", steps_ + 1),
        columns_(WindowOf(log, number)),
        logged_left_out_(WholeOr(log.Episode(number).attributes, kLeftOut, -1)) {
    const std::int64_t version = FeatureVersionOf(log);
    if (version == kFeatureVersion) {
      jobs_.emplace(log, number, "observations/jobs", steps_ + 1);
      context_.emplace(log, number, "observations/context", steps_ + 1);
      job_mask_.emplace(log, number, "observations/job_mask", steps_ + 1);
    } else {
      verified_.unchecked =
          fmt::format("observations are of feature version {}, this is {}: not checked", version,
                      kFeatureVersion);
    }
    columns_.OnEpisodeStart();
  }

  // Of a simulation: what the steps' rewards are read from.
  void Attach(const SimulatedCluster& cluster) { cluster_ = &cluster; }

  void OnDecision(const Observation& o, const Allocation& allocation) override {
    if (step_ == steps_) {
      Differ("decisions", step_, fmt::format("{} and more", step_ + 1), fmt::format("{}", steps_));
      return;
    }
    if (cluster_ != nullptr && step_ > 0) Reward(-cluster_->last_step().job_seconds);
    columns_.Observe(o);
    Observed(o.now, o.rows());
    columns_.Act(o, allocation);
    Row(actions_, step_, columns_.action);
    left_out_ += columns_.left_out;
    ++step_;
  }

  // Of the next step.
  void Reward(double reward) {
    if (replayed_rewards_.size() < steps_) {
      Row(rewards_, replayed_rewards_.size(), std::vector<double>{reward});
    }
    replayed_rewards_.push_back(reward);
  }
  const std::vector<double>& rewards() const { return replayed_rewards_; }

  // The last step ended the episode at `end`, with nothing left (or cut).
  void End(Seconds end, bool all_ended) {
    if (step_ != steps_) {
      Differ("decisions", step_, fmt::format("{}", step_), fmt::format("{}", steps_));
      return;
    }
    const Scenario& scenario = *episode_.scenario;
    columns_.ObserveEnd(scenario.cluster(), scenario.options().interval, end);
    Observed(end, 0);
    if (left_out_ != logged_left_out_) {
      Differ(kLeftOut, steps_ - 1, fmt::format("{}", left_out_),
             fmt::format("{}", logged_left_out_));
    }
    for (std::size_t step = 0; step < steps_; ++step) {
      const bool last = step + 1 == steps_;
      Row(terminations_, step, std::vector<bool>{last && all_ended});
      Row(truncations_, step, std::vector<bool>{last && !all_ended});
    }
  }

  // Checks that ids are the written texts. Logs of other programs may lack the hashes.
  void Ids(const MinariReader& log) {
    if (!log.Has(number_, kJobIdHash)) return;
    const LoggedColumn<std::uint64_t> hashes(log, number_, kJobIdHash, episode_.finish.size());
    for (std::size_t job = 0; job < episode_.finish.size(); ++job) {
      const std::string& id = episode_.scenario->workload().jobs[job].id;
      if (StableHash(id) == hashes.At(job, 0)) continue;
      if (verified_.different++ > 0) continue;
      verified_.first =
          fmt::format("episode {}, 'workload/job_id' of job {}: '{}' has hash {}, logged {}",
                      number_, job, id, StableHash(id), hashes.At(job, 0));
    }
  }

  void Finish(std::size_t job, Seconds replayed) {
    const Seconds logged = episode_.finish[job];
    if (SameBits(replayed, logged)) return;
    ++verified_.different;
    if (!verified_.first.empty()) return;
    verified_.first =
        fmt::format("episode {}, 'result/finish' of job '{}': replayed {}, logged {}", number_,
                    episode_.scenario->workload().jobs[job].id, replayed, logged);
  }

  Verified Take() { return std::move(verified_); }

 private:
  void Observed(Seconds now, std::int32_t active) {
    Row(times_, step_, std::vector<double>{now});
    Row(active_, step_, std::vector<std::int32_t>{active});
    Row(elapsed_, step_, std::vector<double>{step_ == 0 ? 0 : now - last_});
    Row(slot_jobs_, step_, columns_.job);
    Row(legal_, step_, columns_.legal);
    last_ = now;
    if (!jobs_) return;
    Row(*jobs_, step_, columns_.jobs);
    Row(*context_, step_, columns_.context);
    Row(*job_mask_, step_, columns_.job_mask);
  }

  template <typename T>
  void Row(const LoggedColumn<T>& column, std::size_t step, const std::vector<T>& replayed) {
    if (column.width() != replayed.size()) {
      Differ(column.name(), step, fmt::format("{} values", replayed.size()),
             fmt::format("{}", column.width()));
      return;
    }
    for (std::size_t i = 0; i < replayed.size(); ++i) {
      const T mine = replayed[i];
      const T logged = column.At(step, i);
      if (SameBits(mine, logged)) continue;
      const std::string where = column.width() == 1 ? "" : fmt::format(", value {}", i);
      Differ(column.name(), step, fmt::format("{}", mine), fmt::format("{}{}", logged, where));
      return;
    }
  }

  void Differ(const std::string& column, std::size_t step, const std::string& replayed,
              const std::string& logged) {
    if (verified_.different++ > 0) return;
    verified_.first = fmt::format("episode {}, '{}' at step {}: replayed {}, logged {}", number_,
                                  column, step, replayed, logged);
  }

  const LoggedEpisode& episode_;
  std::int64_t number_;
  std::size_t steps_;
  LoggedColumn<std::int64_t> actions_;
  LoggedColumn<double> rewards_;
  LoggedColumn<bool> terminations_;
  LoggedColumn<bool> truncations_;
  LoggedColumn<double> times_;
  LoggedColumn<std::int32_t> active_;
  LoggedColumn<double> elapsed_;
  LoggedColumn<std::int32_t> slot_jobs_;
  LoggedColumn<std::uint8_t> legal_;
  std::optional<LoggedColumn<float>> jobs_;
  std::optional<LoggedColumn<float>> context_;
  std::optional<LoggedColumn<std::uint8_t>> job_mask_;
  StepColumns columns_;
  const SimulatedCluster* cluster_ = nullptr;
  std::size_t step_ = 0;
  Seconds last_ = 0;  // decision
  std::int64_t left_out_ = 0;
  std::int64_t logged_left_out_;
  std::vector<double> replayed_rewards_;
  Verified verified_;
};

void Simulate(const LoggedEpisode& episode, Check* check) {
  RecordedPolicy policy(episode.decisions);
  DecisionListener* const listeners[] = {check};
  const RunOutcome outcome =
      RunPolicy(*episode.scenario, policy, listeners,
                [check](const SimulatedCluster& cluster) { check->Attach(cluster); });
  Seconds last = episode.decisions.times.back();
  for (const JobRecord& record : outcome.records) {
    last = std::max(last, record.finish);
    check->Finish(At(record.job), record.finish);
  }
  check->Reward(LastReward(outcome.records, check->rewards()));
  check->End(last, true);
}

// `until` is the logged column; without it, jobs that had not ended look like jobs that never ran.
void Watch(const MinariReader& log, std::int64_t number, const LoggedEpisode& episode,
           Check* check) {
  PlaybackOf(episode)(check);
  const std::vector<Seconds> times = log.ReadAs<double>(number, "infos/time");
  const bool all_ended = std::all_of(episode.finish.begin(), episode.finish.end(),
                                     [](Seconds finish) { return finish != kNever; });
  check->End(times.back(), all_ended);
  std::vector<Seconds> until = episode.finish;
  if (log.Has(number, kUntil)) {
    until = log.ReadAs<double>(number, kUntil);
    if (until.size() != episode.finish.size()) {
      throw DataError("{}: episode {}: '{}' must have one entry a job, it has {} for {} jobs",
                      log.path().string(), number, kUntil, until.size(), episode.finish.size());
    }
  } else if (!all_ended) {
    return;
  }
  const std::vector<double> rewards =
      LiveRewards(episode.decisions.times, episode.scenario->workload().jobs, until, times.back());
  for (const double reward : rewards) check->Reward(reward);
}

}  // namespace

Verified VerifyEpisode(const std::string& path, std::int64_t number, const LoggedEpisode& episode) {
  const MinariReader log(path);
  if (episode.decisions.times.empty()) {
    throw DataError("{}: episode {}: an episode has at least 1 decision, got 0", path, number);
  }
  Check check(log, number, episode);
  check.Ids(log);
  PlayBack(path, [&] {
    if (episode.seen != nullptr) {
      Watch(log, number, episode, &check);
    } else {
      Simulate(episode, &check);
    }
  });
  return check.Take();
}

void RequireVerified(const std::string& path, std::int64_t number, const LoggedEpisode& episode) {
  const Verified verified = VerifyEpisode(path, number, episode);
  if (verified.different == 0) return;
  throw DataError("{}: a log must hold what its decisions give when they are played back: {}", path,
                  verified.first);
}

void RequireOneFeatureVersion(const std::vector<std::string>& paths) {
  std::optional<std::int64_t> first;
  for (const std::string& path : paths) {
    const std::int64_t version = FeatureVersionOf(MinariReader(path));
    if (!first) first = version;
    if (version == *first) continue;
    throw DataError("logs of several feature versions cannot be mixed: '{}' has {}, '{}' has {}",
                    paths.front(), *first, path, version);
  }
}

}  // namespace allot
