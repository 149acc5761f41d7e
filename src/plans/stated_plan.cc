#include "plans/stated_plan.h"

#include <fmt/format.h>

#include <map>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr long long kMostOfAPart = 1 << 24;

// The parts of one text by their keys. What is left at the end is unknown.
class Parts {
 public:
  Parts(std::string_view text, std::string_view where) : text_(text), where_(where) {
    for (const std::string_view part : Split(Trim(text), ' ')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) Refuse("parts 'key=value'");
      const std::string key(part.substr(0, equals));
      if (!values_.emplace(key, part.substr(equals + 1)).second) Refuse("one '" + key + "'");
    }
  }

  std::string_view Take(const char* key) {
    const auto found = values_.find(key);
    if (found == values_.end()) Refuse(fmt::format("a part '{}'", key));
    const std::string_view value = found->second;
    values_.erase(found);
    return value;
  }
  int TakeWhole(const char* key, int least = 1) {
    const std::optional<long long> value = ParseInteger(Take(key));
    if (!value || *value < least || *value > kMostOfAPart) {
      Refuse(fmt::format("a whole number from {} as '{}'", least, key));
    }
    return static_cast<int>(*value);
  }
  void RequireEmpty() const {
    if (!values_.empty()) Refuse("no part '" + values_.begin()->first + "'");
  }
  [[noreturn]] void Refuse(const std::string& rule) const {
    throw DataError("a plan must have {}, got '{}' ({})", rule, text_, where_);
  }

 private:
  std::string_view text_;
  std::string_view where_;
  std::map<std::string, std::string_view> values_;
};

}  // namespace

std::string TextOf(const StatedPlan& stated) {
  return fmt::format("{} global_batch={} layers={}", TextOf(stated.plan), stated.batch,
                     stated.layers);
}

StatedPlan ParsePlan(std::string_view text, std::string_view where) {
  Parts parts(text, where);
  StatedPlan stated;
  Plan& plan = stated.plan;
  plan.data = parts.TakeWhole("dp");
  plan.tensor = parts.TakeWhole("tp");
  plan.pipeline = parts.TakeWhole("pp");
  plan.interleave = parts.TakeWhole("vp");
  plan.context = parts.TakeWhole("cp");
  plan.expert = parts.TakeWhole("ep");
  plan.zero = parts.TakeWhole("zero", 0);
  plan.micro_batch = parts.TakeWhole("micro_batch");
  plan.recompute = ParseRecompute(parts.Take("recompute"), where);
  stated.batch = parts.TakeWhole("global_batch");
  stated.layers = parts.TakeWhole("layers");
  parts.RequireEmpty();
  if (stated.batch % (static_cast<long long>(plan.data) * plan.micro_batch) != 0) {
    parts.Refuse("a 'global_batch' that 'dp' x 'micro_batch' divides");
  }
  return stated;
}

}  // namespace allot
