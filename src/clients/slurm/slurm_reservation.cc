#include "clients/slurm/slurm_reservation.h"

#include <algorithm>
#include <map>

#include "clients/slurm/resources.h"

namespace allot {

int GpusOfTres(std::string_view tres) {
  const auto gpus = ParseTresGpus(tres);
  return gpus ? static_cast<int>(gpus->count + gpus->slices) : 0;
}

void MarkReservations(const std::vector<SlurmReservation>& reservations, std::time_t now,
                      std::vector<SlurmNode>* nodes) {
  std::map<std::string, SlurmNode*> by_name;
  for (SlurmNode& node : *nodes) {
    node.reserved = false;
    node.next_reserved.reset();
    node.cpus_reserved = node.gpus_reserved = 0;
    by_name[node.name] = &node;
  }
  for (const SlurmReservation& one : reservations) {
    if (one.end <= now) continue;
    int all_cpus = 0;
    std::vector<SlurmNode*> of;
    for (const std::string& name : one.nodes) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;
      of.push_back(found->second);
      all_cpus += found->second->cpus;
    }
    // Slurm says how much of all nodes together: taken as equal parts, rounded up.
    const auto part = [&](int all) {
      return (all + static_cast<int>(of.size()) - 1) / static_cast<int>(of.size());
    };
    const bool whole = one.gpus == 0 && (one.cpus == 0 || one.cpus >= all_cpus);
    for (SlurmNode* node : of) {
      if (now < one.begin) {
        const std::pair times{one.begin, one.end};
        if (whole) node->next_reserved = std::min(times, node->next_reserved.value_or(times));
        continue;
      }
      node->reserved = node->reserved || whole;
      if (whole) continue;
      node->cpus_reserved += part(one.cpus);
      node->gpus_reserved += part(one.gpus);
    }
  }
}

}  // namespace allot
