#include "perf/transformer_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/strings.h"
#include "plans/stated_plan.h"

namespace allot {
namespace {

constexpr GpuCount kMostFloor = 4096;  // what needs more GPUs is offered on the usual counts only

}  // namespace

TransformerModel::TransformerModel(std::string name, std::vector<PlanProblem> problems,
                                   std::size_t reference)
    : name_(std::move(name)), problems_(std::move(problems)), reference_(reference) {
  ALLOT_CHECK(reference_ < problems_.size());
}

const PlanProblem* TransformerModel::ProblemOn(std::string_view gpu_type) const {
  if (gpu_type.empty() || gpu_type == kUnnamedGpuType) return &problems_[reference_];
  const auto found =
      std::find_if(problems_.begin(), problems_.end(),
                   [&](const PlanProblem& problem) { return problem.gpu.name == gpu_type; });
  return found == problems_.end() ? nullptr : &*found;
}

std::optional<RatedPlan> TransformerModel::PlanFor(const RunShape& shape) const {
  const PlanProblem* problem = ProblemOn(shape.gpu_type);
  const GpuCount gpus = shape.units().of(0);
  if (problem == nullptr || gpus <= 0) return std::nullopt;
  GpuCount node_gpus = gpus;
  for (const UnitCounts& units : shape.nodes) node_gpus = std::min(node_gpus, units.of(0));
  const Room room{problem, gpus, node_gpus};
  {
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(room);
    if (known != plans_.end()) return known->second;
  }
  const std::optional<RatedPlan> plan = BestPlan(*problem, {gpus, node_gpus});
  const std::lock_guard lock(mutex_);
  return plans_.try_emplace(room, plan).first->second;
}

double TransformerModel::Rate(const RunShape& shape, const TrainingState&) const {
  const std::optional<RatedPlan> best = PlanFor(shape);
  return best ? ProblemOn(shape.gpu_type)->training.TokensPerStep() / best->step : 0;
}

Seconds TransformerModel::StateSeconds(const RunShape& shape) const {
  constexpr double kBytesPerParameter = 14, kNodeBytesPerSecond = 2e9;
  return problems_.front().training.decoder.Parameters() * kBytesPerParameter /
         (kNodeBytesPerSecond * static_cast<double>(std::max<std::size_t>(1, shape.nodes.size())));
}

std::optional<std::string> TransformerModel::PlanOn(const RunShape& shape) const {
  const std::optional<RatedPlan> best = PlanFor(shape);
  if (!best) return std::nullopt;
  const TrainingSetup& training = ProblemOn(shape.gpu_type)->training;
  return TextOf(StatedPlan{best->plan, training.batch, training.decoder.layers});
}

std::vector<Span> TransformerModel::SpansOn(std::string_view gpu_type) const {
  if (ProblemOn(gpu_type) == nullptr) return {};
  return {{1, 1}, {2, Span::kAny}};
}

std::vector<std::string> TransformerModel::gpu_types() const {
  std::vector<std::string> names;
  names.reserve(problems_.size());
  for (const PlanProblem& problem : problems_) names.push_back(problem.gpu.name);
  return names;
}

bool TransformerModel::Offers(GpuCount gpus, std::string_view gpu_type) const {
  if (IsPlanCount(gpus)) return true;
  const PlanProblem* problem = ProblemOn(gpu_type);
  if (problem == nullptr) return false;
  const std::lock_guard lock(mutex_);
  const auto [floor, added] = floors_.try_emplace(problem);
  if (added) floor->second = LeastGpus(*problem, kMostFloor);
  return floor->second == gpus;
}

const TransformerModel* AsTransformer(const ThroughputModel& model) {
  return dynamic_cast<const TransformerModel*>(&model);
}

namespace {

constexpr std::int64_t kMostSequence = std::int64_t{1} << 24;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;  // of layers, vocabulary, batch, ...
constexpr std::string_view kReferenceType = "h100";

// The columns of a row that describes the decoder, and those of a GPU type's facts.
constexpr std::array kShapeColumns = {"layers",     "hidden",   "heads",
                                      "vocabulary", "sequence", "batch"};
constexpr std::array kFactColumns = {"peak_tflops", "fp8_speedup", "matmul_share", "memory_gb",
                                     "memory_gb_s", "link_gb_s",   "network_gb_s", "node_gpus"};

bool Given(const CatalogueRow& row, std::string_view column) { return !row.Text(column).empty(); }

int PositiveWhole(const CatalogueRow& row, std::string_view column) {
  return static_cast<int>(row.Whole(column, 1, kMostWidth));
}

int WholeOr(const CatalogueRow& row, std::string_view column, int absent) {
  return Given(row, column) ? static_cast<int>(row.Whole(column, 0, kMostWidth)) : absent;
}

std::optional<int> FixedPart(const CatalogueRow& row, std::string_view column) {
  if (!Given(row, column)) return std::nullopt;
  return static_cast<int>(row.Whole(column, 1, kMaxGpusPerJob));
}

double PositiveOr(const CatalogueRow& row, std::string_view column, double absent) {
  return Given(row, column) ? row.Positive(column) : absent;
}

bool YesOr(const CatalogueRow& row, std::string_view column, bool absent) {
  const std::string& text = row.Text(column);
  if (text.empty()) return absent;
  if (text != "yes" && text != "no") {
    throw DataError("'{}' must be yes or no, got '{}' ({})", column, text, row.place());
  }
  return text == "yes";
}

void ReadMixture(const CatalogueRow& row, Decoder* d) {
  d->experts = WholeOr(row, "experts", 0);
  if (!d->mixture()) return;
  d->top_k = PositiveWhole(row, "top_k");
  d->expert_ffn = PositiveWhole(row, "expert_ffn");
  d->shared_ffn = WholeOr(row, "shared_ffn", 0);
  d->dense_layers = WholeOr(row, "dense_layers", 0);
  if (d->top_k > d->experts) {
    throw DataError("'top_k' must be at most 'experts', got {} of {} ({})", d->top_k, d->experts,
                    row.place());
  }
  if (d->dense_layers >= d->layers) {
    throw DataError("'dense_layers' must be fewer than 'layers', got {} of {} ({})",
                    d->dense_layers, d->layers, row.place());
  }
}

Decoder ReadDecoder(const CatalogueRow& row) {
  if (Given(row, "architecture") && row.Text("architecture") != "decoder") {
    throw DataError("only decoders can be predicted: 'architecture' must be decoder, got '{}' ({})",
                    row.Text("architecture"), row.place());
  }
  Decoder d;
  d.layers = PositiveWhole(row, "layers");
  d.hidden = PositiveWhole(row, "hidden");
  d.heads = PositiveWhole(row, "heads");
  d.kv_heads = Given(row, "kv_heads") ? PositiveWhole(row, "kv_heads") : d.heads;
  if (d.heads % d.kv_heads != 0) {
    throw DataError("'kv_heads' must divide 'heads', got {} and {} ({})", d.kv_heads, d.heads,
                    row.place());
  }
  if (!Given(row, "head_size") && d.hidden % d.heads != 0) {
    throw DataError(
        "'heads' must divide 'hidden' where no 'head_size' is given, got {} and {} ({})", d.heads,
        d.hidden, row.place());
  }
  d.head_size = Given(row, "head_size") ? PositiveWhole(row, "head_size") : d.hidden / d.heads;
  d.gated = YesOr(row, "gated", true);
  d.vocabulary = PositiveWhole(row, "vocabulary");
  d.tied = YesOr(row, "tied", false);
  if (Given(row, "attention_parameters")) {
    d.attention_parameters = row.Positive("attention_parameters");
  }
  ReadMixture(row, &d);
  d.ffn = !d.mixture() || d.dense_layers > 0 ? PositiveWhole(row, "ffn") : 0;
  return d;
}

TrainingSetup ReadTraining(const CatalogueRow& row) {
  TrainingSetup training;
  training.decoder = ReadDecoder(row);
  training.sequence = static_cast<int>(row.Whole("sequence", 1, kMostSequence));
  training.batch = PositiveWhole(row, "batch");
  const std::string& precision = row.Text("precision");
  if (!precision.empty() && precision != "bf16" && precision != "fp8") {
    throw DataError("'precision' must be bf16 or fp8, got '{}' ({})", precision, row.place());
  }
  if (precision == "fp8") training.precision = Precision::kFp8;
  training.time_factor = PositiveOr(row, "time_factor", 1);
  return training;
}

FixedSplit ReadSplit(const CatalogueRow& row) {
  FixedSplit split;
  split.tensor = FixedPart(row, "tp");
  split.pipeline = FixedPart(row, "pp");
  split.interleave = FixedPart(row, "vp");
  split.context = FixedPart(row, "cp");
  split.expert = FixedPart(row, "ep");
  split.micro_batch = FixedPart(row, "micro_batch");
  if (Given(row, "zero")) split.zero = static_cast<int>(row.Whole("zero", 0, 3));
  if (Given(row, "recompute")) {
    split.recompute = ParseRecompute(row.Text("recompute"), row.place());
  }
  return split;
}

// The known facts with those that the row gives.
GpuFacts ReadFacts(const CatalogueRow& row) {
  const std::string& type = row.Text("gpu_type");
  const GpuFacts* known = FindGpu(type);
  GpuFacts facts = known == nullptr ? GpuFacts{} : *known;
  if (known == nullptr) {
    for (const char* column :
         {"peak_tflops", "memory_gb", "memory_gb_s", "link_gb_s", "network_gb_s"}) {
      if (Given(row, column)) continue;
      throw DataError("GPU type '{}' has no known facts, so its row needs '{}'; known: {} ({})",
                      type, column, Join(KnownGpuNames(), ", "), row.place());
    }
  }
  facts.name = type;
  facts.peak_tflops = PositiveOr(row, "peak_tflops", facts.peak_tflops);
  facts.fp8_speedup = PositiveOr(row, "fp8_speedup", facts.fp8_speedup);
  facts.matmul_share = PositiveOr(row, "matmul_share", facts.matmul_share);
  facts.memory_gb = PositiveOr(row, "memory_gb", facts.memory_gb);
  facts.memory_bandwidth = PositiveOr(row, "memory_gb_s", facts.memory_bandwidth);
  facts.link_bandwidth = PositiveOr(row, "link_gb_s", facts.link_bandwidth);
  facts.network_bandwidth = PositiveOr(row, "network_gb_s", facts.network_bandwidth);
  if (Given(row, "node_gpus")) facts.node_gpus = row.Gpus("node_gpus");
  return facts;
}

// The first row describes the decoder; each other one a GPU type.
void CheckRows(const std::string& profile, std::span<const CatalogueRow> rows) {
  if (Given(rows.front(), "gpu_type")) {
    throw DataError(
        "the first row of a transformer describes its shape and has no 'gpu_type': profile '{}' "
        "has '{}' ({})",
        profile, rows.front().Text("gpu_type"), rows.front().place());
  }
  for (const char* column : kFactColumns) {
    if (!Given(rows.front(), column)) continue;
    throw DataError("'{}' belongs to a row with a 'gpu_type', got '{}' without one ({})", column,
                    rows.front().Text(column), rows.front().place());
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!Given(rows[i], "gpu_type")) {
      throw DataError("rows behind the first of a transformer name a GPU type, got '' ({})",
                      rows[i].place());
    }
    for (const char* column : kShapeColumns) {
      if (!Given(rows[i], column)) continue;
      throw DataError("'{}' stands in the first row of a profile only, got '{}' for '{}' ({})",
                      column, rows[i].Text(column), rows[i].Text("gpu_type"), rows[i].place());
    }
    for (std::size_t j = 1; j < i; ++j) {
      if (rows[i].Text("gpu_type") != rows[j].Text("gpu_type")) continue;
      throw DataError("a GPU type has one row: '{}' of profile '{}' stands in {} and in {}",
                      rows[i].Text("gpu_type"), profile, rows[j].place(), rows[i].place());
    }
  }
}

ModelPtr MakeTransformer(const std::string& profile, std::span<const CatalogueRow> rows) {
  CheckRows(profile, rows);
  const PlanProblem base{ReadTraining(rows.front()), {}, ReadSplit(rows.front())};
  std::vector<PlanProblem> problems(KnownGpus().size(), base);
  for (std::size_t i = 0; i < problems.size(); ++i) problems[i].gpu = KnownGpus()[i];
  std::string reference(rows.size() > 1 ? rows[1].Text("gpu_type") : kReferenceType);
  for (const CatalogueRow& row : rows.subspan(1)) {
    const GpuFacts facts = ReadFacts(row);
    auto problem = std::find_if(problems.begin(), problems.end(), [&](const PlanProblem& each) {
      return each.gpu.name == facts.name;
    });
    if (problem == problems.end()) problem = problems.insert(problem, base);
    problem->gpu = facts;
    problem->training.time_factor = PositiveOr(row, "time_factor", base.training.time_factor);
  }
  int largest_node = 0;
  for (const PlanProblem& problem : problems) {
    largest_node = std::max(largest_node, problem.gpu.node_gpus);
  }
  if (base.split.tensor.value_or(1) > largest_node) {
    throw DataError("'tp' must be at most the GPUs of a node, got {} of {} ({})",
                    *base.split.tensor, largest_node, rows.front().place());
  }
  const auto at = std::find_if(problems.begin(), problems.end(), [&](const PlanProblem& problem) {
    return problem.gpu.name == reference;
  });
  const auto place = static_cast<std::size_t>(at - problems.begin());
  return std::make_shared<TransformerModel>(profile, std::move(problems), place);
}

ALLOT_REGISTER(
    ThroughputModelInfo,
    (ThroughputModelInfo{
        "transformer",
        "decoders that are split over their GPUs by the best plan that fits",
        {kShapeColumns.begin(), kShapeColumns.end()},
        {"architecture", "kv_heads",    "head_size",   "ffn",         "gated",
         "tied",         "experts",     "top_k",       "expert_ffn",  "shared_ffn",
         "dense_layers", "precision",   "gpu_type",    "time_factor", "attention_parameters",
         "tp",           "pp",          "vp",          "cp",          "ep",
         "zero",         "micro_batch", "recompute",   "peak_tflops", "fp8_speedup",
         "matmul_share", "memory_gb",   "memory_gb_s", "link_gb_s",   "network_gb_s",
         "node_gpus"},
        MakeTransformer}));

}  // namespace
}  // namespace allot
