#include "experiment/training/explanation_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/index.h"
#include "metrics/table.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

const char* OutcomeText(ExplainedStep::Outcome outcome) {
  switch (outcome) {
    case ExplainedStep::Outcome::kTaken:
      return "taken";
    case ExplainedStep::Outcome::kDidNotFit:
      return "did not fit";
    case ExplainedStep::Outcome::kNotReached:
      return "not reached";
  }
  return "";
}

Json ScoreJson(const Score& score) {
  return {{"u", score.u}, {"beta", score.beta}, {"kappa", score.kappa}};
}

Score Added(const ExplainedJob& job) {
  return {job.score.u - job.of_index->u, job.score.beta - job.of_index->beta,
          job.score.kappa - job.of_index->kappa};
}

Json JobJson(const Observation& o, std::int32_t row, const ExplainedJob& job,
             const std::string& name, std::span<const std::string_view> feature_names) {
  Json features = Json::object();
  for (std::size_t f = 0; f < job.features.size(); ++f) {
    features[std::string(feature_names[f])] = job.features[f];
  }
  Json steps = Json::array();
  for (const ExplainedStep& step : job.steps) {
    steps.push_back({{"from", ConfigurationText(o, row, step.from)},
                     {"to", ConfigurationText(o, row, step.to)},
                     {"gain", step.gain},
                     {"level", step.level},
                     {"keeps", step.keeps},
                     {"key", step.key},
                     {"outcome", OutcomeText(step.outcome)}});
  }
  Json json = {{"job", name},
               {"has", ConfigurationText(o, row, job.running)},
               {"gets", ConfigurationText(o, row, job.granted)},
               {"u", job.score.u},
               {"beta", job.score.beta},
               {"kappa", job.score.kappa},
               {"why", job.why},
               {"steps", std::move(steps)},
               {"features", std::move(features)}};
  if (job.of_index) {
    json["index"] = ScoreJson(*job.of_index);
    json["added"] = ScoreJson(Added(job));
  }
  return json;
}

std::string Key(float key) { return std::isnan(key) ? "" : fmt::format("{:.3f}", key); }

}  // namespace

nlohmann::ordered_json ExplanationJson(const Observation& o, const Explanation& explanation,
                                       const std::vector<std::string>& names, std::int32_t only) {
  Json jobs = Json::array();
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (only >= 0 && row != only) continue;
    jobs.push_back(
        JobJson(o, row, explanation.jobs[At(row)], names[At(row)], explanation.feature_names));
  }
  return {{"now", o.now},
          {"decision", o.decision},
          {"cluster", o.cluster->ToString()},
          {"last_key", std::isnan(explanation.last_key) ? Json() : Json(explanation.last_key)},
          {"context", explanation.context},
          {"jobs", std::move(jobs)}};
}

std::string ExplanationText(const Observation& o, const Explanation& explanation,
                            const std::vector<std::string>& names) {
  using Align = TextTable::Align;
  // Of networks that add to an index; else keys of steps.
  const bool adds = !explanation.jobs.empty() && explanation.jobs.front().of_index.has_value();
  std::vector<TextTable::Column> columns = {{"job", Align::kLeft},
                                            {"has", Align::kLeft},
                                            {"gets", Align::kLeft},
                                            {"u"},
                                            {"beta"},
                                            {"kappa"}};
  if (adds) {
    columns.insert(columns.end(),
                   {{"added to u"}, {"to beta"}, {"to kappa"}, {"why", Align::kLeft}});
  } else {
    columns.insert(columns.end(), {{"last key"}, {"next key"}, {"why no more", Align::kLeft}});
  }
  TextTable table(std::move(columns));
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const ExplainedJob& job = explanation.jobs[At(row)];
    float last = std::nanf("");
    float next = std::nanf("");
    for (const ExplainedStep& step : job.steps) {
      (step.outcome == ExplainedStep::Outcome::kTaken ? last : next) = step.key;
    }
    std::vector<std::string> cells = {names[At(row)],
                                      ConfigurationText(o, row, job.running),
                                      ConfigurationText(o, row, job.granted),
                                      fmt::format("{:.3f}", job.score.u),
                                      fmt::format("{:.3f}", job.score.beta),
                                      fmt::format("{:.3f}", job.score.kappa)};
    if (adds) {
      const Score added = Added(job);
      for (const float part : {added.u, added.beta, added.kappa}) {
        cells.push_back(fmt::format("{:+.3f}", part));
      }
    } else {
      cells.push_back(Key(last));
      cells.push_back(Key(next));
    }
    cells.push_back(job.why);
    table.AddRow(std::move(cells));
  }
  return table.ToText();
}

std::string ExplanationText(const Observation& o, std::int32_t row, const ExplainedJob& job,
                            const std::string& name,
                            std::span<const std::string_view> feature_names) {
  std::string text =
      fmt::format("job {} has {}, gets {}: {}\n", name, ConfigurationText(o, row, job.running),
                  ConfigurationText(o, row, job.granted), job.why);
  text += fmt::format("u {:.3f}, beta {:.3f}, kappa {:.3f}\n", job.score.u, job.score.beta,
                      job.score.kappa);
  if (job.of_index) {
    const Score added = Added(job);
    text += fmt::format(
        "of the index u {:.3f}, beta {:.3f}, kappa {:.3f}; added {:+.3f}, {:+.3f}, {:+.3f}\n",
        job.of_index->u, job.of_index->beta, job.of_index->kappa, added.u, added.beta, added.kappa);
  }
  text += "\n";
  using Align = TextTable::Align;
  TextTable steps({{"step", Align::kLeft},
                   {"ln gain per cost"},
                   {"ln speed at middle"},
                   {"kappa"},
                   {"key"},
                   {"outcome", Align::kLeft}});
  for (const ExplainedStep& step : job.steps) {
    steps.AddRow({fmt::format("to {}", ConfigurationText(o, row, step.to)),
                  fmt::format("{:.3f}", step.gain), fmt::format("{:.3f}", step.level),
                  step.keeps ? "+" : "-", fmt::format("{:.3f}", step.key),
                  OutcomeText(step.outcome)});
  }
  TextTable features({{"feature", Align::kLeft}, {"value"}});
  for (std::size_t f = 0; f < job.features.size(); ++f) {
    features.AddRow({std::string(feature_names[f]), fmt::format("{:.3f}", job.features[f])});
  }
  if (!job.of_index) text += steps.ToText() + "\n";
  return text + features.ToText();
}

}  // namespace allot
