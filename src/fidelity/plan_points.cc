#include "fidelity/plan_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "metrics/quantile.h"
#include "perf/transformer_model.h"
#include "perf/transformers.h"
#include "table/csv.h"
#include "table/row_error.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, 25> kFittedPoints = {
    "megatron21-003",     "megatron21-006",     "megatron22-011",     "megatron22-012",
    "mosaic-ampbf16-041", "mosaic-ampbf16-055", "mosaic-ampbf16-057", "mosaic-ampbf16-087",
    "mosaic-bf16-114",    "mosaic-bf16-165",    "nemo24-167",         "nemo24-172",
    "nemo24-197",         "nemo24-221",         "nemo24-226",         "nemo24-231",
    "nemo25-237",         "bridge25-254",       "bridge25-257",       "bridge25-270",
    "automodel-275",      "torchtitan-276",     "oneflow-292",        "oneflow-295",
    "oneflow-297"};

// Time factors of software, of dense models or of mixtures of experts, on a generation of GPUs;
// others have 1.
const std::map<std::string, double, std::less<>>& TimeFactors() {
  static const std::map<std::string, double, std::less<>> factors = {
      {"automodel moe hopper", 0.872573},
      {"bridge25 moe hopper", 1.17133},
      {"bridge25 moe blackwell", 1.00862},
      {"bridge25 dense blackwell", 0.979941},
      {"megatron21 dense ampere", 0.961061},
      {"megatron22 dense ampere", 0.975195},
      {"mosaic-ampbf16 dense ampere", 0.997463},
      {"mosaic-ampbf16 dense hopper", 1.25092},
      {"mosaic-bf16 dense ampere", 0.896423},
      {"nemo24 moe hopper", 0.906317},
      {"nemo25 moe hopper", 1.55761},
      {"oneflow dense volta", 0.829535},
      {"torchtitan dense hopper", 1.13279}};
  return factors;
}

// Profiles and GPU types whose names differ from those of the points.
std::string ProfileOf(std::string_view model) {
  static const std::map<std::string_view, const char*> names = {
      {"mpt-125m", "gpt-125m"},    {"mpt-1b", "gpt-1.3b"},      {"llama2-7b", "llama-7b"},
      {"llama2-13b", "llama-13b"}, {"llama3-70b", "llama-70b"}, {"llama3-405b", "llama-405b"}};
  const auto found = names.find(model);
  return found == names.end() ? std::string(model) : found->second;
}

std::string_view OurTypeOf(std::string_view gpu) { return gpu == "a100-80" ? "a100" : gpu; }

std::string_view GenerationOf(std::string_view type) {
  if (type.starts_with("v100")) return "volta";
  if (type.starts_with("a100")) return "ampere";
  return type.starts_with("h") ? "hopper" : "blackwell";
}

Recompute RecomputeOf(std::string_view text, const std::string& place) {
  return ParseRecompute(text == "sel" ? "selective" : text, place);
}

