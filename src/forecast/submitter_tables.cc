#include "forecast/submitter_tables.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

// Pseudo-jobs that the level above is worth, and how widely a run is spread: the standard
// deviation, in bins, of the normal kernel in ln size that each of n runs is spread by, kSpread
// n^(-1/5) as usual (Silverman, Density Estimation, 1986, section 3.4); 4 is a factor of 2.
// About the largest mean log-likelihood of jobs to come, of a grid from 1 to 16 pseudo-jobs and
// widths from 1.5 to 5, over worlds of 20 and 300 users whose medians differ by e^0 to e^1.5,
// groups by e^0 to e^1, and runs within them by e^0.3 to e^1.5: 0.49 nats a job better than the
// size class, 0.12 worse at most, where neither users nor groups differ (docs/learning.md).
constexpr double kClassJobs = 4;  // to a user
constexpr double kUserJobs = 4;   // to a group of the user
constexpr double kSpread = 4;
constexpr int kReach = 7;

using Kernel = std::array<double, 2 * kReach + 1>;

Kernel KernelFor(double runs) {
  const double width = kSpread * std::exp2(-0.2 * std::log2(std::max(1.0, runs)));
  Kernel kernel{};
  double sum = 0;
  for (int i = -kReach; i <= kReach; ++i) {
    sum += kernel[At(i + kReach)] = std::exp(-0.5 * i * i / (width * width));
  }
  for (double& weight : kernel) weight /= sum;
  return kernel;
}

// A class's distribution changes slowly; it is not computed anew for every use.
constexpr double kClassPatience = 1.0 / 16;

constexpr std::int32_t kUnmet = -2;

const std::string& NameOf(const std::vector<std::string>* names, std::int32_t index) {
  static const std::string none;
  return names != nullptr && index >= 0 && At(index) < names->size() ? (*names)[At(index)] : none;
}

double RunsIn(const std::vector<std::pair<int, double>>& runs) {
  double sum = 0;
  for (const auto& [bin, count] : runs) sum += count;
  return sum;
}

}  // namespace

void AddRun(const std::string& user, const std::string& group, std::size_t bin, RunsByName* runs) {
  auto& list = (*runs)[user][group];
  const auto at = std::lower_bound(list.begin(), list.end(), static_cast<int>(bin),
                                   [](const auto& known, int b) { return known.first < b; });
  if (at != list.end() && at->first == static_cast<int>(bin)) {
    ++at->second;
  } else {
    list.insert(at, {static_cast<int>(bin), 1});
  }
}

void KeepLargestGroups(std::size_t most, RunsByName* runs) {
  std::vector<std::tuple<double, std::string, std::string>> groups;
  for (const auto& [user, of_user] : *runs) {
    for (const auto& [group, list] : of_user) {
      if (!group.empty()) groups.emplace_back(-RunsIn(list), user, group);
    }
  }
  if (groups.size() <= most) return;
  std::sort(groups.begin(), groups.end());
  for (std::size_t i = most; i < groups.size(); ++i) {
    const auto& [count, user, group] = groups[i];
    const auto of_user = runs->find(user);
    const auto list = of_user->second.extract(group);
    if (user.empty()) continue;
    for (const auto& [bin, jobs] : list.mapped()) {
      for (int job = 0; job < static_cast<int>(jobs); ++job) {
        AddRun(user, "", static_cast<std::size_t>(bin), runs);
      }
    }
  }
}

SubmitterTables::SubmitterTables(double unit, std::size_t classes)
    : bins_(unit), history_(std::make_shared<const RunsByName>()), classes_(classes) {
  ALLOT_CHECK(classes <= kMostClasses);
}

void SubmitterTables::SetHistory(RunsByName history) {
  history_ = std::make_shared<const RunsByName>(std::move(history));
  OnEpisodeStart();
}

void SubmitterTables::OnEpisodeStart() {
  for (Class& one : classes_) one = {};
  levels_.clear();
  of_user_.clear();
  of_group_.clear();
  tables_.clear();
  next_table_ = 0;
}

std::int32_t SubmitterTables::LevelOfUser(std::int32_t user) const {
  return user >= 0 && At(user) < of_user_.size() ? std::max(of_user_[At(user)], kNone) : kNone;
}

std::int32_t SubmitterTables::LevelOfGroup(std::int32_t user, std::int32_t group) const {
  if (group < 0) return kNone;
  const auto known = of_group_.find(Key(user, group));
  return known == of_group_.end() ? kNone : known->second;
}

std::int32_t SubmitterTables::NewLevel(std::int32_t above, double pseudo_jobs) {
  if (levels_.size() >= kMostLevels) return kNone;
  tables_.reserve(kMostTables);
  levels_.push_back({.above = above, .pseudo_jobs = pseudo_jobs});
  return static_cast<std::int32_t>(levels_.size()) - 1;
}

void SubmitterTables::AddRuns(std::int32_t level, int bin, double runs) {
  if (level == kNone) return;
  Level& of = levels_[At(level)];
  of.counts[At(bin)] += static_cast<float>(runs);
  of.total += runs;
  ++of.version;
}

