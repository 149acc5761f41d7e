#include "rules/operator_rules.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

bool Matches(const std::string& pattern, std::string_view text) {
  return ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

}  // namespace

bool Maintenance::AppliesTo(const std::string& node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const std::string& pattern) { return Matches(pattern, node); });
}

JobRules OperatorRules::RulesFor(std::string_view account, std::string_view user) const {
  JobRules rules;
  for (const Part& part : parts_) {
    if (!Matches(part.account, account) || !Matches(part.user, user)) continue;
    if (part.sizes) rules.sizes = *part.sizes;
    if (part.cooldown) rules.cooldown = *part.cooldown;
    if (part.own_cooldown) rules.own_cooldown = *part.own_cooldown;
    if (part.restarts_per_hour) rules.restarts_per_hour = *part.restarts_per_hour;
    if (part.moves) rules.moves = *part.moves;
    if (part.grace) rules.grace = part.grace;
  }
  for (std::size_t g = 0; g < guarantees_.size(); ++g) {
    if (guarantees_[g].account == account) rules.guarantee = static_cast<std::int32_t>(g);
  }
  return rules;
}

OperatorRules OperatorRules::WithoutMaintenance() const {
  OperatorRules rules = *this;
  rules.maintenance_.clear();
  return rules;
}

void OperatorRules::CheckGuarantees(const ClusterSpec& cluster) const {
  GpuCount all = 0;
  std::map<std::string, GpuCount> of_types;
  for (const Guarantee& guarantee : guarantees_) {
    all += guarantee.gpus;
    // The guarantee with which the sum exceeds the cluster is the one to name.
    const auto refuse = [&](const std::string& values) {
      throw UsageError(
          "guarantees must not be more than the cluster has, got {} with that of account '{}'",
          values, guarantee.account);
    };
    if (all > cluster.total().gpus) refuse(fmt::format("{} GPUs of {}", all, cluster.total().gpus));
    const std::string& type = guarantee.gpu_type;
    if (type.empty()) continue;
    const GpuCount gpus = of_types[type] += guarantee.gpus;
    const auto& types = cluster.types();
    const auto known = std::find(types.begin(), types.end(), type);
    const bool lacks = known == types.end();
    const GpuCount has =
        lacks ? 0 : cluster.total_of(static_cast<GpuTypeIndex>(known - types.begin())).gpus;
    if (gpus > has) {
      refuse(fmt::format("{} GPUs '{}' of {}{}", gpus, type, has,
                         lacks ? DidYouMean(type, types) : ""));
    }
  }
}

std::vector<std::string> OperatorRules::FindMismatches(const ClusterSpec& cluster,
                                                       std::span<const std::string> nodes) const {
  std::vector<std::string> mismatches;
  try {
    CheckGuarantees(cluster);
  } catch (const Error& error) {
    mismatches.emplace_back(error.what());
  }
  for (const Maintenance& window : maintenance_) {
    const auto applies = [&](const std::string& node) { return window.AppliesTo(node); };
    if (std::any_of(nodes.begin(), nodes.end(), applies)) continue;
    mismatches.push_back(fmt::format("{}: the window must be of nodes of the cluster, got '{}'",
                                     window.place, fmt::join(window.nodes, "', '")));
  }
  return mismatches;
}

}  // namespace allot
