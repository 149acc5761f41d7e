#include "perf/size_rule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "perf/units.h"

namespace allot {
namespace {

constexpr const char* kPowersOfTwo = "powers-of-two";
constexpr const char* kNodeMultiples = "node-multiples";

bool Includes(const std::vector<GpuCount>& list, GpuCount gpus) {
  return std::find(list.begin(), list.end(), gpus) != list.end();
}

}  // namespace

SizeRule SizeRule::OneOf(std::vector<GpuCount> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  SizeRule rule;
  rule.listed_ = true;
  rule.sizes_ = std::move(sizes);
  return rule;
}

SizeRule SizeRule::Parse(std::string_view text, std::string_view where) {
  SizeRule rule;
  for (const std::string_view part : Split(text, '+')) {
    SizeRule one;
    if (part == kPowersOfTwo) {
      one.powers_of_two_ = true;
    } else if (part == kNodeMultiples) {
      one.node_multiples_ = true;
    } else if (part != "any") {
      std::vector<GpuCount> sizes;
      for (const std::string_view number : Split(part, '|')) {
        const auto gpus = ParseInteger(number);
        if (!gpus || *gpus < 1 || *gpus > kMaxGpusPerJob) {
          throw DataError(
              "{}: sizes must be any, {}, {} or numbers of GPUs from 1 to {} joined by '|', got "
              "'{}'",
              where, kPowersOfTwo, kNodeMultiples, kMaxGpusPerJob, part);
        }
        sizes.push_back(static_cast<GpuCount>(*gpus));
      }
      one = OneOf(std::move(sizes));
    }
    rule = rule.And(one);
  }
  return rule;
}

bool SizeRule::Allows(GpuCount gpus, GpuCount node_gpus) const {
  if (Includes(also_, gpus)) return true;
  if (powers_of_two_ && !std::has_single_bit(static_cast<unsigned>(gpus))) return false;
  if (node_multiples_ && gpus > node_gpus && gpus % node_gpus != 0) return false;
  return !listed_ || std::binary_search(sizes_.begin(), sizes_.end(), gpus);
}

bool SizeRule::Names(GpuCount gpus, GpuCount node_gpus) const {
  constexpr GpuCount kLargeNode = 4;  // whole smaller nodes are too many numbers
  if (!Allows(gpus, node_gpus)) return false;
  return listed_ || Includes(also_, gpus) ||
         (node_multiples_ && node_gpus >= kLargeNode && gpus % node_gpus == 0);
}

SizeRule SizeRule::And(const SizeRule& other) const {
  SizeRule both = *this;
  both.powers_of_two_ = powers_of_two_ || other.powers_of_two_;
  both.node_multiples_ = node_multiples_ || other.node_multiples_;
  if (!other.listed_) return both;
  if (!listed_) {
    both.sizes_ = other.sizes_;
  } else {
    both.sizes_.clear();
    std::set_intersection(sizes_.begin(), sizes_.end(), other.sizes_.begin(), other.sizes_.end(),
                          std::back_inserter(both.sizes_));
  }
  both.listed_ = true;
  return both;
}

SizeRule SizeRule::Also(const std::vector<GpuCount>& gpus) const {
  SizeRule rule = *this;
  rule.also_ = gpus;
  return rule;
}

std::string SizeRule::ToString() const {
  std::vector<std::string> parts;
  if (powers_of_two_) parts.emplace_back(kPowersOfTwo);
  if (node_multiples_) parts.emplace_back(kNodeMultiples);
  if (listed_) {
    parts.push_back(sizes_.empty() ? "none" : fmt::format("{}", fmt::join(sizes_, "|")));
  }
  return parts.empty() ? "any" : Join(parts, "+");
}

}  // namespace allot
