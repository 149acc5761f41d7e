#include "perf/transformers.h"

#include <map>
#include <string_view>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace internal {
extern const char kTransformersCsv[];  // generated from traces/transformers.csv by CMake
}

namespace {

constexpr const char* kTransformersFile = "traces/transformers.csv";

}  // namespace

const Catalogue& TransformersCatalogue() {
  static const Catalogue catalogue =
      Catalogue::Named("transformers", internal::kTransformersCsv, kTransformersFile);
  return catalogue;
}

Catalogue CatalogueOfFixedPlans(std::span<const FixedPlan> plans) {
  const auto lines = Split(internal::kTransformersCsv, '\n');
  std::map<std::string_view, std::string_view> rows;  // by profile: what stands behind its name
  for (const std::string_view line : lines) {
    const std::size_t comma = line.find(',');
    if (comma != std::string_view::npos) rows[line.substr(0, comma)] = line.substr(comma);
  }
  std::string text(lines.front());
  text += ",tp,pp,vp,cp,ep,zero,micro_batch,recompute\n";
  for (const FixedPlan& fixed : plans) {
    const auto row = rows.find(fixed.profile);
    if (row == rows.end()) (void)TransformersCatalogue().Get(fixed.profile);  // throws
    const Plan& p = fixed.plan;
    text +=
        fmt::format("{}{},{},{},{},{},{},{},{},{}\n", fixed.name, row->second, p.tensor, p.pipeline,
                    p.interleave, p.context, p.expert, p.zero, p.micro_batch, NameOf(p.recompute));
  }
  return Catalogue::FromCsv(text, kTransformersFile);
}

namespace {

ALLOT_REGISTER(CatalogueInfo, (CatalogueInfo{"transformers",
                                             "language models that are split over their GPUs by "
                                             "the best plan (docs/plans.md)",
                                             &TransformersCatalogue}));

}  // namespace
}  // namespace allot