PlanPoint ReadPoint(const CsvReader& csv) {
  constexpr long long kMost = 1 << 24;
  const auto whole = [&](std::string_view column) {
    return static_cast<int>(csv.Integer(column, 1, kMost));
  };
  PlanPoint point;
  point.id = csv.Text("id");
  point.software = csv.Text("software");
  const ModelPtr model = TransformersCatalogue().Get(ProfileOf(csv.Text("model")));
  const std::string_view type = OurTypeOf(csv.Text("gpu"));
  const PlanProblem* problem = AsTransformer(*model)->ProblemOn(type);
  if (problem == nullptr) {
    throw RowError("a point names a GPU type with known facts", Quoted(type), csv.place());
  }
  point.problem = *problem;
  TrainingSetup& training = point.problem.training;
  training.sequence = whole("seq");
  training.batch = whole("gbs");
  training.precision = csv.Text("precision") == "fp8" ? Precision::kFp8 : Precision::kBf16;

  Plan& plan = point.plan;
  plan.micro_batch = whole("mbs");
  plan.tensor = whole("tp");
  plan.pipeline = whole("pp");
  plan.interleave = whole("vp");
  plan.context = whole("cp");
  plan.expert = whole("ep");
  plan.zero = static_cast<int>(csv.Integer("zero", 0, 3));
  plan.recompute = RecomputeOf(csv.Text("recompute"), csv.place());
  plan.data = whole("gpus") / plan.gpus();

  // How these programs computed attention, and the parts between matrices.
  const std::string& software = point.software;
  const bool early = software.starts_with("mosaic") || software == "torchtitan" ||
                     software == "fsdp23" || software == "automodel";
  training.attention = csv.Text("flash") != "1" ? AttentionKernel::kUnfused
                       : early                  ? AttentionKernel::kEarlyFused
                                                : AttentionKernel::kFused;
  training.sequence_parallel = !(software == "megatron21" || software == "oneflow" ||
                                 (software == "megatron22" && plan.recompute == Recompute::kFull));
  const auto factor = TimeFactors().find(fmt::format(
      "{} {} {}", software, training.decoder.mixture() ? "moe" : "dense", GenerationOf(type)));
  training.time_factor = factor == TimeFactors().end() ? 1 : factor->second;
  point.tokens_per_gpu = csv.Number("tok_s_gpu");
  point.fitted =
      std::find(kFittedPoints.begin(), kFittedPoints.end(), point.id) != kFittedPoints.end();
  if (plan.data < 1 || training.batch < plan.data * plan.micro_batch ||
      !(point.tokens_per_gpu > 0)) {
    throw RowError("a point has a plan of its GPUs and batch, and a speed > 0", Quoted(point.id),
                   csv.place());
  }
  return point;
}

}  // namespace

std::vector<PlanPoint> ReadPlanPoints(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"id", "software", "model", "gpu", "gpus", "seq", "gbs", "mbs", "tp", "pp", "vp",
                 "cp", "ep", "zero", "recompute", "flash", "precision", "tok_s_gpu"},
                {"published", "unit", "quality", "source"});
  std::vector<PlanPoint> points;
  while (csv.Next()) {
    csv.CheckRow();
    points.push_back(ReadPoint(csv));
  }
  return points;
}

PlanPointResult Predict(const PlanPoint& point) {
  const PlanProblem& problem = point.problem;
  const PlanCost cost(problem.training, problem.gpu, problem.gpu.node_gpus);
  PlanPointResult result{point};
  result.predicted = problem.training.TokensPerStep() / cost.StepOf(point.plan) / point.plan.gpus();
  result.error = result.predicted / point.tokens_per_gpu - 1;
  result.memory = cost.MemoryOf(point.plan);
  result.fits = result.memory <= cost.usable_memory();
  return result;
}

PlanErrors ErrorsOf(std::string group, const std::vector<PlanPointResult>& results) {
  PlanErrors errors;
  errors.group = std::move(group);
  errors.points = results.size();
  std::vector<double> sizes;
  sizes.reserve(results.size());
  for (const PlanPointResult& result : results) {
    sizes.push_back(std::abs(result.error));
    errors.bias += result.error / static_cast<double>(results.size());
  }
  std::sort(sizes.begin(), sizes.end());
  const auto within = [&](double bound) {
    return static_cast<double>(std::upper_bound(sizes.begin(), sizes.end(), bound) -
                               sizes.begin()) /
           static_cast<double>(sizes.size());
  };
  const std::span<const double> sorted(sizes);
  errors.median = Quantile(sorted, 0.5);
  errors.p80 = Quantile(sorted, 0.8);
  errors.p90 = Quantile(sorted, 0.9);
  errors.largest = sizes.back();
  errors.within_10 = within(0.1);
  errors.within_20 = within(0.2);
  return errors;
}

}  // namespace allot
