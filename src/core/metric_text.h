#pragma once
// Prometheus' text format 0.0.4 by its conventions: each metric has its help and type once, before
// its values. Names are whole ("allot_polls_total"), in base units (seconds, bytes).

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace allot {

class MetricText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Begin a metric; what Value() adds belongs to the latest. A counter's name ends in "_total", no
  // other one's does.
  MetricText& Counter(std::string_view name, std::string_view help);
  MetricText& Gauge(std::string_view name, std::string_view help);
  // Infinity and NaN are values, too.
  MetricText& Value(double value, Labels labels = {});

  // A whole histogram: `within[i]` is the number of those of at most `ends[i]`, `count` of all.
  void Histogram(std::string_view name, std::string_view help, std::span<const double> ends,
                 std::span<const std::int64_t> within, double sum, std::int64_t count);

  const std::string& text() const { return text_; }

 private:
  void Begin(std::string_view name, std::string_view help, std::string_view type);
  void Add(std::string_view name, double value, Labels labels);

  std::string name_;
  std::string text_;
};

}  // namespace allot
