#include "live/runtimes/slurm/slurm_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "core/strings.h"
#include "live/runtimes/worker_end.h"

namespace allot {
namespace {

template <typename Number>
std::optional<Number> Parse(std::string_view text, int base) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "first key=value key=value" -> the pairs; nullopt unless it begins with `first`.
std::optional<std::map<std::string_view, std::string_view>> Pairs(std::string_view text,
                                                                  std::string_view first) {
  const std::vector<std::string_view> words = Split(text, ' ');
  if (words.front() != first) return std::nullopt;
  std::map<std::string_view, std::string_view> pairs;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    pairs[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  return pairs;
}

std::string Replaced(std::string text, char before, char after) {
  std::replace(text.begin(), text.end(), before, after);
  return text;
}

constexpr std::string_view kWhy = ": ";  // begins what people read

// Between the clock here and the controller's, where both follow a time server.
constexpr Seconds kClockSkew = 0.25;

// "8,16,bb8,a100&nvlink"
std::string ToText(const AskedTag& asked) {
  return fmt::format("{},{},{:x},{}", asked.cpus_per_task, asked.cpus_per_node, asked.memory,
                     asked.constraint);
}

std::optional<AskedTag> ParseAsked(std::string_view text) {
  std::array<std::string_view, 3> numbers;
  for (std::string_view& number : numbers) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    number = text.substr(0, comma);
    text.remove_prefix(comma + 1);
  }
  const auto cpus_per_task = Parse<std::uint16_t>(numbers[0], 10);
  const auto cpus_per_node = Parse<std::uint32_t>(numbers[1], 10);
  const auto memory = Parse<std::uint64_t>(numbers[2], 16);
  if (!cpus_per_task || !cpus_per_node || !memory) return std::nullopt;
  return AskedTag{*cpus_per_task, *cpus_per_node, *memory, std::string(text)};
}

}  // namespace

std::string ToText(const JobTag& tag) {
  std::string text = fmt::format("allot job={}", tag.job);
  if (tag.stopping) text += " stopping=1";
  if (tag.failed) text += " failed=1";
  if (tag.stopped > 0) text += fmt::format(" stopped={}", tag.stopped);
  if (tag.asked) text += " asked=" + ToText(*tag.asked);
  if (tag.plan) text += " plan=" + Replaced(*tag.plan, ' ', ',');
  for (std::size_t i = 0; i < tag.shares.size(); ++i) {
    const ShareTag& share = tag.shares[i];
    text += fmt::format("{}{}@{}:{:x}", i == 0 ? " shares=" : ",", share.worker, share.node,
                        share.gpus);
  }
  if (!tag.why.empty()) text += std::string(kWhy) + tag.why;
  return text;
}

std::string ToText(const WorkerTag& tag) {
  return fmt::format("{}{} job={} worker={} gpus={:x}", kWorkerTag, tag.user_job, tag.job,
                     tag.worker, tag.gpus);
}

std::optional<JobTag> ParseJobTag(std::string_view text) {
  const std::size_t why = text.find(kWhy);
  auto pairs = Pairs(text.substr(0, why), "allot");
  if (!pairs || (*pairs)["job"].empty()) return std::nullopt;
  JobTag tag;
  if (why != std::string_view::npos) tag.why = text.substr(why + kWhy.size());
  tag.job = (*pairs)["job"];
  tag.stopping = (*pairs)["stopping"] == "1";
  tag.failed = (*pairs)["failed"] == "1";
  tag.stopped = Parse<long long>((*pairs)["stopped"], 10).value_or(0);
  tag.asked = ParseAsked((*pairs)["asked"]);
  if (const std::string plan((*pairs)["plan"]); !plan.empty()) tag.plan = Replaced(plan, ',', ' ');
  if ((*pairs)["shares"].empty()) return tag;
  for (const std::string_view share : Split((*pairs)["shares"], ',')) {
    const std::size_t at = share.find('@');
    const std::size_t colon = share.rfind(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) {
      return std::nullopt;
    }
    const auto gpus = Parse<std::uint64_t>(share.substr(colon + 1), 16);
    if (!gpus) return std::nullopt;
    tag.shares.push_back({std::string(share.substr(0, at)),
                          std::string(share.substr(at + 1, colon - at - 1)), *gpus});
  }
  return tag;
}

std::optional<WorkerTag> ParseWorkerTag(std::string_view text) {
  if (!text.starts_with(kWorkerTag)) return std::nullopt;
  const std::string_view first = text.substr(0, text.find(' '));
  auto pairs = Pairs(text, first);
  if (!pairs) return std::nullopt;
  const auto user_job = Parse<std::uint32_t>(first.substr(kWorkerTag.size()), 10);
  const auto gpus = Parse<std::uint64_t>((*pairs)["gpus"], 16);
  if (!user_job || !gpus || !IsWorkerOf((*pairs)["worker"], (*pairs)["job"])) return std::nullopt;
  return WorkerTag{*user_job, std::string((*pairs)["job"]), std::string((*pairs)["worker"]), *gpus};
}

AskedTag AskedBy(const SlurmJob& slurm) {
  AskedTag asked{slurm.cpus_per_task, slurm.cpus_per_node, slurm.memory, slurm.constraint};
  std::erase_if(asked.constraint, [](unsigned char sign) { return std::isspace(sign) != 0; });
  return asked;
}

std::shared_ptr<const SlurmJob> AsAsked(std::shared_ptr<const SlurmJob> slurm, const JobTag& tag) {
  if (!tag.asked) return slurm;
  auto asked = std::make_shared<SlurmJob>(*slurm);
  asked->cpus_per_task = tag.asked->cpus_per_task;
  asked->cpus_per_node = tag.asked->cpus_per_node;
  asked->memory = tag.asked->memory;
  asked->constraint = tag.asked->constraint;
  return asked;
}

long long SecondOfRequeue(double requeued) {
  return static_cast<long long>(std::floor(requeued + kClockSkew));
}

bool IsSettling(const JobTag& tag, double now) {
  const auto second = static_cast<double>(tag.stopped);
  // By a clock that was set back since, it would have to wait for as long.
  const bool set_back = now < second - 1;
  return tag.stopping || (!set_back && now < second + 1 + kClockSkew);
}

std::string JobName(std::string_view known_as, long long submit) {
  return fmt::format("{}-{:x}", known_as, submit);
}

double SubmitTimeOf(std::string_view job_name) {
  const std::string_view digits = job_name.substr(job_name.find('-') + 1);
  return static_cast<double>(Parse<long long>(digits, 16).value_or(0));
}

}  // namespace allot
