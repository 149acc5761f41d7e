#include "cluster/slurm_nodes.h"

#include <fmt/format.h>

#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/error.h"
#include "core/strings.h"
#include "table/row_error.h"

namespace allot {

std::string AwayBecause(std::string_view text) {
  SlurmNodeState state;
  state.AddText(text);
  return AwayBecause(state, text);
}

std::string AwayBecause(const SlurmNodeState& state, std::string_view text) {
  const SlurmNodeState::Absence why = state.WhyNotOfCluster();
  if (why == SlurmNodeState::Absence::kNone) return "";
  const bool sign = why == SlurmNodeState::Absence::kNotResponding && text.ends_with('*');
  return std::string(Trim(text)) + (sign ? " (does not respond)" : "");
}

void SetGres(std::string_view gres, GresFrom from, const std::string& place, ListedNode* node) {
  const auto gpus = ParseGresGpus(gres);
  if (from == GresFrom::kTable && (gpus ? gpus->cut : gres.ends_with(':'))) {
    throw DataError(
        "GRES must tell the number of GPUs, as gpu:TYPE:8, got {} ({}): the column is cut, or it "
        "is one GPU (write gpu:TYPE:1); {}",
        Quoted(gres), place, kSinfoAdvice);
  }
  if (!gpus) {
    throw RowError("GRES must be generic resources, like gpu:a100:4(S:0-1)", Quoted(gres), place);
  }
  node->gpus.clear();
  for (const SlurmGpuType& type : gpus->types) {
    if (!type.part) node->gpus.push_back({type.name, type.count});
  }
  node->parts = gpus->slices > 0;
}

std::int64_t NodeCount(std::string_view what, std::string_view text, const std::string& place) {
  if (text.ends_with('+')) text.remove_suffix(1);
  if (IsSlurmUnset(text)) return 0;
  const auto count = ParseInteger(text);
  if (!count || *count < 0 || *count > 1'000'000'000'000) {
    throw RowError(fmt::format("{} must be a whole number", what), Quoted(text), place);
  }
  return *count;
}

}  // namespace allot
