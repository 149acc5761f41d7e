#include "agents/learned/job_numbers.h"

#include "core/error.h"

namespace allot {

void NumbersPolicy::Think(const Observation& observation) {
  Look(observation);
  outputs_.resize(observation.job.size() * kIndexOutputs);
  net_.Forward(features_.jobs, features_.context, outputs_, &scratch_);
}

void NumbersPolicy::Margin(const Observation& /*observation*/, std::int32_t /*row*/,
                           std::int32_t /*given*/, MarginStep* /*taken*/,
                           MarginStep* /*untaken*/) const {
  throw UsageError(
      "this network does not learn from logs: what it decides is no order of steps; train it with "
      "'allot train'");
}

std::unique_ptr<NumbersPolicy> MakeNumbersPolicy(const Agent& agent, const Serving& serving) {
  std::unique_ptr<LearnedPolicy> policy = MakeLearnedPolicy(agent, serving);
  auto* const numbers = dynamic_cast<NumbersPolicy*>(policy.get());
  if (numbers == nullptr) {
    throw UsageError("a network '{}' gives jobs no numbers that could be moved",
                     agent.weights.kind);
  }
  static_cast<void>(policy.release());
  return std::unique_ptr<NumbersPolicy>(numbers);
}

}  // namespace allot
