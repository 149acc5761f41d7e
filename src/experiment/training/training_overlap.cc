#include "experiment/training/training_overlap.h"

#include <algorithm>
#include <map>

#include "experiment/sources.h"
#include "workload/calendar.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

class TraceWindows {
 public:
  // True if two sources that may share jobs do share some.
  TrainingOverlap Compare(const nlohmann::json& there, const nlohmann::json& here) {
    const std::string workload = TextOf(there, "workload");
    if (workload.empty() || workload != TextOf(here, "workload")) return TrainingOverlap::kNotKnown;
    const auto [there_from, there_to] = Bounds(there);
    const auto [here_from, here_to] = Bounds(here);
    return there_to <= here_from || here_to <= there_from ? TrainingOverlap::kUnseen
                                                          : TrainingOverlap::kSeen;
  }

 private:
  static std::string TextOf(const nlohmann::json& source, const char* key) {
    const auto found = source.find(key);
    return found != source.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  std::pair<Seconds, Seconds> Bounds(const nlohmann::json& source) {
    const auto when = [&](const char* key, Seconds otherwise) {
      const std::string text = TextOf(source, key);
      return text.empty() ? otherwise : ParseWhen(Trace(source), text);
    };
    return {when("from", 0), when("to", kNever)};
  }

  const Workload& Trace(const nlohmann::json& source) {
    const std::string name = TextOf(source, "workload");
    const auto known = traces_.find(name);
    return known != traces_.end()
               ? known->second
               : traces_
                     .emplace(name, ReadTrace(name, "auto", {.columns = TextOf(source, "columns")}))
                     .first->second;
  }

  std::map<std::string, Workload> traces_;
};

}  // namespace

TrainingOverlap TrainingOverlapOf(const nlohmann::json& config, World& world) {
  TraceWindows windows;
  bool all_known = true;
  const nlohmann::json sources = SourcesOfCheckpoint(config);
  const nlohmann::json played = SourcesOf(world);
  for (const nlohmann::json& there : sources) {
    for (const nlohmann::json& here : played) {
      const TrainingOverlap training_overlap = windows.Compare(there, here);
      if (training_overlap == TrainingOverlap::kSeen) return training_overlap;
      all_known = all_known && training_overlap == TrainingOverlap::kUnseen;
    }
  }
  return all_known && !sources.empty() ? TrainingOverlap::kUnseen : TrainingOverlap::kNotKnown;
}

}  // namespace allot
