#include "agents/training/divergence_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace allot {
namespace {

constexpr const char* kAdvice =
    "a smaller learning-rate of the method, or a start from best/, usually helps";

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

DivergenceGuard::DivergenceGuard(std::unique_ptr<Trainer> trainer)
    : trainer_(std::move(trainer)), good_(trainer_->state()) {}

std::string DivergenceGuard::Diagnose(const IterationReport& report,
                                      const TrainerState& state) const {
  for (const auto& [name, value] : {std::pair{"the ratio to the teacher", report.ratio_to_teacher},
                                    {"the norm of the gradient", report.gradient_norm},
                                    {"the signal", report.signal}}) {
    if (!std::isfinite(value)) return fmt::format("{} must be finite, is {}", name, value);
  }
  constexpr std::size_t kFew = 5;
  if (norms_.size() >= kFew) {
    const double usual = Median(norms_);
    if (usual > 0 && report.gradient_norm > kMostGrowth * usual) {
      return fmt::format("the gradient explodes: its norm is {:.3g}, usual is {:.3g}",
                         report.gradient_norm, usual);
    }
  }
  for (const auto& [name, tensor] : state.weights.tensors) {
    for (const float weight : tensor.data) {
      if (std::abs(weight) <= kMostWeight) continue;
      return fmt::format("weights must stay within +-{}, one of '{}' is {}", kMostWeight, name,
                         weight);
    }
  }
  return "";
}

IterationReport DivergenceGuard::Step() {
  IterationReport report;
  std::string wrong;
  try {
    report = trainer_->Step();
    wrong = Diagnose(report, trainer_->state());
  } catch (const Error& error) {
    if (error.code() != ExitCode::kRunFailed) throw;
    wrong = error.what();
  }
  if (!wrong.empty()) {
    throw RunError("training stopped in iteration {}: {}; {}", good_.iteration + 1, wrong, kAdvice);
  }
  good_ = trainer_->state();
  if (norms_.size() == kRemembered) norms_.erase(norms_.begin());
  norms_.push_back(report.gradient_norm);
  return report;
}

}  // namespace allot
