// The network 'order': one priority for each job; a sizing stage says how much each gets, in that
// order. For teachers that go by what a job has had and when it came (las, tiresias, fifo), and for
// those that give what was asked for, which no hull fill can (docs/learning-networks.md). Beside
// the index network's features it sees service and places in orders.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "agents/learned/job_numbers.h"
#include "core/error.h"
#include "core/index.h"
#include "core/nested_spec.h"
#include "core/ranks.h"
#include "length_model/remaining.h"
#include "sched/stages.h"
#include "stages/fill/typed_sizing.h"

namespace allot {
namespace {

constexpr std::string_view kOrderKind = "order";
constexpr const char* kSizing = "sizing";  // in NetWeights::sizes: its spec
constexpr const char* kBy = "by";
constexpr int kOrderFeatureVersion = 100 * kFeatureVersion + 61;

// Places in a job's features after the kJobFeatures of the encoder. Ranks: -kRankBound first ..
// kRankBound last, of equal ones by submission.
enum OrderFeature : int {
  kService,       // ln (GPU-intervals held so far + 0.01)
  kServiceHours,  // ln (1 + GPU-hours held so far): thresholds of queues are in these
  kServiceRank,   // by GPU-seconds held
  kHeldHours,     // ln (1 + hours with GPUs)
  kHeldRank,      // by the time with GPUs
  kSubmitRank,
  kPresentWait,  // ln (1 + present wait in intervals)
  kLeftRank,     // by the remaining time in the requested configuration
  kLengthRank,   // by the whole time in the requested configuration
  kOrderOwn,     // their number
};
constexpr int kOrderFeatures = kJobFeatures + kOrderOwn;

constexpr std::pair<const char*, OrderFeature> kRules[] = {{"service", kServiceRank},
                                                           {"time", kHeldRank},
                                                           {"submission", kSubmitRank},
                                                           {"remaining", kLeftRank},
                                                           {"length", kLengthRank}};

// Wide, since orders are fine: neighbours among a hundred jobs are to differ by more than what is
// left of other features' weights.
constexpr double kRankBound = 5;

// Of the outputs (u, beta, kappa) beta has no use: sizes are the sizing's.
constexpr IndexNetShape OrderShape(int hidden) {
  return {.job_features = kOrderFeatures,
          .context_features = kContextFeatures,
          .hidden = hidden,
          .outputs = kIndexOutputs};
}

class OrderEncoder {
 public:
  explicit OrderEncoder(LengthModel lengths) : encoder_(std::move(lengths)) {}

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& o) { encoder_.Observe(o); }

  // O(rows log rows).
  void Encode(const Observation& o, FeatureBatch* batch) {
    encoder_.Encode(o, &base_);
    const std::size_t rows = o.job.size();
    batch->context = base_.context;
    batch->jobs.assign(rows * kOrderFeatures, 0.0F);
    for (std::vector<float>& column : ranked_) column.clear();
    for (std::size_t r = 0; r < rows; ++r) {
      float* const row = batch->jobs.data() + r * kOrderFeatures;
      std::copy_n(base_.jobs.data() + r * kJobFeatures, kJobFeatures, row);
      EncodeJob(o, static_cast<std::int32_t>(r), row + kJobFeatures);
    }
    constexpr std::array kRanks = {kServiceRank, kHeldRank, kSubmitRank, kLeftRank, kLengthRank};
    for (std::size_t i = 0; i < kRanks.size(); ++i) {
      const std::span<const std::int32_t> places = ranks_[i].Of(ranked_[i], o.job);
      for (std::size_t r = 0; r < rows && rows > 1; ++r) {
        const double share = static_cast<double>(places[r]) / static_cast<double>(rows - 1);
        batch->jobs[r * kOrderFeatures + kJobFeatures + At(kRanks[i])] =
            static_cast<float>(kRankBound * (2 * share - 1));
      }
    }
  }

 private:
  static float Clipped(double value) {
    return std::isnan(value)
               ? 0.0F
               : static_cast<float>(std::clamp<double>(value, -kFeatureBound, kFeatureBound));
  }

  void EncodeJob(const Observation& o, std::int32_t row, float* x) {
    const std::size_t r = At(row);
    const ConfigurationTable& table = *o.table[r];
    const double rate =
        table[o.requested[r]].rate > 0 ? table[o.requested[r]].rate : table.reference_rate();
    x[kService] = Clipped(std::log(o.attained_gpu_seconds[r] / o.interval + 0.01));
    x[kServiceHours] = Clipped(std::log1p(o.attained_gpu_seconds[r] / 3600));
    x[kHeldHours] = Clipped(std::log1p(o.attained_seconds[r] / 3600));
    x[kPresentWait] = Clipped(std::log1p(std::max(0.0, o.now - o.waiting_since[r]) / o.interval));
    const double left = AssumedRemaining(o, row);
    const double values[] = {o.attained_gpu_seconds[r], o.attained_seconds[r], o.submit[r],
                             left / rate, (left + o.done_work[r]) / rate};
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      ranked_[i].push_back(static_cast<float>(values[i]));
    }
  }

  static constexpr std::size_t kRanked = 5;

  FeatureEncoder encoder_;
  FeatureBatch base_;
  std::array<std::vector<float>, kRanked> ranked_;  // what is ranked, by row
  std::array<Ranks, kRanked> ranks_;
};

std::string SizingOf(const NetWeights& weights) {
  const auto found = weights.sizes.find(kSizing);
  return found != weights.sizes.end() && found->is_string() ? found->get<std::string>() : "";
}

