#include "experiment/explanation_text.h"

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

Json JobJson(const Observation& o, std::int32_t row, const ExplainedJob& job,
             const std::string& name) {
  Json features = Json::object();
  for (std::size_t f = 0; f < job.features.size(); ++f) {
    features[std::string(FeatureEncoder::JobFeatureNames()[f])] = job.features[f];
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
  return {{"job", name},
          {"has", ConfigurationText(o, row, job.running)},
          {"gets", ConfigurationText(o, row, job.granted)},
          {"u", job.score.u},
          {"beta", job.score.beta},
          {"kappa", job.score.kappa},
          {"why", job.why},
          {"steps", std::move(steps)},
          {"features", std::move(features)}};
}

std::string Key(float key) { return std::isnan(key) ? "" : fmt::format("{:.3f}", key); }

}  // namespace

nlohmann::ordered_json ExplanationJson(const Observation& o, const Explanation& explanation,
                                       const std::vector<std::string>& names, std::int32_t only) {
  Json jobs = Json::array();
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (only >= 0 && row != only) continue;
    jobs.push_back(JobJson(o, row, explanation.jobs[At(row)], names[At(row)]));
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
  TextTable table({{"job", Align::kLeft},
                   {"has", Align::kLeft},
                   {"gets", Align::kLeft},
                   {"u"},
                   {"beta"},
                   {"kappa"},
                   {"last key"},
                   {"next key"},
                   {"why no more", Align::kLeft}});
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const ExplainedJob& job = explanation.jobs[At(row)];
    float last = std::nanf("");
    float next = std::nanf("");
    for (const ExplainedStep& step : job.steps) {
      (step.outcome == ExplainedStep::Outcome::kTaken ? last : next) = step.key;
    }
    table.AddRow({names[At(row)], ConfigurationText(o, row, job.running),
                  ConfigurationText(o, row, job.granted), fmt::format("{:.3f}", job.score.u),
                  fmt::format("{:.3f}", job.score.beta), fmt::format("{:.3f}", job.score.kappa),
                  Key(last), Key(next), job.why});
  }
  return table.ToText();
}

std::string ExplanationText(const Observation& o, std::int32_t row, const ExplainedJob& job,
                            const std::string& name) {
  std::string text =
      fmt::format("job {} has {}, gets {}: {}\n", name, ConfigurationText(o, row, job.running),
                  ConfigurationText(o, row, job.granted), job.why);
  text += fmt::format("u {:.3f}, beta {:.3f}, kappa {:.3f}\n\n", job.score.u, job.score.beta,
                      job.score.kappa);
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
    features.AddRow({std::string(FeatureEncoder::JobFeatureNames()[f]),
                     fmt::format("{:.3f}", job.features[f])});
  }
  return text + steps.ToText() + "\n" + features.ToText();
}

}  // namespace allot
