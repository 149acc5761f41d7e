#include "workload/trace_stats_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "core/counted.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr int kBarWidth = 20;

std::string Thousands(std::int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(text.begin() + at, ',');
  }
  return text;
}

std::string Rounded(double value) {
  if (std::isnan(value)) return "-";
  return std::abs(value) < 100 ? fmt::format("{:.1f}", value)
                               : Thousands(static_cast<std::int64_t>(std::llround(value)));
}

// Two units at most: "16 s", "22m 01s", "9h 53m", "27d 23h".
std::string Duration(Seconds seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds < 9.95)
    return fmt::format("{:.{}f} s", seconds, seconds == std::floor(seconds) ? 0 : 1);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole / 3600 % 24);
}

// A bar of eighths of a character, filled up with spaces to kBarWidth columns.
std::string Bar(double share) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  int eighths = static_cast<int>(std::lround(share * kBarWidth * 8));
  if (eighths == 0 && share > 0) eighths = 1;
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar + std::string(static_cast<std::size_t>(kBarWidth - (eighths + 7) / 8), ' ');
}

std::string Sparkline(const std::array<double, 24>& values) {
  static constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = *std::max_element(values.begin(), values.end());
  std::string line;
  for (const double value : values) {
    line += kLevels[most > 0 ? static_cast<int>(std::lround(7 * value / most)) : 0];
  }
  return line;
}

class Text {
 public:
  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    std::string line = fmt::format(format, std::forward<Args>(args)...);
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += line + '\n';
  }
  void Fact(std::string_view name, const std::string& value) { Line("{:<12}{}", name, value); }

  void Row(std::string_view name, const Distribution& of) {
    Line("{:<12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>7}", name, Duration(of.p5),
         Duration(of.p25), Duration(of.p50), Duration(of.p75), Duration(of.p95), Duration(of.p99),
         Duration(of.max), Duration(of.mean), Rounded(of.cv));
  }

  void Groups(std::string_view title, const std::vector<JobGroup>& all) {
    constexpr std::size_t kMostGroups = 20;
    const std::span groups(all.data(), std::min(kMostGroups, all.size()));
    std::size_t width = 10;
    for (const JobGroup& group : groups) width = std::max(width, group.label.size());
    Line("");
    Line("{:<{}}{:>9}{:>9}  {:<{}}{:>9}", title, width + 2, "jobs", "share", "", kBarWidth,
         "GPU time");
    for (const JobGroup& group : groups) {
      Line("  {:<{}}{:>9}{:>8.1f}%  {}{:>8.1f}%  {}", group.label, width, Thousands(group.jobs),
           100 * group.job_share, Bar(group.job_share), 100 * group.gpu_time_share,
           Bar(group.gpu_time_share));
    }
    if (all.size() > groups.size()) {
      Line("  {} more: --json has all", all.size() - groups.size());
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddDrops(const ReadReport& report, Text* text) {
  for (const std::string& note : report.notes) text->Line("{:<12}{}", "Note", note);
  text->Line("");
  text->Line("{:<12}{} of {} {}{}", "Left out", Thousands(report.dropped()), Thousands(report.rows),
             NounFor(report.rows, "record"), report.dropped() > 0 ? "" : ": every record is a job");
  const auto list = [text](const std::vector<DropCount>& counts) {
    for (const DropCount& count : counts) {
      text->Line("  {:>8}  {}{} (first: {})", Thousands(count.rows), count.reason,
                 count.gpu_hours > 0 ? fmt::format(", {} GPU-hours", Rounded(count.gpu_hours)) : "",
                 count.example);
    }
  };
  list(report.LargestDrops());
  if (report.adjusted.empty()) return;
  text->Line("{:<12}records that are not used exactly as they stand", "Adjusted");
  list(report.adjusted);
}

}  // namespace

std::string IgnoredColumns(const ReadReport& report) {
  constexpr std::size_t kMostNames = 12;
  std::vector<std::string> names = report.ignored_columns;
  const std::size_t all = names.size();
  if (all > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return fmt::format("{}: {}", Counted(static_cast<std::int64_t>(all), "column"),
                     Join(names, ", "));
}

std::string FormatTraceStats(const TraceStats& stats, const ReadReport& report) {
  const auto named = [](std::int64_t count, const char* what) {
    return count > 0 ? fmt::format(", {} {}", Thousands(count), NounFor(count, what))
                     : std::string();
  };
  Text text;
  text.Fact("Trace",
            stats.name + (report.format.empty() ? "" : fmt::format(" (format {})", report.format)));
  if (!report.columns.empty()) text.Fact("Columns", report.columns);
  if (!report.ignored_columns.empty()) {
    text.Fact("Ignored", IgnoredColumns(report));
  }
  if (!stats.origin.empty()) text.Fact("Begins", stats.origin);
  text.Fact("Jobs", Thousands(stats.jobs) + named(stats.tenants, "tenant") +
                        named(stats.users, "user") + named(stats.models, "model"));
  text.Fact("Span", fmt::format("{}, {} arrivals per hour", Duration(stats.span),
                                Rounded(stats.arrivals_per_hour)));
  text.Fact("GPU time", fmt::format("{} GPU-hours", Rounded(stats.gpu_hours)));
  text.Fact("Load", fmt::format("keeps {} GPUs busy on average if every job starts at once",
                                Rounded(stats.offered_gpus)));
  text.Fact("Request",
            fmt::format("{:.2f} GPUs on average, {} at most", stats.mean_gpus, stats.max_gpus) +
                (stats.most_at_once > 0
                     ? fmt::format("; all jobs together held {} at most", stats.most_at_once)
                     : ""));

  if (const TimeLimits& limits = stats.limits; limits.limited > 0) {
    text.Fact(
        "Limits",
        fmt::format(
            "{} of {} jobs have a time limit, {} ran beyond it (by more than {:.0f} s, or {:.0f} % "
            "of a short limit)",
            Thousands(limits.limited), Thousands(limits.jobs),
            limits.outlived == 0 ? "none" : Thousands(limits.outlived), kMostGrace,
            100 * kGraceOfShort));
  }

  text.Line("");
  text.Line("{:<12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>7}", "", "p5", "p25", "median", "p75",
            "p95", "p99", "max", "mean", "CV");
  text.Row("Run time", stats.duration);
  text.Row("Arrival gap", stats.gap);
  if (stats.waits > 0) text.Row("Waited", stats.recorded_wait);

  text.Groups("GPUs", stats.by_gpus);
  text.Groups("Outcome", stats.by_outcome);
  if (!stats.by_type.empty()) text.Groups("GPU type", stats.by_type);

  const auto& hours = stats.hour_of_day;
  const auto busiest = std::max_element(hours.begin(), hours.end());
  const auto quietest = std::min_element(hours.begin(), hours.end());
  text.Line("");
  text.Line("{:<12}{}  busiest {:02}h ({:.1f}x the mean), quietest {:02}h ({:.1f}x)",
            stats.origin.empty() ? "Hour" : "Hour of day", Sparkline(hours),
            busiest - hours.begin(), *busiest, quietest - hours.begin(), *quietest);
  AddDrops(report, &text);
  return text.Take();
}

}  // namespace allot
