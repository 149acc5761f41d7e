#include "agents/training/exploration.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "perf/dl2_job_types.h"

namespace allot {
namespace {

constexpr int kWorker = kWorkerKind;
constexpr int kServer = kServerKind;

}  // namespace

void MaskedSoftmax(std::span<const float> logits, std::span<const std::uint8_t> mask,
                   std::vector<double>* chances) {
  double largest = -1e300;
  for (std::size_t a = 0; a < logits.size(); ++a) {
    if (mask[a] != 0) largest = std::max(largest, static_cast<double>(logits[a]));
  }
  double sum = 0;
  chances->assign(logits.size(), 0.0);
  for (std::size_t a = 0; a < logits.size(); ++a) {
    if (mask[a] == 0) continue;
    (*chances)[a] = std::exp(static_cast<double>(logits[a]) - largest);
    sum += (*chances)[a];
  }
  for (double& chance : *chances) chance /= sum;
}

// Adds the chance to an action of the slot; false when it is illegal.
bool Explorer::Give(const SequenceDecision& choice, int slot, int kind, double chance) {
  const int action = slot * SequenceAction::kKinds + kind;
  if (choice.mask()[At(action)] == 0) return false;
  forced_[At(action)] += chance;
  return true;
}

// The rules on one job; `reached`: the chance that none before it fired. True ends the scan.
bool Explorer::ForceInSlot(const SequenceDecision& choice, int slot, double* reached) {
  const std::int32_t row = choice.state().row_of(slot);
  const ConfigurationTable& table = *choice.observation().table[At(row)];
  const std::int32_t granted = choice.state().granted(row);
  if (table.kinds().size() < 2) return false;
  const int workers = granted < 0 ? 0 : WorkersOf(table[granted].units);
  const int servers = granted < 0 ? 0 : ServersOf(table[granted].units);
  if (options_.rules == ExplorationRules::kPaper) {
    constexpr int kUneven = 10;
    if (workers > kUneven * servers) return Give(choice, slot, kServer, *reached);
    if (servers > kUneven * workers) return Give(choice, slot, kWorker, *reached);
    return false;
  }
  constexpr int kManyServers = 5;  // DL2 draws 3 .. 7 a slot
  if (workers == 0 || servers == 0) {
    return Give(choice, slot, servers == 0 ? (workers == 0 ? kBundle : kServer) : kWorker,
                *reached);
  }
  const double half = *reached / 2;
  if (servers > kManyServers * workers) {
    const bool bundle = Give(choice, slot, kBundle, half / 2);
    const bool worker = Give(choice, slot, kWorker, half / 2);
    *reached -= (bundle ? half / 2 : 0) + (worker ? half / 2 : 0);
  } else if (2 * workers >= servers) {
    constexpr double kMostlyServers = 0.99;
    if (Give(choice, slot, kServer, half * kMostlyServers)) *reached -= half * kMostlyServers;
    if (Give(choice, slot, kBundle, half * (1 - kMostlyServers))) {
      *reached -= half * (1 - kMostlyServers);
    }
  }
  return false;
}

void Explorer::Force(const SequenceDecision& choice) {
  forced_.assign(choice.mask().size(), 0.0);
  double reached = options_.share;
  if (reached <= 0) return;
  for (int slot = 0; slot < choice.state().slots(); ++slot) {
    if (ForceInSlot(choice, slot, &reached)) return;
  }
}

DrawnAction Explorer::Draw(const SequenceDecision& choice, Rng* rng) {
  MaskedSoftmax(choice.logits(), choice.mask(), &chances_);
  Force(choice);
  double own = 1;
  for (const double chance : forced_) own -= chance;
  double left = rng->Uniform();
  DrawnAction drawn;
  for (std::size_t a = 0; a < chances_.size(); ++a) {
    const double chance = own * chances_[a] + forced_[a];
    if (chance <= 0) continue;
    drawn = {static_cast<int>(a), std::log(chance)};  // the last one catches what rounding left
    left -= chance;
    if (left < 0) break;
  }
  return drawn;
}

}  // namespace allot
