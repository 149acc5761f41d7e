#include "length_model/submitter_tables.h"

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

// Weights change by 4 % at once, so that distributions are not made anew at every decision, and
// are written anew before they leave the range of a float.
constexpr std::int64_t kPeriods = 16;
constexpr std::int64_t kMostPeriods = 32 * kPeriods;

constexpr std::int32_t kUnmet = -2;

const std::string& NameOf(const std::vector<std::string>* names, std::int32_t index) {
  static const std::string none;
  return names != nullptr && index >= 0 && At(index) < names->size() ? (*names)[At(index)] : none;
}

// `shares`, worth `weight` jobs, and the jobs that have lasted so many octaves.
template <std::size_t kOctaves>
void AddUnfinished(const std::array<std::int32_t, kOctaves>& lasted, double weight,
                   std::array<double, SizeBins::kCount>* shares) {
  std::array<double, SizeBins::kCount + 1> beyond{};
  for (std::size_t bin = SizeBins::kCount; bin-- > 0;) {
    beyond[bin] = beyond[bin + 1] + (*shares)[bin];
  }
  double factor = 1;
  for (std::size_t bin = 0; bin < SizeBins::kCount; ++bin) {
    const bool begins = bin < 2 || (bin - 1) % 4 == 0;  // an octave
    const std::size_t octave = bin == 0 ? 0 : (bin - 1) / 4 + 1;
    if (begins && lasted[octave] > 0 && beyond[bin] > 0) {
      factor += beyond[0] * lasted[octave] / (weight * beyond[bin]);
    }
    (*shares)[bin] *= factor;
  }
}

double RunsIn(const std::vector<std::pair<int, double>>& runs) {
  double sum = 0;
  for (const auto& [bin, count] : runs) sum += count;
  return sum;
}

}  // namespace

double SubmitterOptions::Weight(Seconds ago) const {
  return half_life > 0 ? std::exp2(-std::max(0.0, ago) / half_life) : 1;
}

void AddRun(const std::string& user, const std::string& group, std::size_t bin, RunsByName* runs,
            double weight) {
  auto& list = (*runs)[user][group];
  const auto at = std::lower_bound(list.begin(), list.end(), static_cast<int>(bin),
                                   [](const auto& known, int b) { return known.first < b; });
  if (at != list.end() && at->first == static_cast<int>(bin)) {
    at->second += weight;
  } else {
    list.insert(at, {static_cast<int>(bin), weight});
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
      AddRun(user, "", static_cast<std::size_t>(bin), runs, jobs);
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
  unfinished_.clear();
  lasting_.clear();
  round_ = 0;
  began_ = false;
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
  levels_.push_back({.above = above, .pseudo_jobs = pseudo_jobs, .since = first_period_});
  return static_cast<std::int32_t>(levels_.size()) - 1;
}

void SubmitterTables::AddRuns(std::int32_t level, int bin, double runs) {
  if (level == kNone) return;
  Level& of = levels_[At(level)];
  if (period_ - of.since > kMostPeriods) {
    const double scale = Scale(of);
    for (float& count : of.counts) count = static_cast<float>(count * scale);
    of.total *= scale;
    of.since = period_;
  }
  runs /= Scale(of);
  of.counts[At(bin)] += static_cast<float>(runs);
  of.total += runs;
  ++of.version;
}

double SubmitterTables::Scale(const Level& level) const {
  return std::exp2(-static_cast<double>(period_ - level.since) / kPeriods);
}

// One job alone that has not ended is mostly the one that is asked about: no news of it.
bool SubmitterTables::Knows(std::int32_t level) const {
  return level != kNone && (levels_[At(level)].total > 0 || levels_[At(level)].unfinished > 1);
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
  if (options_.half_life > 0) {
    period_ = static_cast<std::int64_t>(std::floor(o.now / options_.half_life * kPeriods));
  }
  if (!began_) first_period_ = period_;
  began_ = true;
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.user[r] >= 0) MeetUser(o, o.user[r]);
    if (with_groups && o.group[r] >= 0) MeetGroup(o, o.user[r], o.group[r]);
  }
}

void SubmitterTables::Count(const Unfinished& job, int jobs) {
  for (const std::int32_t level : job.levels) {
    if (level == kNone) continue;
    Level& of = levels_[At(level)];
    of.lasted[At(job.octave)] += jobs;
    of.unfinished += jobs;
    ++of.version;
  }
}

void SubmitterTables::Move(const Observation& o, std::size_t row, std::int32_t octave) {
  Unfinished& job = unfinished_[At(o.job[row])];
  if (job.octave == kNone) {
    job.levels = {LevelOfUser(o.user[row]), LevelOfGroup(o.user[row], o.group[row])};
    lasting_.push_back(o.job[row]);
  } else {
    Count(job, -1);
  }
  job.octave = octave;
  Count(job, 1);
}

void SubmitterTables::ObserveUnfinished(const Observation& o, std::span<const double> lasted) {
  if (!options_.unfinished || levels_.empty()) return;
  ++round_;
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (!(lasted[r] > 0) || (o.user[r] < 0 && o.group[r] < 0)) continue;
    if (At(o.job[r]) >= unfinished_.size()) unfinished_.resize(At(o.job[r]) + 1);
    Unfinished& job = unfinished_[At(o.job[r])];
    job.round = round_;
    const std::size_t bin = bins_.Of(lasted[r]);
    const auto octave = static_cast<std::int32_t>(bin == 0 ? 0 : (bin - 1) / 4 + 1);
    if (job.octave != octave) Move(o, r, octave);
  }
  std::erase_if(lasting_, [this](JobIndex index) {
    Unfinished& job = unfinished_[At(index)];
    if (job.round == round_) return false;
    Count(job, -1);
    job = {};
    return true;
  });
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
  if (!Knows(index)) index = LevelOfUser(user);
  if (!Knows(index)) return nullptr;
  Level& level = levels_[At(index)];
  const std::array<std::uint32_t, 4> versions = {
      level.version, level.above == kNone ? 0 : levels_[At(level.above)].version,
      classes_[size_class].version, static_cast<std::uint32_t>(period_)};
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
  const auto mix = [this, &shares](const Level& own) {
    const double scale = Scale(own);
    const double total = own.total * scale;
    const Kernel kernel = KernelFor(total);
    const double per = 1 / (total + own.pseudo_jobs);
    for (double& share : shares) share *= own.pseudo_jobs * per;
    constexpr int kLast = static_cast<int>(kBins) - 1;
    for (int bin = 0; bin <= kLast; ++bin) {
      if (own.counts[At(bin)] == 0) continue;
      const double runs = own.counts[At(bin)] * scale * per;
      for (int i = -kReach; i <= kReach; ++i) {
        shares[At(std::clamp(bin + i, 0, kLast))] += runs * kernel[At(i + kReach)];
      }
    }
    if (own.unfinished > 0) AddUnfinished(own.lasted, total + own.pseudo_jobs, &shares);
  };
  if (Knows(level.above)) mix(levels_[At(level.above)]);
  mix(level);
  table->ranked.Set(shares);
}

}  // namespace allot
