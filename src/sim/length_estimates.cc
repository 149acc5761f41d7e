#include "sim/length_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "core/strings.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

Seconds TimeLimitOf(const Job& job) {
  return job.user_estimate > 0 ? std::min(job.user_estimate, kWithoutLimit) : kWithoutLimit;
}

}  // namespace

LengthEstimates LengthEstimates::Parse(std::string_view text) {
  LengthEstimates estimates;
  if (text == "none") {
    estimates.kind = Kind::kNone;
  } else if (text == "user") {
    estimates.kind = Kind::kUser;
  } else if (text == "true") {
    estimates.kind = Kind::kTrue;
  } else if (text.starts_with("noisy:")) {
    const auto sigma = ParseNumber(text.substr(6));
    if (!sigma || *sigma < 0 || *sigma > 5) {
      throw UsageError("length estimates 'noisy:SIGMA' need SIGMA in [0, 5], got '{}'", text);
    }
    estimates.sigma = *sigma;
    if (*sigma == 0) estimates.kind = Kind::kTrue;  // no error is the truth, and marked so
  } else {
    throw UsageError("length estimates must be none, user, noisy:SIGMA or true, got '{}'", text);
  }
  return estimates;
}

std::string LengthEstimates::ToString() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kUser:
      return "user";
    case Kind::kTrue:
      return "true";
    case Kind::kNoisy:
      break;
  }
  return fmt::format("noisy:{}", sigma);
}

double LengthEstimates::Of(const Job& job, double work, std::uint64_t seed) const {
  switch (kind) {
    case Kind::kNone:
      return kUnknown;
    case Kind::kUser:
      return work * (TimeLimitOf(job) / job.duration);
    case Kind::kTrue:
      return work;
    case Kind::kNoisy:
      break;
  }
  return work * std::exp(sigma * Rng(seed, "length-estimate", StableHash(job.id)).Normal());
}

}  // namespace allot
