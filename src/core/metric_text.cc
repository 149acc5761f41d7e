#include "core/metric_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "core/check.h"

namespace allot {
namespace {

// Quotes and backslashes are escaped, a line stays one line.
std::string MetricLabel(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string MetricNumber(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

}  // namespace

MetricText& MetricText::Counter(std::string_view name, std::string_view help) {
  ALLOT_CHECK(name.ends_with("_total"));
  Begin(name, help, "counter");
  return *this;
}

MetricText& MetricText::Gauge(std::string_view name, std::string_view help) {
  ALLOT_CHECK(!name.ends_with("_total"));
  Begin(name, help, "gauge");
  return *this;
}

MetricText& MetricText::Value(double value, Labels labels) {
  Add(name_, value, labels);
  return *this;
}

void MetricText::Histogram(std::string_view name, std::string_view help,
                           std::span<const double> ends, std::span<const std::int64_t> within,
                           double sum, std::int64_t count) {
  ALLOT_CHECK(ends.size() == within.size());
  Begin(name, help, "histogram");
  const std::string bucket = name_ + "_bucket";
  for (std::size_t i = 0; i < ends.size(); ++i) {
    Add(bucket, static_cast<double>(within[i]), {{"le", fmt::format("{:g}", ends[i])}});
  }
  Add(bucket, static_cast<double>(count), {{"le", "+Inf"}});
  Add(name_ + "_sum", sum, {});
  Add(name_ + "_count", static_cast<double>(count), {});
}

void MetricText::Begin(std::string_view name, std::string_view help, std::string_view type) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void MetricText::Add(std::string_view name, double value, Labels labels) {
  text_ += name;
  char before = '{';
  for (const auto& [label, said] : labels) {
    fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", before, label, MetricLabel(said));
    before = ',';
  }
  if (labels.size() > 0) text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", MetricNumber(value));
}

}  // namespace allot
