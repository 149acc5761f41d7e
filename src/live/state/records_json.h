#pragma once
// The one place that knows how a journal writes its records: a JSON object {"at": seconds, "what":
// kind, ...fields}. Later versions add fields; those of a later version are ignored.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "live/state/records.h"

namespace allot {

std::string_view KindOf(const JournalRecord& record);
std::string FieldsText(const JournalRecord& record);  // JSON, for people
nlohmann::ordered_json ToJson(const TimedRecord& record);

// DataError, naming the rule and the value, unless `json` is such an object. Kinds that do not
// exist yet are record::Other.
TimedRecord RecordFrom(const nlohmann::ordered_json& json);

}  // namespace allot
