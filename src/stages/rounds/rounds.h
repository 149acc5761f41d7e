#pragma once
// From fractions of time to allocations, round by round (Narayanan et al., Gavel, OSDI'20, section
// 5): whoever has received least of its share on a GPU type runs there next.
//
// An entry is a job at one size, or a pair of jobs on the same GPUs. For each GPU type it has a
// share x, the time t received since the last targets, and the deficit d that earlier targets left.
// With W, the time that all entries received on the type,
//
//   priority = x / (t / W), or x * 1e9 where t or W is 0
//
// Of equal priorities the larger deficit comes first, then the larger share, then the earlier
// entry. At new targets d += x * (time since the last) - (t - R/2), with intervals of R seconds,
// and t begins at R/2, so that nobody's first share counts as infinitely far behind.
// What of this is Gavel's own way, and what allot does in its place, are the options.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/observation.h"
#include "core/python_random.h"
#include "sched/policy.h"
#include "stages/fill/paired_placement.h"
#include "stages/rounds/sharing.h"

namespace allot {

struct RoundsOptions {
  // Who gets what the shares leave free: `kBest` jobs without a place, at the size they asked for,
  // where their rate is largest relative to their own best, after all types; `kInTurn` on each type
  // whoever comes next there, shares or none, before the next type is filled; `kNone` nobody.
  enum class Leftovers { kBest, kInTurn, kNone };

  Seconds reset = 0;       // between targets, at least
  bool residues = false;   // shares below Rounds::kLeast count as well
  bool hold = false;       // jobs that came since the targets take GPUs in their turn, idle ones
  bool all_pairs = false;  // every pair of jobs of equal size is an entry, with a share or without
  bool global = true;      // one queue over all types; else one after the other is filled
  bool shuffle = false;    // types in a new order each round: Python's Random(seed + 5).shuffle
  // Received is the time that the work done took at the table's rate; the first round after nothing
  // ran counts from the end of the round before. Else it is the time that the GPUs were held.
  bool by_work = false;
  // Received counts since the entry came, not since the last targets; there are no deficits.
  bool remember = false;
  // Who runs on a type, and has a share of it, comes first for so many times its restart cost.
  double lease = 0;
  Leftovers leftovers = Leftovers::kBest;
  // GPU types to fill first, by name; the others follow in the cluster's order.
  std::vector<std::string> order{};
};

class Rounds {
 public:
  // Shares below are residues of solvers: none, else jobs take turns on types not meant for them.
  static constexpr double kLeast = 1e-3;

  // Of one round; of a pair the first is the earlier job. Without a share it fills what is left.
  using Given = PairedGrant;
  explicit Rounds(RoundsOptions options = {}) : options_(std::move(options)) {}
  const RoundsOptions& options() const { return options_; }
  void OnEpisodeStart(const EpisodeContext& context);

  // To be called once a round, first: books what the round before gave. `rows`: those that may get
  // something. `changed`: these are other jobs than in the round before, or a table was renewed.
  // O(rows), with changes O(entries), and where a table was renewed, their configurations.
  void Begin(const Observation& observation, std::span<const std::int32_t> rows, bool changed);
  // Whether something ran in the round before and did no work at all.
  bool failed() const { return failed_; }
  // Whether the last targets are old enough for new ones.
  bool MayAim(Seconds now) const {
    return options_.reset <= 0 || aimed_ == 0 || now - aimed_ >= options_.reset;
  }
  // From now on these are the targets. O((entries + targets) types).
  void Aim(const Observation& observation, std::span<const TimeShare> targets);
  // The round that begins now: type by type as they were filled, large ones first. O(entries log
  // entries) a type; with Leftovers::kBest O(given x types) more for each job without a place.
  void Fill(const Observation& observation, std::vector<Given>* given);

