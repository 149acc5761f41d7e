#include "report/report_repeat.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.h"
#include "core/inputs.h"
#include "core/shell_text.h"
#include "core/strings.h"
#include "metrics/html.h"
#include "metrics/json_field.h"

namespace allot {

std::string CommandsHtml(const std::vector<std::string>& commands) {
  std::string html = "<pre>";
  for (const std::string& command : commands) html += EscapeHtml(command) + "\n";
  return html + "</pre>";
}

std::string OriginHtml(const std::string& directory, bool kept, const Evaluation& evaluation) {
  const std::string path = (std::filesystem::path(directory) / "origin.json").string();
  std::vector<std::string> facts;
  if (std::filesystem::exists(path)) {
    const Json origin = ParseJson(ReadTextFile(path), path);
    facts.push_back("made with allot " + RequireText(origin, "version", path));
    if (origin.contains("inputs")) {
      for (const auto& [file, fingerprint] : origin["inputs"].get<Inputs>()) {
        facts.push_back(fmt::format("from {} (fingerprint {})", file, fingerprint));
      }
    }
  }
  std::vector<std::string> seeds;
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    seeds.push_back(fmt::format("{}", workload.seed));
  }
  facts.push_back(fmt::format("seed{} {}", seeds.size() == 1 ? "" : "s", Join(seeds, ", ")));
  if (kept && std::filesystem::exists(path))
    facts.push_back("all options, defaults included: " + path);
  return fmt::format("<p class=\"note\"><b>{}</b>: {}.</p>\n",
                     EscapeHtml(kept ? directory : evaluation.title),
                     EscapeHtml(Join(facts, "; ")));
}

// That made the page.
std::string ReportCommand(const ReportInput& input) {
  std::string command = "allot report";
  for (const std::string& folder : input.evaluation_dirs) command += " " + ShellWord(folder);
  if (!input.training_dirs.empty()) command += " --training";
  for (const std::string& folder : input.training_dirs) command += " " + ShellWord(folder);
  return command;
}

}  // namespace allot
