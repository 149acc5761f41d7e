#include "experiment/model_card.h"

#include <fmt/format.h>

#include "core/version.h"

namespace allot {

std::string ModelCard(const std::string& title, const std::string& command,
                      const std::string& measured) {
  return fmt::format(
      "# {}\n\n"
      "- made by: `{}`\n"
      "- allot: {}\n"
      "- measured: {}\n\n"
      "Serve it with `allot evaluate --checkpoint DIR` or as policy `learned:checkpoint=DIR`. It "
      "decides from job\n"
      "features, throughput of models and length estimates (src/features); on workloads unlike "
      "those it was\n"
      "trained on, compare it with the heuristics first.\n",
      title, command, Version(), measured);
}

}  // namespace allot
