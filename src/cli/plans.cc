// allot plans: how a language model is split over GPUs fastest, what that plan needs, and how the
// speed grows with the GPUs. Needs no cluster, workload or GPU (docs/plans.md).

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "core/error.h"
#include "core/json_text.h"
#include "metrics/table.h"
#include "perf/catalogue.h"
#include "perf/transformer_model.h"
#include "plans/plan_search.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct PlansOptions {
  std::string profile;
  std::string catalogue = "transformers";
  std::string gpu_type = "h100";
  int gpus = 0;
  int top = 5;
  bool curve = false;
};

constexpr double kGiga = 1e9;
constexpr GpuCount kMostGpus = 32768;

// A plan with what users ask of it.
struct PlanFigures {
  RatedPlan rated;
  double tokens_per_second = 0;
  double utilization = 0;
};

class PlansReport {
 public:
  PlansReport(const PlansOptions& options, const PlanProblem& problem)
      : options_(options), problem_(problem), mixture_(problem.training.decoder.mixture()) {}

  std::string Text() const {
    return Heading() + (options_.curve ? CurveTable().ToText() : SurveyText()) +
           fmt::format(
               "\nPredicted, not measured: half of the published speeds of {} are within {} % of "
               "the prediction (docs/plans.md).\n",
               mixture_ ? "mixtures of experts" : "dense models", mixture_ ? 13 : 6);
  }

  Json ToJson() const {
    const TrainingSetup& t = problem_.training;
    Json json = {{"profile", options_.profile},   {"parameters", t.decoder.Parameters()},
                 {"sequence", t.sequence},        {"batch", t.batch},
                 {"gpu_type", problem_.gpu.name}, {"node_gpus", problem_.gpu.node_gpus}};
    if (options_.curve) {
      json["curve"] = Json::array();
      for (const PlanFigures& figures : Curve()) json["curve"].push_back(JsonOf(figures));
      return json;
    }
    const PlanSurvey survey = Survey();
    json["gpus"] = options_.gpus;
    json["plans_tried"] = survey.tried;
    json["plans_that_fit"] = survey.fit;
    json["usable_memory_gb"] = survey.usable_memory / kGiga;
    json["plans"] = Json::array();
    for (const RatedPlan& rated : Top(survey.best)) json["plans"].push_back(JsonOf(Of(rated)));
    json["too_large"] = Json::array();
    for (const RatedPlan& rated : Top(survey.too_large)) {
      json["too_large"].push_back(JsonOf(Of(rated)));
    }
    return json;
  }

 private:
  PlanFigures Of(const RatedPlan& rated) const {
    const PlanCost cost(problem_.training, problem_.gpu, problem_.gpu.node_gpus);
    return {rated, problem_.training.TokensPerStep() / rated.step,
            cost.UtilizationOf(rated.plan, rated.step)};
  }