std::unique_ptr<Sizing> MakeSizing(const std::string& spec) {
  auto sizing = MakeStage<Sizing>("sizing", NestedSpec(spec));
  if (sizing->places()) {
    throw UsageError("network 'order' leaves places to the placement, sizing '{}' finds its own",
                     spec);
  }
  return sizing;
}

class OrderNetworkPolicy : public NumbersPolicy {
 public:
  OrderNetworkPolicy(const Agent& agent, const Serving& serving)
      : NumbersPolicy(agent.weights),
        encoder_(agent.lengths),
        types_(MakeStage<TypeAssignment>("types", "exact")),
        sizing_(MakeSizing(SizingOf(agent.weights))),
        typed_sizing_(types_.get(), sizing_.get()),
        placement_(MakeStage<Placement>("placement", serving.placement)) {}

  void OnEpisodeStart(const EpisodeContext&) override { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& o) override { encoder_.Observe(o); }

  void Act(const Observation& o, std::span<const float> outputs, Allocation* allocation) override {
    // Sizings take keys that are seconds, the least first.
    key_of_row_.clear();
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      const float* const out = &outputs[r * kIndexOutputs];
      const Score score = BoundedScore({out[0], out[1], out[2]});
      const double priority = score.u + KappaSign(o, r) * score.kappa;
      key_of_row_.push_back(o.interval * std::exp(-priority));
    }
    order_.resize(o.job.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      const double first = key_of_row_[At(a)];
      const double second = key_of_row_[At(b)];
      return first != second ? first < second : o.job[At(a)] < o.job[At(b)];
    });
    keys_.clear();
    for (const std::int32_t row : order_) keys_.push_back(key_of_row_[At(row)]);
    grants_.clear();
    if (typed_sizing_.AppliesTo(*o.cluster)) {
      TypeQuestion question;
      question.order = order_;
      typed_sizing_.Size(o, question, keys_, &grants_);
    } else {
      sizing_->Size(o, order_, keys_, &grants_);
    }
    placement_->Place(o, grants_, allocation);
  }

  PerOutput Steps() const override { return {1.0F, 0.2F, 0.2F}; }

  // Who was given something goes before who was not, whatever the size.
  void Margin(const Observation& o, std::int32_t row, std::int32_t given, MarginStep* taken,
              MarginStep* untaken) const override {
    MarginStep* step = given >= 0 ? taken : untaken;
    *step = {.present = true, .log_gain = 0, .log_mid = 0, .kappa_sign = KappaSign(o, At(row))};
  }

 protected:
  void Encode(const Observation& o, FeatureBatch* features) override {
    encoder_.Encode(o, features);
  }

 private:
  static float KappaSign(const Observation& o, std::size_t row) {
    return o.running[row] >= 0 ? 1.0F : -1.0F;
  }

  OrderEncoder encoder_;
  std::unique_ptr<TypeAssignment> types_;
  std::unique_ptr<Sizing> sizing_;
  TypedSizing typed_sizing_;
  std::unique_ptr<Placement> placement_;
  std::vector<double> key_of_row_;
  std::vector<std::int32_t> order_;
  std::vector<double> keys_;  // by place in the order
  std::vector<Grant> grants_;
};

NetWeights FreshOrder(const Params& params, std::uint64_t seed) {
  NetWeights weights = InitIndexNet(OrderShape(params.Integer("hidden")), seed);
  weights.kind = kOrderKind;
  MakeSizing(params.Text(kSizing));  // refuse now what is none
  weights.sizes[kSizing] = params.Text(kSizing);
  const std::string& by = params.Text(kBy);
  if (by.empty()) return weights;
  const auto rule = std::ranges::find(kRules, by, [](const auto& each) { return each.first; });
  if (rule == std::end(kRules)) {
    throw UsageError(
        "network 'order': 'by' must be service, time, submission, remaining or "
        "length, got '{}'",
        by);
  }
  weights[index_net::kOutJob].data[At(kJobFeatures + rule->second)] = -10;
  return weights;
}

void CheckOrder(const NetWeights& weights, const std::string& origin) {
  const IndexNetWeights net(weights, origin);
  if (net.shape != OrderShape(net.shape.hidden)) {
    throw DataError(
        "{}: checkpoint has shape {}, this allot needs {} features of a job, {} of the moment and "
        "{} outputs",
        origin, weights.sizes.dump(), kOrderFeatures, kContextFeatures, kIndexOutputs);
  }
  try {
    MakeSizing(SizingOf(weights));
  } catch (const Error& error) {
    throw DataError("{}: '{}': {}", origin, kSizing, error.what());
  }
}

ALLOT_REGISTER(
    NetworkInfo,
    (NetworkInfo{
        .id = std::string(kOrderKind),
        .summary = "a priority per job, by service and submission, too; sizes by a stage",
        .actions = "numbers",
        .feature_version = kOrderFeatureVersion,
        .params = {{"hidden", "16", "hidden units", 1, 1024},
                   {kSizing, "requested", "stage: how much each job gets, in this order"},
                   {kBy, "",
                    "the order at the start, least first: service, time (with GPUs), "
                    "submission, remaining, length; empty: none"}},
        .make_weights = FreshOrder,
        .check = CheckOrder,
        .make_policy = [](const Agent& agent,
                          const Serving& serving) -> std::unique_ptr<LearnedPolicy> {
          return std::make_unique<OrderNetworkPolicy>(agent, serving);
        },
        .rules = {"by=service", "by=time", "by=submission", "by=remaining", "by=length"}}));

}  // namespace
}  // namespace allot
