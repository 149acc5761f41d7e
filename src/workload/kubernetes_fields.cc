#include "workload/kubernetes_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "core/user_json.h"
#include "table/json_records.h"
#include "table/row_error.h"

namespace allot {
namespace {

using KubeJson = nlohmann::json;

// One of the documents that follow one another in a file.
struct KubeDocument {
  std::size_t end = 0;  // in the text
  std::string_view kind;
  bool has_metadata = false;
  std::optional<std::pair<std::size_t, std::size_t>> items;  // the brackets of the list
};

// The document that begins with the '{' at `begin`; nullopt where the text ends inside of it.
std::optional<KubeDocument> ScanDocument(std::string_view text, std::size_t begin) {
  const auto object = ScanJsonObject(text, begin);
  if (!object) return std::nullopt;
  KubeDocument document;
  document.end = object->end;
  for (const auto& [key, value] : object->members) {
    if (key == "metadata") document.has_metadata = true;
    if (key == "kind" && value.size() > 1 && value.front() == '"') {
      document.kind = value.substr(1, value.size() - 2);
    }
    if (key == "items" && value.starts_with('[')) {
      const auto open = static_cast<std::size_t>(value.data() - text.data());
      document.items = {open, open + value.size() - 1};
    }
  }
  return document;
}

// The kind of the items of a list, which the API leaves out in a JobList: "Job"; "" where it does
// not say.
std::string_view KindOfItems(std::string_view kind) {
  constexpr std::string_view kListOf = "List";
  return kind.ends_with(kListOf) ? kind.substr(0, kind.size() - kListOf.size()) : "";
}

int NewLines(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void ForEachKubernetesObject(
    std::string_view text, const std::string& path, std::string_view advice,
    const std::function<void(int line, const std::function<KubeJson()>& parse)>& each) {
  constexpr std::string_view kBlank = " \t\r\n";
  int line = 1;
  std::size_t at = 0;
  const auto skip_to = [&](std::size_t next) {
    line += NewLines(text.substr(at, next - at));
    at = next;
  };
  do {
    skip_to(std::min(text.find_first_not_of(kBlank, at), text.size()));
    const auto document =
        text.substr(at, 1) == "{" ? ScanDocument(text, at) : std::optional<KubeDocument>();
    if (!document || (!document->items && (document->kind.empty() || !document->has_metadata))) {
      throw DataError(
          "a file of kubectl must hold a list with items, or objects, one after the other, got {} "
          "({}:{}); {}",
          at < text.size() ? Quoted(text.substr(at, 40)) : "the end of the file", path, line,
          advice);
    }
    if (document->items) {
      const auto [open, close] = *document->items;
      JsonRecords records(text.substr(0, close + 1), path, open,
                          line + NewLines(text.substr(at, open - at)));
      const std::string_view kind = KindOfItems(document->kind);
      while (records.Next()) {
        each(records.line(), [&] {
          KubeJson object = records.Parse();
          if (!kind.empty() && object.is_object()) object.emplace("kind", kind);
          return object;
        });
      }
    } else {
      const std::string_view single = text.substr(at, document->end - at);
      each(line, [&] {
        JsonFault fault;
        KubeJson object = ParseUserJson(single, &fault);
        if (!object.is_discarded()) return object;
        throw RowError("an object " + fault.rule, Quoted(single.substr(fault.byte, 20)),
                       fmt::format("{}:{}", path, line + NewLines(single.substr(0, fault.byte))));
      });
    }
    skip_to(document->end);
  } while (text.find_first_not_of(kBlank, at) != std::string_view::npos);
}

bool LooksLikeKubernetes(std::string_view text, std::string_view word) {
  text = text.substr(0, 64 * std::size_t{1024});
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' &&
         text.find("\"apiVersion\"") != std::string_view::npos &&
         text.find(word) != std::string_view::npos;
}

}  // namespace allot