  std::vector<RatedPlan> Top(const std::vector<RatedPlan>& plans) const {
    const auto count = std::min(plans.size(), static_cast<std::size_t>(options_.top));
    return {plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  // The survey of the GPUs; DataError where no plan fits them.
  PlanSurvey Survey() const {
    PlanSurvey survey = SurveyPlans(problem_, FullNodes(problem_.gpu, options_.gpus));
    if (survey.best.empty()) ThrowNoPlan(survey);
    return survey;
  }

  [[noreturn]] void ThrowNoPlan(const PlanSurvey& survey) const {
    const std::optional<GpuCount> least = LeastGpus(problem_, kMostGpus);
    const std::string& type = problem_.gpu.name;
    if (!least) {
      throw DataError("'{}' has no plan on any number of GPUs of type {} up to {}",
                      options_.profile, type, kMostGpus);
    }
    if (survey.tried == 0 && *least < options_.gpus) {
      GpuCount below = options_.gpus - 1;
      while (!BestPlan(problem_, FullNodes(problem_.gpu, below))) --below;
      throw DataError(
          "no plan of '{}' divides evenly over {} GPUs of type {}: its batch of {}, {} heads and "
          "{} layers do over {}",
          options_.profile, options_.gpus, type, problem_.training.batch,
          problem_.training.decoder.heads, problem_.training.decoder.layers, below);
    }
    throw DataError(
        "'{}' needs at least {} GPUs of type {}, got {}{}", options_.profile, *least, type,
        options_.gpus,
        survey.too_large.empty()
            ? ""
            : fmt::format(": the smallest of {} plans needs {:.1f} GB on a GPU, {:.1f} are usable",
                          survey.tried, survey.too_large.front().memory / kGiga,
                          survey.usable_memory / kGiga));
  }

  // The least number that has a plan, then the usual ones and the last.
  std::vector<PlanFigures> Curve() const {
    const std::optional<GpuCount> least = LeastGpus(problem_, options_.gpus);
    if (!least) (void)Survey();  // throws
    std::vector<PlanFigures> curve;
    for (GpuCount gpus = *least; gpus <= options_.gpus; ++gpus) {
      if (gpus != *least && gpus != options_.gpus && !IsPlanCount(gpus)) continue;
      if (const auto best = BestPlan(problem_, FullNodes(problem_.gpu, gpus))) {
        curve.push_back(Of(*best));
      }
    }
    return curve;
  }

  std::string Heading() const {
    const TrainingSetup& t = problem_.training;
    const GpuFacts& gpu = problem_.gpu;
    return fmt::format(
        "{}: {:.3g} billion parameters, {} sequences of {} tokens a step, {}\n"
        "{}: {} GPUs a node with {:.3g} GB each\n\n",
        options_.profile, t.decoder.Parameters() / kGiga, t.batch, t.sequence,
        t.precision == Precision::kFp8 ? "fp8" : "bf16", gpu.name, gpu.node_gpus, gpu.memory_gb);
  }

  std::string SurveyText() const {
    const PlanSurvey survey = Survey();
    TextTable best(PlanColumns({}));
    for (const RatedPlan& rated : Top(survey.best)) best.AddRow(CellsOf(Of(rated), {}));
    std::string text = fmt::format(
        "{} of {} plans of {} GPUs fit into {:.1f} GB. The fastest of each split:\n{}", survey.fit,
        survey.tried, options_.gpus, survey.usable_memory / kGiga, best.ToText());
    if (survey.too_large.empty()) return text;
    TextTable large(PlanColumns({}));
    for (const RatedPlan& rated : Top(survey.too_large)) large.AddRow(CellsOf(Of(rated), {}));
    return text + fmt::format("\n{} splits do not fit. Those that need least memory:\n{}",
                              survey.too_large.size(), large.ToText());
  }

  TextTable CurveTable() const {
    TextTable table(PlanColumns({"GPUs"}));
    for (const PlanFigures& figures : Curve()) {
      table.AddRow(CellsOf(figures, {fmt::format("{}", figures.rated.plan.gpus())}));
    }
    return table;
  }

  std::vector<TextTable::Column> PlanColumns(const std::vector<std::string>& first) const {
    std::vector<TextTable::Column> columns;
    columns.reserve(first.size() + 14);
    for (const std::string& title : first) columns.push_back({title});
    for (const char* title : {"dp", "tp", "pp", "vp", "cp"}) columns.push_back({title});
    if (mixture_) columns.push_back({"ep"});
    columns.push_back({"zero"});
    columns.push_back({"micro batch"});
    columns.push_back({"recompute", TextTable::Align::kLeft});
    for (const char* title : {"step s", "tokens/s", "per GPU", "MFU %", "memory GB"}) {
      columns.push_back({title});
    }
    return columns;
  }

  std::vector<std::string> CellsOf(const PlanFigures& figures,
                                   std::vector<std::string> cells) const {
    const Plan& p = figures.rated.plan;
    for (const int part : {p.data, p.tensor, p.pipeline, p.interleave, p.context}) {
      cells.push_back(fmt::format("{}", part));
    }
    if (mixture_) cells.push_back(fmt::format("{}", p.expert));
    cells.push_back(fmt::format("{}", p.zero));
    cells.push_back(fmt::format("{}", p.micro_batch));
    cells.emplace_back(NameOf(p.recompute));
    cells.push_back(fmt::format("{:.3g}", figures.rated.step));
    cells.push_back(fmt::format("{:.0f}", figures.tokens_per_second));
    cells.push_back(fmt::format("{:.0f}", figures.tokens_per_second / p.gpus()));
    cells.push_back(fmt::format("{:.1f}", 100 * figures.utilization));
    cells.push_back(fmt::format("{:.1f}", figures.rated.memory / kGiga));
    return cells;
  }

  static Json JsonOf(const PlanFigures& figures) {
    const Plan& p = figures.rated.plan;
    return {{"gpus", p.gpus()},
            {"plan", TextOf(p)},
            {"step_s", figures.rated.step},
            {"tokens_per_s", figures.tokens_per_second},
            {"mfu", figures.utilization},
            {"memory_gb", figures.rated.memory / kGiga}};
  }

  const PlansOptions& options_;
  const PlanProblem& problem_;
  bool mixture_;
};

int Plans(const PlansOptions& o, const GlobalOptions& globals) {
  const Catalogue catalogue = Catalogue::FromName(o.catalogue);
  const ModelPtr model = catalogue.Get(o.profile);
  const TransformerModel* transformer = AsTransformer(*model);
  if (transformer == nullptr) {
    throw DataError("plans are of profiles of the kind 'transformer': '{}' of '{}' is not one",
                    o.profile, o.catalogue);
  }
  const PlanProblem* problem = transformer->ProblemOn(o.gpu_type);
  if (problem == nullptr) {
    throw DataError("GPU type '{}' has no known facts{}; docs/plans.md describes how to give them",
                    o.gpu_type, DidYouMean(o.gpu_type, transformer->gpu_types()));
  }
  const PlansReport report(o, *problem);
  std::printf("%s",
              globals.json ? (JsonText(report.ToJson()) + "\n").c_str() : report.Text().c_str());
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "plans", "how a language model is split over GPUs fastest, and what that needs",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<PlansOptions>();
          line.Option("--profile", o->profile, "model of the catalogue: llama-70b, ...").Required();
          line.Option("--catalogue", o->catalogue,
                      "models and GPU types: a CSV file (docs/plans.md), or a name of 'allot list "
                      "catalogues'")
              .ShowDefault();
          line.Option("--gpu-type", o->gpu_type, Join(KnownGpuNames(), ", ") + ", or your own")
              .ShowDefault();
          line.Option("--gpus", o->gpus, "number of GPUs, on full nodes")
              .Required()
              .Range(1, kMostGpus);
          line.Option("--top", o->top, "how many splits are shown").Range(1, 1000).ShowDefault();
          line.Flag("--curve", o->curve,
                    "the best plan of every usual number of GPUs up to --gpus instead");
          return [o, &globals] { return Plans(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
