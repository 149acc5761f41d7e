#pragma once
// Distributions of sizes by submitter. Without other knowledge it is that of the size class. It is
// shifted towards the user's own runs, and further towards the runs of the job's group (an
// application, a recurring script), more so the more runs there are. Used by the length model.
//
// With n the runs of a level by bin, N their sum, and P the distribution of the level above,
//
//   P' = (n + k P) / (N + k),
//
// the posterior mean under a Dirichlet prior of weight k around P: k pseudo-jobs (Gelman et al.,
// Bayesian Data Analysis, section 3.4; hierarchical as in Teh et al., JASA 2006). A few runs
// would predict only their own bins, so each is spread over the bins nearby, wider the fewer runs
// there are. A level without runs equals the level above, bit by bit.
//
// Habits change: a run counts half after each half-life, by exponential forward decay (Cormode et
// al., ICDE 2009). Of many jobs submitted at once the short ones end first. So each of the R jobs
// that have lasted a_1, a_2, ... and not ended counts as one job of P' beyond that,
//
//   P'' = ((N + k) P' + sum P'(. | > a_i)) / (N + k + R),
//
// one step of EM for sizes censored from above (Dempster, Laird, Rubin, J. R. Stat. Soc. B 1977).

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/observation.h"
#include "length_model/gittins_table.h"
#include "length_model/size_bins.h"

namespace allot {

// Runs of a history by names: user -> group -> (bin, runs), bins ascending. "" is an unknown user,
// or no group.
using RunsByName =
    std::map<std::string, std::map<std::string, std::vector<std::pair<int, double>>>>;

void AddRun(const std::string& user, const std::string& group, std::size_t bin, RunsByName* runs,
            double weight = 1);

// Keeps at most so many groups apart. Those with the fewest runs (then the last by name) are merged
// into their user's runs without a group; groups of an unknown user are dropped.
void KeepLargestGroups(std::size_t most, RunsByName* runs);

struct SubmitterOptions {
  Seconds half_life = 3 * 86400.0;  // of a run's weight; 0: weights do not decay
  bool unfinished = true;           // unfinished jobs count with the time that they have lasted

  // The weight of a run that ended so long ago.
  double Weight(Seconds ago) const;
};

class SubmitterTables {
 public:
  // Limits on the users and groups of an episode, and on cached distributions (14 and 4 MB). Beyond
  // the first, users count as their size class and groups as their user; beyond the second,
  // distributions are computed again when needed.
  static constexpr std::size_t kMostLevels = 16384;
  static constexpr std::size_t kMostTables = 1024;

  SubmitterTables(double unit, std::size_t classes);

  // Call before SetHistory and the first episode.
  void SetOptions(const SubmitterOptions& options) { options_ = options; }
  const SubmitterOptions& options() const { return options_; }

  // The runs that are known before an episode.
  void SetHistory(RunsByName history);
  const RunsByName& history() const { return *history_; }

  void OnEpisodeStart();  // forgets all numbers and what was added
  // Makes levels for new users, and for new groups if `with_groups`. O(rows); allocates only for
  // new ones.
  void Observe(const Observation& o, bool with_groups);
  // Call after Observe: the time that each row has lasted, 0 or NaN if unknown. O(rows).
  void ObserveUnfinished(const Observation& o, std::span<const double> lasted);
  void Add(std::int32_t user, std::int32_t group, double size);
  // Updates the distribution of a class, if it has grown by a sixteenth since the last update.
  void SetClass(std::size_t size_class, const GittinsTable& table);

  // Null if nothing is known of the submitter: use the class. Independent of earlier calls. O(1) on
  // the average; O(bins) after an Add of the same user, when one of that user's jobs has lasted an
  // octave longer, and 16 times per half-life.
  const RankedSizes* Of(std::int32_t user, std::int32_t group, std::size_t size_class) const;
  const SizeBins& bins() const { return bins_; }

  bool knows_anybody() const { return !levels_.empty(); }

 private:
  static constexpr std::size_t kBins = SizeBins::kCount;
  static constexpr std::size_t kMostClasses = 4;
  // Unfinished jobs are counted by octave; the first is that of the first bin.
  static constexpr std::size_t kOctaves = (kBins - 2) / 4 + 2;
  static constexpr std::int32_t kNone = -1;
  struct Level {
    std::int32_t above;  // kNone: the size class
    double pseudo_jobs;  // weight of the level above
    std::int64_t since;  // period in which a present run weighs 1
    std::uint32_t version = 0;
    std::int32_t unfinished = 0;
    double total = 0;
    std::array<float, kBins> counts{};
    std::array<std::int32_t, kOctaves> lasted{};  // jobs that have not ended
    std::array<std::int32_t, kMostClasses> table{kNone, kNone, kNone, kNone};
  };
  struct Class {
    std::uint32_t version = 0;
    double total = 0;
    std::array<double, kBins> shares{};
  };
  struct Table {
    std::int32_t level = kNone;
    std::size_t size_class = 0;
    std::array<std::uint32_t, 4> versions{};  // the level, the level above, the class, the period
    RankedSizes ranked;
  };
  struct Unfinished {  // a job that has not ended
    std::array<std::int32_t, 2> levels{kNone, kNone};
    std::int32_t octave = kNone;
    std::uint32_t round = 0;
  };

  static std::uint64_t Key(std::int32_t user, std::int32_t group) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(user)) << 32 |
           static_cast<std::uint32_t>(group);
  }
  std::int32_t LevelOfUser(std::int32_t user) const;
  std::int32_t LevelOfGroup(std::int32_t user, std::int32_t group) const;
  std::int32_t NewLevel(std::int32_t above, double pseudo_jobs);
  void MeetUser(const Observation& o, std::int32_t user);
  void MeetGroup(const Observation& o, std::int32_t user, std::int32_t group);
  void AddRuns(std::int32_t level, int bin, double runs);
  double Scale(const Level& level) const;  // present weight of its counts
  bool Knows(std::int32_t level) const;
  void Move(const Observation& o, std::size_t row, std::int32_t octave);
  void Count(const Unfinished& job, int jobs);
  void Learn(std::int32_t level, const std::vector<std::pair<int, double>>& runs);
  std::int32_t FreeTable() const;
  void Make(const Level& level, Table* table) const;

  SizeBins bins_;
  SubmitterOptions options_;
  std::int64_t first_period_ = 0;  // the episode's; a half-life has kPeriods
  std::int64_t period_ = 0;
  bool began_ = false;
  std::shared_ptr<const RunsByName> history_;
  std::vector<Class> classes_;
  mutable std::vector<Level> levels_;  // their tables move
  std::vector<std::int32_t> of_user_;  // by user; kUnmet, or kNone if there is no room
  std::unordered_map<std::uint64_t, std::int32_t> of_group_;
  std::vector<Unfinished> unfinished_;  // by job
  std::vector<JobIndex> lasting_;       // those with an octave
  std::uint32_t round_ = 0;
  mutable std::vector<Table> tables_;
  mutable std::size_t next_table_ = 0;  // the next to be reused when all are in use
};

}  // namespace allot
