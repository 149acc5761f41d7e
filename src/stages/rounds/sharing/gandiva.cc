// Gandiva (Xiao et al., OSDI'18, as Gavel's policy of that name): while jobs ask for more GPUs than
// there are, jobs of equal size are paired at random, and pairs and single jobs divide all types
// evenly. A pair stays together until one ends or both together get too little done on every type.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/index.h"
#include "core/rng.h"
#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class Gandiva : public Sharing {
 public:
  explicit Gandiva(double least) : least_(least) {}

  void OnEpisodeStart(const EpisodeContext& context) override {
    rng_.emplace(context.seed, "gandiva");
    partner_.clear();
  }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const PairRows read = ReadPairRows(o, rows);
    const ShareProblem& alone = read.problem.alone;
    double room = 0;
    for (const double capacity : alone.capacity) room += capacity;
    for (const double gpus : alone.gpus) room -= gpus;
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    if (room >= 0) {
      partner_.clear();
    } else {
      pairs = Pairs(o, read);
    }
    AppendShares(read, EvenPacked(read.problem, pairs), shares);
  }

 private:
  // On the type where a pair gets most done.
  double Together(const PairRows& read, std::int32_t a, std::int32_t b) const {
    const PackedProblem& problem = read.problem;
    double most = 0;
    for (std::size_t g = 0; g < problem.alone.types(); ++g) {
      const double of_a = problem.rate_beside(problem.kind[At(a)], problem.kind[At(b)], g);
      const double of_b = problem.rate_beside(problem.kind[At(b)], problem.kind[At(a)], g);
      if (!(of_a > 0) || !(of_b > 0)) continue;
      most = std::max(most,
                      of_a / problem.alone.rates(At(a))[g] + of_b / problem.alone.rates(At(b))[g]);
    }
    return most;
  }

  bool Worthwhile(const PairRows& read, std::int32_t a, std::int32_t b) const {
    const double together = Together(read, a, b);
    return together > 0 && together >= least_;
  }

  std::vector<std::pair<std::int32_t, std::int32_t>> Pairs(const Observation& o,
                                                           const PairRows& read) {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    std::map<JobIndex, std::int32_t> number;
    const auto job = [&](std::int32_t i) { return o.job[At(read.rows.row[At(i)])]; };
    const auto jobs = static_cast<std::int32_t>(read.rows.jobs());
    for (std::int32_t i = 0; i < jobs; ++i) number[job(i)] = i;
    std::vector<std::int32_t> single;
    for (std::int32_t i = 0; i < jobs; ++i) {
      const auto before = partner_.find(job(i));
      const auto other = before == partner_.end() ? number.end() : number.find(before->second);
      if (other == number.end() || !Worthwhile(read, i, other->second)) {
        single.push_back(i);
      } else if (i < other->second) {
        pairs.emplace_back(i, other->second);
      }
    }
    for (std::size_t draws = single.size(); draws > 0 && single.size() > 1; --draws) {
      const std::size_t a = rng_->Below(single.size());
      std::size_t b = rng_->Below(single.size() - 1);
      if (b >= a) ++b;
      const auto [first, second] = std::minmax(single[a], single[b]);
      if (!Worthwhile(read, first, second)) continue;
      pairs.emplace_back(first, second);
      std::erase_if(single, [f = first, s = second](auto i) { return i == f || i == s; });
    }
    partner_.clear();
    for (const auto& [a, b] : pairs) {
      partner_[job(a)] = job(b);
      partner_[job(b)] = job(a);
    }
    return pairs;
  }

  double least_;
  std::optional<Rng> rng_ = Rng(0, "gandiva");
  std::map<JobIndex, JobIndex> partner_;
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "gandiva";
                 info.summary = "random pairs of jobs and single ones divide every type evenly";
                 info.params = {
                     {"least", "1",
                      "pairs keep together where the sum of both rates, each relative to the job "
                      "alone, is at least this on some type",
                      0, 2}};
                 info.make = [](const Params& params) {
                   return std::make_unique<Gandiva>(params.Number("least"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
