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

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/observation.h"
#include "forecast/gittins_table.h"
#include "forecast/size_bins.h"

namespace allot {

// Runs by names, as a history tells them: user -> group -> (bin, runs), bins ascending. "" is an
// unknown user, or no group.
using RunsByName =
    std::map<std::string, std::map<std::string, std::vector<std::pair<int, double>>>>;

void AddRun(const std::string& user, const std::string& group, std::size_t bin, RunsByName* runs);

// Leaves at most so many groups their own: those with the fewest runs (then the last by name) join
// their user's runs of no group, and groups of an unknown user go.
void KeepLargestGroups(std::size_t most, RunsByName* runs);

class SubmitterTables {
 public:
  // Users and groups of an episode, and distributions ready for questions. Of those who come when
  // all the room is taken, users are as their size class and groups as their user; distributions
  // are made anew when asked for. 12 and 4 MB.
  static constexpr std::size_t kMostLevels = 16384;
  static constexpr std::size_t kMostTables = 1024;

  SubmitterTables(double unit, std::size_t classes);

  // What runs of names are known before an episode.
  void SetHistory(RunsByName history);
  const RunsByName& history() const { return *history_; }

  void OnEpisodeStart();  // forgets all numbers and what was added
  // Takes notice of who is there; those who never were there have no level yet. Groups are left out
  // where `with_groups` is false. O(rows), no memory from the heap where all are known.
  void Observe(const Observation& o, bool with_groups);
  void Add(std::int32_t user, std::int32_t group, double size);
  // The distribution of a class, taken over once it has grown by a sixteenth since the last time.
  void SetClass(std::size_t size_class, const GittinsTable& table);

  // Null where nothing is known of the submitter: use the class. Depends on what was added,
  // not on what was asked before. O(1) on the average, O(bins) after an Add of the same user.
  const RankedSizes* Of(std::int32_t user, std::int32_t group, std::size_t size_class) const;
  const SizeBins& bins() const { return bins_; }

  bool knows_anybody() const { return !levels_.empty(); }

 private:
  static constexpr std::size_t kBins = SizeBins::kCount;
  static constexpr std::size_t kMostClasses = 4;
  static constexpr std::int32_t kNone = -1;
  struct Level {
    std::int32_t above;  // kNone: the size class
    double pseudo_jobs;  // that the level above is worth
    std::uint32_t version = 0;
    double total = 0;
    std::array<float, kBins> counts{};
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
    std::array<std::uint32_t, 3> versions{};  // of the level, the one above and the class
    RankedSizes ranked;
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
  void Learn(std::int32_t level, const std::vector<std::pair<int, double>>& runs);
  std::int32_t FreeTable() const;
  void Make(const Level& level, Table* table) const;

  SizeBins bins_;
  std::shared_ptr<const RunsByName> history_;
  std::vector<Class> classes_;
  mutable std::vector<Level> levels_;  // their tables move
  std::vector<std::int32_t> of_user_;  // by user; kUnmet, or kNone: there is no room
  std::unordered_map<std::uint64_t, std::int32_t> of_group_;
  mutable std::vector<Table> tables_;
  mutable std::size_t next_table_ = 0;  // to be given away, when all are in use
};

}  // namespace allot
