// Types and pairs of jobs on the same GPUs together (solve/pair_assignment.h), by value: who runs
// and beside whom is what makes the sum of relative speeds largest. Pairs are those that the tables
// have rates for; without any it is exact:enter=value.

#include <algorithm>
#include <utility>

#include "core/index.h"
#include "solve/pair_assignment.h"
#include "stages/fill/pair_rates.h"
#include "stages/fill/type_values.h"

namespace allot {
namespace {

class Paired : public TypeAssignment {
 public:
  explicit Paired(double pays_within) : values_(pays_within) {}

  bool AppliesTo(const ClusterSpec& /*cluster*/) const override { return true; }
  bool pairs() const override { return true; }
  std::span<const std::int32_t> partners() const override { return assigner_.partners(); }

  void Assign(const Observation& o, const TypeQuestion& question,
              std::vector<GpuTypeIndex>* types) override {
    values_.Read(o, question);
    rates_.Read(o, question);
    ReadPresent(o, question);
    PairAssignmentProblem problem;
    problem.alone = {values_.capacity(), values_.gpus(), values_.values(), question.first};
    problem.on = on_;
    problem.partner = partner_;
    problem.stay = values_.stay();
    problem.kind = rates_.kind();
    problem.kinds = rates_.kinds();
    problem.beside = rates_.beside();
    assigner_.Solve(problem);
    types->clear();
    for (const std::int32_t type : assigner_.types()) {
      types->push_back(type == kWaits ? kNoType : static_cast<GpuTypeIndex>(type));
    }
  }

 private:
  // Where and beside whom jobs run now.
  void ReadPresent(const Observation& o, const TypeQuestion& question) {
    on_.assign(question.order.size(), kWaits);
    partner_.assign(question.order.size(), -1);
    place_of_job_.clear();
    if (!o.partner.empty()) {
      for (std::size_t i = 0; i < question.order.size(); ++i) {
        place_of_job_.emplace_back(o.job[At(question.order[i])], static_cast<std::int32_t>(i));
      }
      std::sort(place_of_job_.begin(), place_of_job_.end());
    }
    for (std::size_t i = 0; i < question.order.size(); ++i) {
      const auto row = At(question.order[i]);
      const std::int32_t running = o.running[row];
      if (running < 0) continue;
      const Configuration& now = (*o.table[row])[running];
      on_[i] = std::int32_t{now.gpu_type};
      if (now.partner == kNoPartner) continue;
      // Whose partner has ended runs on as one of a pair: that is not what it would be alone.
      partner_[i] = static_cast<std::int32_t>(i);
      const std::pair<JobIndex, std::int32_t> sought(o.partner_of(question.order[i]), 0);
      const auto other = std::lower_bound(place_of_job_.begin(), place_of_job_.end(), sought);
      if (other != place_of_job_.end() && other->first == sought.first) partner_[i] = other->second;
    }
  }

  TypeValues values_;
  PairRates rates_;
  PairAssigner assigner_;
  std::vector<std::int32_t> on_;
  std::vector<std::int32_t> partner_;
  std::vector<std::pair<JobIndex, std::int32_t>> place_of_job_;
};

ALLOT_REGISTER(TypeAssignmentInfo, ([] {
                 TypeAssignmentInfo info;
                 info.id = "paired";
                 info.summary =
                     "by value, with pairs of jobs on the same GPUs where tables have their rates";
                 info.params = {PaysWithinParam()};
                 info.make = [](const Params& params) {
                   return std::make_unique<Paired>(params.Number("pays-within"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
