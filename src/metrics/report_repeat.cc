#include "metrics/report_repeat.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.h"
#include "core/shell_text.h"
#include "metrics/html.h"
#include "metrics/humanise.h"
#include "metrics/json_field.h"

namespace allot {

std::string CommandsHtml(const std::vector<std::string>& commands) {
  std::string html = "<pre>";
  for (const std::string& command : commands) {
    html += "<span class=\"prompt\">$ </span>" + EscapeHtml(command) + "\n";
  }
  return html + "</pre>";
}

// What a command leaves to defaults, of origin.json; "" for results of before.
std::string OriginHtml(const std::string& directory, const Evaluation& evaluation) {
  const std::string path = (std::filesystem::path(directory) / "origin.json").string();
  std::string html;
  if (std::filesystem::exists(path)) {
    const Json origin = ParseJson(ReadTextFile(path), path);
    html += HtmlFact("Made with", "allot " + RequireText(origin, "version", path));
    if (origin.contains("input")) {
      const Json& input = origin["input"];
      html += HtmlFact("Workload's file",
                       fmt::format("{}, {} bytes, FNV-1a {}", RequireText(input, "file", path),
                                   HumanCount(RequireInteger(input, "bytes", path)),
                                   RequireText(input, "fnv1a_64", path)));
    }
    if (origin.contains("world")) {
      for (const auto& [name, value] : origin["world"].items()) {
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (!text.empty()) html += HtmlFact(name, text);
      }
    }
  }
  std::string seeds;
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", workload.seed);
  }
  html += HtmlFact("Seeds of the workloads", seeds);
  return "<dl class=\"facts\">\n" + html + "</dl>\n";
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
