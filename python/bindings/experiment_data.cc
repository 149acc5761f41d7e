#include "bindings/experiment_data.h"

#include <filesystem>

namespace allot {

void ExperimentData::Save(const std::string& folder) const {
  RemoveEvaluation(folder);
  // Folders first: whether there is one of a workload's name says where its runs are.
  const bool several = evaluation.workloads.size() > 1;
  for (std::size_t w = 0; w < evaluation.workloads.size(); ++w) {
    std::filesystem::path at(folder);
    if (several) at /= FolderName(evaluation.workloads[w].name);
    for (std::size_t p = 0; p < evaluation.policies.size(); ++p) {
      const EvaluatedPolicy& policy = evaluation.policies[p];
      WriteRunDirectory(at / FolderName(policy.id), policy.runs[w], runs[p][w].records,
                        names[w].jobs, runs[p][w].timeline, runs[p][w].notes);
    }
  }
  WriteEvaluation(folder, evaluation);
}

}  // namespace allot
