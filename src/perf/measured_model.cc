// Rates exactly as measured: a number of GPUs, a type or a partner without a row, or with rate 0,
// is not offered. For tables that were measured in full, like Gavel's.

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "perf/throughput_model.h"

namespace allot {
namespace {

struct MeasuredRate {
  std::string gpu_type;
  GpuCount gpus = 0;
  Span span{};
  std::string partner;  // "": alone
  double rate = 0;
};

class MeasuredModel final : public ThroughputModel {
 public:
  MeasuredModel(std::string name, const std::vector<MeasuredRate>& rates) : name_(std::move(name)) {
    for (const MeasuredRate& rate : rates) {
      if (!rate.partner.empty() || rate.span.any()) {
        AddForSpans(rate, rates);
      } else {
        rates_.push_back(rate);
      }
    }
    for (const MeasuredRate& rate : rates_) {
      if (std::find(types_.begin(), types_.end(), rate.gpu_type) == types_.end()) {
        types_.push_back(rate.gpu_type);
      }
      if (rate.partner.empty() || !(rate.rate > 0)) continue;
      if (std::find(partners_.begin(), partners_.end(), rate.partner) == partners_.end()) {
        partners_.push_back(rate.partner);
      }
    }
  }

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    const std::string_view type = NameOf(shape.gpu_type);
    const int gpus = shape.units().of(0);
    for (const MeasuredRate& rate : rates_) {
      if (rate.gpus == gpus && rate.gpu_type == type && rate.partner == shape.partner &&
          rate.span.Holds(shape.nodes.size())) {
        return rate.rate;
      }
    }
    return 0;
  }
  std::vector<Span> SpansOn(std::string_view gpu_type) const override {
    std::vector<Span> spans;
    for (const MeasuredRate& rate : rates_) {
      if (rate.gpu_type != NameOf(gpu_type) || !rate.partner.empty()) continue;
      if (std::find(spans.begin(), spans.end(), rate.span) == spans.end()) {
        spans.push_back(rate.span);
      }
    }
    return spans;
  }
  std::vector<std::string> gpu_types() const override { return types_; }
  std::vector<std::string> partners() const override { return partners_; }

 private:
  // The unnamed type is the first that was measured.
  std::string_view NameOf(std::string_view type) const {
    return type.empty() || type == kUnnamedGpuType ? std::string_view(types_.front()) : type;
  }

  // A rate of any nodes, on a type that tells numbers of nodes apart for other counts, is one of
  // each of these: configurations of one count then differ in nodes.
  void AddForSpans(const MeasuredRate& rate, const std::vector<MeasuredRate>& all) {
    std::vector<Span> spans;
    for (const MeasuredRate& other : all) {
      if (!rate.partner.empty() || other.gpu_type != rate.gpu_type || other.span.any()) continue;
      if (std::find(spans.begin(), spans.end(), other.span) == spans.end()) {
        spans.push_back(other.span);
      }
    }
    if (spans.empty()) return rates_.push_back(rate);
    for (const Span& span : spans) {
      rates_.push_back(rate);
      rates_.back().span = span;
    }
  }

  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  std::vector<MeasuredRate> rates_;
  std::vector<std::string> types_;
  std::vector<std::string> partners_;
};

MeasuredRate ReadRate(const CatalogueRow& row) {
  MeasuredRate rate;
  rate.gpu_type = row.Text("gpu_type");
  if (rate.gpu_type.empty()) {
    throw DataError("'gpu_type' must not be empty, got '' ({})", row.place());
  }
  rate.gpus = row.Gpus("gpus");
  rate.rate = row.NotNegative("rate");
  rate.partner = row.Text("partner");
  if (!row.Text("nodes").empty()) {
    try {
      rate.span = ParseSpan(row.Text("nodes"));
    } catch (const Error& error) {
      throw DataError("'nodes': {} ({})", error.what(), row.place());
    }
    if (!rate.partner.empty() && !rate.span.any()) {
      throw DataError("rates beside a partner are of any nodes, got '{}' ({})", row.Text("nodes"),
                      row.place());
    }
  }
  return rate;
}

ModelPtr MakeMeasured(const std::string& profile, std::span<const CatalogueRow> rows) {
  using Key = std::tuple<std::string, GpuCount, Span::Count, Span::Count, std::string>;
  std::vector<std::pair<Key, const CatalogueRow*>> seen;
  std::vector<MeasuredRate> rates;
  for (const CatalogueRow& row : rows) {
    rates.push_back(ReadRate(row));
    const MeasuredRate& r = rates.back();
    seen.emplace_back(Key(r.gpu_type, r.gpus, r.span.least, r.span.most, r.partner), &row);
  }
  std::stable_sort(seen.begin(), seen.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].first != seen[i - 1].first) continue;
    throw DataError("a rate is given once: '{}' with {} GPUs on '{}' stands in {} and in {}",
                    profile, std::get<1>(seen[i].first), std::get<0>(seen[i].first),
                    seen[i - 1].second->place(), seen[i].second->place());
  }
  return std::make_shared<MeasuredModel>(profile, std::move(rates));
}

ALLOT_REGISTER(ThroughputModelInfo, (ThroughputModelInfo{"measured",
                                                         "exactly the rates that are listed, alone "
                                                         "and beside a partner",
                                                         {"gpu_type", "gpus", "rate"},
                                                         {"nodes", "partner"},
                                                         MakeMeasured}));

}  // namespace
}  // namespace allot
