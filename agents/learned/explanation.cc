#include "agents/learned/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/counted.h"
#include "core/error.h"
#include "core/index.h"
#include "features/feature_table.h"

namespace allot {
namespace {

ExplainedStep StepAt(const HullCursor& cursor, const Score& score) {
  const HullStep& step = cursor.step();
  return {.from = cursor.configuration(),
          .to = step.to,
          .gain = step.log_gain,
          .level = step.log_mid,
          .keeps = cursor.kappa_sign() > 0,
          .key = cursor.Key(score, {})};
}

// The cursor of the hull on which `from` -> `to` is the next step.
HullCursor CursorAt(const Observation& o, std::int32_t row, std::int32_t from, std::int32_t to) {
  HullCursor cursor(o, row, (*o.table[At(row)])[to].gpu_type);
  while (cursor.configuration() != from) cursor.Advance();
  return cursor;
}

void AddConsidered(const Observation& o, const std::vector<FillStep>& trace, Explanation* result) {
  for (const FillStep& considered : trace) {
    ExplainedJob& job = result->jobs[At(considered.index)];
    ExplainedStep step =
        StepAt(CursorAt(o, considered.index, considered.from, considered.to), job.score);
    step.outcome =
        considered.fits ? ExplainedStep::Outcome::kTaken : ExplainedStep::Outcome::kDidNotFit;
    step.free = considered.free;
    if (considered.fits) result->last_key = std::fmin(result->last_key, step.key);
    job.steps.push_back(step);
  }
}

// The best step that was open when the fill ended, if the job's climb was not over.
void AddNext(const Observation& o, std::int32_t row, ExplainedJob* job) {
  if (!job->steps.empty()) {
    const ExplainedStep last = job->steps.back();
    if (last.outcome == ExplainedStep::Outcome::kDidNotFit) return;
    HullCursor cursor = CursorAt(o, row, last.from, last.to);
    cursor.Advance();
    if (!cursor.done()) job->steps.push_back(StepAt(cursor, job->score));
    return;
  }
  for (const GpuTypeIndex type : o.table[At(row)]->types()) {
    const HullCursor cursor(o, row, type);
    if (cursor.done()) continue;
    const ExplainedStep step = StepAt(cursor, job->score);
    if (job->steps.empty()) {
      job->steps.push_back(step);
    } else if (step.key > job->steps.front().key) {
      job->steps.front() = step;
    }
  }
}

std::string Amount(const Resources& resources) {
  return resources.cpus > 0
             ? Counted(resources.gpus, "GPU") + " and " + Counted(resources.cpus, "CPU")
             : Counted(resources.gpus, "GPU");
}

std::string Why(const Observation& o, std::int32_t row, const ExplainedJob& job, float last_key) {
  if (job.granted != job.filled) return "no nodes had room for it in one piece";
  if (job.steps.empty()) return "no configuration of it makes progress here";
  const ExplainedStep& last = job.steps.back();
  const auto to = ConfigurationText(o, row, last.to);
  if (last.outcome == ExplainedStep::Outcome::kTaken) return "more would not speed it up";
  if (last.outcome == ExplainedStep::Outcome::kNotReached) {
    return fmt::format(
        "others ranked higher: all was handed out by key {:.3f}, its step to {} has {:.3f}",
        last_key, to, last.key);
  }
  const std::string refused =
      fmt::format("{} did not fit: it takes {}, {} were free", to,
                  Amount((*o.table[At(row)])[last.to].demand), Amount(last.free));
  return job.filled == last.from ? refused
                                 : fmt::format("{}; {} of what was left over", refused,
                                               ConfigurationText(o, row, job.filled));
}

IndexNetWeights IndexOf(const Agent& agent) {
  if (agent.weights.kind != kIndexKind) {
    throw UsageError("networks of kind '{}' can be explained, this one is '{}'", kIndexKind,
                     agent.weights.kind);
  }
  return IndexNetWeights(agent.weights);
}

class IndexExplainer : public Explainer {
 public:
  IndexExplainer(const Agent& agent, std::string_view placement)
      : net_(IndexOf(agent)),
        encoder_(agent.lengths),
        placement_(MakeStage<Placement>("placement", placement)) {}

  void OnEpisodeStart() override { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& observation) override { encoder_.Observe(observation); }
  Explanation Explain(const Observation& observation) override;

 private:
  IndexNet net_;
  FeatureEncoder encoder_;
  std::unique_ptr<Placement> placement_;
};

Explanation IndexExplainer::Explain(const Observation& o) {
  Explanation result;
  for (const FeatureInfo& f : JobFeatureTable()) result.feature_names.emplace_back(f.meaning);
  FeatureBatch features;
  encoder_.Encode(o, &features);
  result.context = features.context;
  std::vector<float> outputs(o.job.size() * kIndexOutputs);
  IndexNet::Scratch scratch;
  net_.Forward(features.jobs, features.context, outputs, &scratch);
  std::vector<Score> scores;
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    const float* out = &outputs[r * kIndexOutputs];
    scores.push_back(BoundedScore({out[0], out[1], out[2]}));
    ExplainedJob job;
    job.job = o.job[r];
    const float* const x = &features.jobs[r * kJobFeatures];
    job.features.assign(x, x + kJobFeatures);
    job.score = scores.back();
    job.running = o.running[r];
    result.jobs.push_back(std::move(job));
  }

  std::vector<std::int32_t> rows(o.job.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Grant> grants;
  std::vector<FillStep> trace;
  TypedFill().Fill(o, rows, scores, &grants, &trace);
  placement_->Place(o, grants, &result.allocation);
  result.last_key = std::numeric_limits<float>::quiet_NaN();
  AddConsidered(o, trace, &result);
  for (const Grant& grant : grants) result.jobs[At(grant.row)].filled = grant.configuration;
  for (const Allocation::Entry& entry : result.allocation.entries()) {
    const auto job = std::find_if(result.jobs.begin(), result.jobs.end(),
                                  [&](const ExplainedJob& j) { return j.job == entry.job; });
    job->granted = entry.configuration;
  }
  for (const std::int32_t row : rows) {
    ExplainedJob& job = result.jobs[At(row)];
    AddNext(o, row, &job);
    job.why = Why(o, row, job, result.last_key);
  }
  return result;
}

}  // namespace

std::unique_ptr<Explainer> MakeIndexExplainer(const Agent& agent, std::string_view placement) {
  return std::make_unique<IndexExplainer>(agent, placement);
}

std::string ConfigurationText(const Observation& o, std::int32_t row, std::int32_t configuration) {
  if (configuration < 0) return "nothing";
  const ConfigurationTable& table = *o.table[At(row)];
  std::string text;
  for (std::size_t kind = 0; kind < table.kinds().size(); ++kind) {
    const int units = table[configuration].units.of(kind);
    const std::string& name = table.kinds()[kind].name;
    text += text.empty() ? "" : " + ";
    text += name == "gpu" ? Counted(units, "GPU") : fmt::format("{} {}", units, name);
  }
  if (o.cluster->types().size() > 1) {
    text += " of " + o.cluster->types()[At(table[configuration].gpu_type)];
  }
  if (const Span& span = table[configuration].span; !span.any()) {
    text += fmt::format(" on {} node{}", TextOf(span), span == Span{1, 1} ? "" : "s");
  }
  return text;
}

}  // namespace allot
