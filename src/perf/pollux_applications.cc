#include "perf/pollux_applications.h"

#include "core/file.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

constexpr const char* kName = "traces/pollux_applications.txt.gz";

}  // namespace

const Catalogue& PolluxCatalogue() {
  static const Catalogue catalogue =
      Catalogue::Named("pollux", DecompressText(EmbeddedPolluxApplications(), kName), kName);
  return catalogue;
}

namespace {

ALLOT_REGISTER(CatalogueInfo, (CatalogueInfo{"pollux",
                                             "Pollux's applications: measured iteration times and "
                                             "training curves",
                                             &PolluxCatalogue}));

}  // namespace
}  // namespace allot