void SubmitterTables::Learn(std::int32_t level, const std::vector<std::pair<int, double>>& runs) {
  for (const auto& [bin, count] : runs) AddRuns(level, bin, count);
}

void SubmitterTables::MeetUser(const Observation& o, std::int32_t user) {
  if (At(user) >= of_user_.size()) of_user_.resize(At(user) + 1, kUnmet);
  if (of_user_[At(user)] != kUnmet) return;
  const std::int32_t level = of_user_[At(user)] = NewLevel(kNone, kClassJobs);
  const std::string& name = NameOf(o.user_names, user);
  if (name.empty()) return;
  const auto known = history_->find(name);
  if (known == history_->end()) return;
  for (const auto& [group, runs] : known->second) Learn(level, runs);
}

void SubmitterTables::MeetGroup(const Observation& o, std::int32_t user, std::int32_t group) {
  const std::uint64_t key = Key(user, group);
  if (levels_.size() >= kMostLevels || of_group_.contains(key)) return;
  const std::int32_t above = LevelOfUser(user);
  const std::int32_t level = of_group_[key] =
      NewLevel(above, above == kNone ? kClassJobs : kUserJobs);
  const std::string& name = NameOf(o.user_names, user);
  const std::string& of_group = NameOf(o.group_names, group);
  // A user without a name is not the unknown one.
  if (of_group.empty() || (user >= 0 && name.empty())) return;
  const auto known = history_->find(name);
  if (known == history_->end()) return;
  const auto runs = known->second.find(of_group);
  if (runs != known->second.end()) Learn(level, runs->second);
}

void SubmitterTables::Observe(const Observation& o, bool with_groups) {
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.user[r] >= 0) MeetUser(o, o.user[r]);
    if (with_groups && o.group[r] >= 0) MeetGroup(o, o.user[r], o.group[r]);
  }
}

void SubmitterTables::Add(std::int32_t user, std::int32_t group, double size) {
  const auto bin = static_cast<int>(bins_.Of(size));
  AddRuns(LevelOfUser(user), bin, 1);
  AddRuns(LevelOfGroup(user, group), bin, 1);
}

void SubmitterTables::SetClass(std::size_t size_class, const GittinsTable& table) {
  Class& known = classes_[size_class];
  if (known.total > 0 && table.total() < (1 + kClassPatience) * known.total) return;
  ++known.version;
  known.total = table.total();
  known.shares = table.Sizes();
  for (double& share : known.shares) share /= known.total;
}

const RankedSizes* SubmitterTables::Of(std::int32_t user, std::int32_t group,
                                       std::size_t size_class) const {
  if (levels_.empty()) return nullptr;
  std::int32_t index = LevelOfGroup(user, group);
  if (index == kNone || levels_[At(index)].total == 0) index = LevelOfUser(user);
  if (index == kNone || levels_[At(index)].total == 0) return nullptr;
  Level& level = levels_[At(index)];
  const std::array<std::uint32_t, 3> versions = {
      level.version, level.above == kNone ? 0 : levels_[At(level.above)].version,
      classes_[size_class].version};
  std::int32_t& at = level.table[size_class];
  const bool is_new = at == kNone;
  if (is_new) at = FreeTable();
  Table& table = tables_[At(at)];
  if (is_new || table.versions != versions) {
    table.level = index;
    table.size_class = size_class;
    table.versions = versions;
    Make(level, &table);
  }
  return &table.ranked;
}

std::int32_t SubmitterTables::FreeTable() const {
  if (tables_.size() < kMostTables) {
    tables_.emplace_back();
    return static_cast<std::int32_t>(tables_.size()) - 1;
  }
  const std::size_t taken = next_table_;
  next_table_ = (next_table_ + 1) % kMostTables;
  const Table& table = tables_[taken];
  levels_[At(table.level)].table[table.size_class] = kNone;
  return static_cast<std::int32_t>(taken);
}

void SubmitterTables::Make(const Level& level, Table* table) const {
  std::array<double, kBins> shares = classes_[table->size_class].shares;
  const auto mix = [&shares](const Level& own) {
    const Kernel kernel = KernelFor(own.total);
    const double per = 1 / (own.total + own.pseudo_jobs);
    for (double& share : shares) share *= own.pseudo_jobs * per;
    constexpr int kLast = static_cast<int>(kBins) - 1;
    for (int bin = 0; bin <= kLast; ++bin) {
      if (own.counts[At(bin)] == 0) continue;
      const double runs = own.counts[At(bin)] * per;
      for (int i = -kReach; i <= kReach; ++i) {
        shares[At(std::clamp(bin + i, 0, kLast))] += runs * kernel[At(i + kReach)];
      }
    }
  };
  if (level.above != kNone && levels_[At(level.above)].total > 0) mix(levels_[At(level.above)]);
  mix(level);
  table->ranked.Set(shares);
}

}  // namespace allot
