#include "cluster/slurm_nodes.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/strings.h"
#include "workload/row_error.h"
#include "workload/slurm_fields.h"

namespace allot {

std::string AwayBecause(std::string_view state) {
  for (const std::string_view part : Split(state, '+')) {
    const std::string word = ToLower(Trim(part));
    if (word.starts_with("power")) continue;
    for (const char* away : {"down", "drain", "drng", "fail", "futr", "future", "unk", "inval",
                             "no_respond", "not_responding", "err"}) {
      if (word.starts_with(away)) return std::string(Trim(state));
    }
    if (word.ends_with('*')) return std::string(Trim(state)) + " (does not respond)";
  }
  return "";
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
  for (const SlurmGpus::Type& type : gpus->types) node->gpus.push_back({type.name, type.count});
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