 private:
  struct Entry {
    JobIndex job = 0;
    JobIndex partner = kAlone;
    UnitCounts units{};
    UnitCounts partner_units{};
    bool standing = false;  // stays without a share too: a job at the size it asked for; all pairs
    bool known = false;     // the targets are of it
    GpuTypeIndex on = -1;   // where it was given something, in `round`
    std::int64_t round = -1;
    Seconds since = 0;  // there without a break
  };
  // Of an entry and a GPU type.
  struct Cell {
    Seconds received = 0;
    Seconds deficit = 0;
    double share = 0;
    std::int32_t configuration = -1;  // -1: it cannot run there
    std::int32_t partner_configuration = -1;
  };
  // What the round before gave.
  struct Ran {
    std::int32_t entry = 0;
    GpuTypeIndex type = 0;
    JobIndex job = 0;
    JobIndex partner = kAlone;
    double done = 0;  // work, before
    double rate = 0;
    double partner_done = 0;
    double partner_rate = 0;
    Seconds end = 0;
  };
  struct Candidate {
    bool leased = false;
    double priority = 0;
    double deficit = 0;
    double share = 0;
    std::int32_t entry = 0;
    GpuTypeIndex type = 0;
  };
  // An entry in the queue: at the first of its candidates that nobody has tried yet.
  struct Turn {
    std::uint64_t key = 0;  // larger comes first; then the larger deficit, then the other rules
    double deficit = 0;
    std::int32_t candidate = 0;
    std::int32_t end = 0;  // of its candidates, which are in their order
  };
  struct OfJob {
    std::int32_t row = -1;
    std::int32_t entry = -1;  // at the size it asked for
    std::uint64_t seen = 0;   // stamp: it is a row
    std::uint64_t taken = 0;  // stamp: it has a place
    std::uint64_t table = 0;  // its fingerprint when its entries' configurations were looked up
    bool renewed = false;     // it is another since
  };

  Cell& CellOf(std::size_t entry, std::size_t type) { return cells_[entry * types_ + type]; }
  OfJob& Of(JobIndex job);
  // Bookkeeping (rounds.cc).
  void FindRows(const Observation& o, std::span<const std::int32_t> rows);
  void Book(const Observation& o);
  bool WorkOf(const Observation& o, JobIndex job, double* done) const;
  Seconds HeldUntil(const Observation& o, JobIndex job, Seconds otherwise) const;
  void BookWork(const Observation& o, Ran* ran);
  void BookTime(const Observation& o, Ran* ran);
  template <typename Gone>
  void DropEntries(const Gone& gone);
  void DropEnded();
  void DropUnused();
  void Enter(const Observation& o);
  std::size_t Append(Entry entry);
  void FindConfigurations(const Observation& o, std::size_t entry);
  std::size_t EntryOf(const Observation& o, const TimeShare& target);
  void IndexEntry(std::size_t entry);
  // Who gets what in the round that begins.
  void OrderTypes(const Observation& o);
  double Priority(const Cell& cell, const Entry& entry, GpuTypeIndex type) const;
  bool Served(const Entry& entry) const;
  bool Leased(const Observation& o, const Entry& entry, GpuTypeIndex type) const;
  void AddCandidates(const Observation& o, std::span<const GpuTypeIndex> types);
  void TakeCandidates(const Observation& o, std::span<const GpuTypeIndex> types,
                      std::vector<Given>* given);
  void AddTurn(std::size_t first);
  Turn TurnOf(std::int32_t candidate, std::int32_t end) const;
  bool Before(const Turn& a, const Turn& b) const;
  void MakeRoom(const Observation& o, std::vector<Given>* given);
  void FillWhatIsLeft(const Observation& o, std::vector<Given>* given);
  bool Take(const Observation& o, std::int32_t entry, GpuTypeIndex type, std::vector<Given>* given);

  RoundsOptions options_;
  std::optional<PythonRandom> random_;
  std::size_t types_ = 0;
  std::vector<Entry> entries_;     // in the order in which jobs came
  std::vector<Cell> cells_;        // by entry and type
  std::vector<OfJob> jobs_;        // by JobIndex
  std::vector<JobIndex> present_;  // jobs that are rows, in the order in which they came
  std::vector<Seconds> received_;  // by type, of all entries
  std::vector<Ran> ran_;
  Seconds aimed_ = 0;
  Seconds now_ = 0;          // of the last round
  Seconds round_end_ = 0;    // of the last round in which something ran
  std::int64_t round_ = -1;  // rounds so far, from 0
  std::int64_t decision_ = -1;
  std::uint64_t stamp_ = 0;
  bool failed_ = false;
  std::vector<GpuTypeIndex> order_;  // of types, in this round
  std::vector<std::int32_t> rank_;   // by type: its place in it
  std::vector<Resources> left_;      // by type
  std::vector<Candidate> candidates_;
  std::vector<Turn> turns_;  // one an entry
  std::vector<Turn> later_;  // a heap: of those whose first candidates found no room
  std::vector<std::int32_t> new_rows_;
  // While targets are read: by jobs their last entry, by entry the one before it, -1: none.
  std::unordered_map<std::uint64_t, std::int32_t> last_of_jobs_;
  std::vector<std::int32_t> before_;
};

}  // namespace allot
