#include "metrics/evaluation_text.h"

#include <fmt/format.h>

#include "metrics/comparison.h"
#include "metrics/service_table.h"
#include "metrics/type_table.h"

namespace allot {

std::string EvaluationText(const Evaluation& evaluation) {
  const std::vector<PolicyRow> rows = CompareToReference(evaluation);
  std::string text;
  if (!evaluation.decide_on_events) {
    text = fmt::format("Decisions {}: jobs wait for the next one.\n", DecisionsInWords(evaluation));
  }
  text += ComparisonTable(evaluation, rows).ToText();
  if (ServedByUser(evaluation)) {
    text += "\n" + ServiceTable(evaluation, rows).ToText();
    if (HasTenants(evaluation)) text += "\n" + TenantTable(evaluation, rows).ToText();
  }
  if (HasTypes(evaluation)) text += "\n" + TypeTable(evaluation, rows).ToText();
  if (evaluation.policies.size() > 1) {
    const Headline headline = MakeHeadline(evaluation, rows);
    text += fmt::format("\n{} {}\n", headline.finding, headline.verdict);
    if (!headline.missing.empty()) text += headline.missing + "\n";
  }
  return text;
}

}  // namespace allot
