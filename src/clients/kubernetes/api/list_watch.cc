#include "clients/kubernetes/api/list_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/strings.h"
#include "core/user_json.h"

namespace allot {
namespace {

constexpr int kPage = 500;
constexpr int kWatchSeconds = 290;                      // after which the server ends a watch
constexpr std::size_t kLongestEvent = 8 * 1024 * 1024;  // etcd's objects have at most 1.5 MiB
constexpr Seconds kFirstPause = 0.1;
constexpr Seconds kLongestPause = 10;
constexpr Seconds kMostPatience = 60;  // whatever a server asks for
constexpr Seconds kShortWatch = 1;     // one that ends sooner is no success
constexpr int kMostSilent = 3;         // watches without an event or a bookmark
constexpr Seconds kLongSilence = 120;  // a bookmark comes once a minute
constexpr long kGone = 410;

std::string Later(const std::string& known, const std::string& listed) {
  const auto a = ParseInteger(known);
  const auto b = ParseInteger(listed);
  return a && b && *a > *b ? known : listed;
}

}  // namespace

ListWatch::ListWatch(std::string path, std::string query, ObjectSink& sink)
    : path_(std::move(path)), query_(std::move(query)), sink_(sink) {}

std::optional<ListWatch::Ask> ListWatch::Next(Seconds now) {
  if (under_way_ || now < not_before_) return std::nullopt;
  under_way_ = true;
  wants_end_ = false;
  std::string path = path_ + "?" + query_ + (query_.empty() ? "" : "&");
  if (list_next_) {
    path += fmt::format("limit={}", kPage);
    if (!more_.empty()) path += "&continue=" + QueryText(more_);
    return Ask{std::move(path), false};
  }
  path += fmt::format("watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
                      kWatchSeconds, QueryText(version_));
  return Ask{std::move(path), true};
}

void ListWatch::Fail(std::string why, Seconds retry_after, Seconds now) {
  trouble_ = std::move(why);
  const Seconds pause = std::min(kLongestPause, kFirstPause * std::exp2(std::min(failures_, 20)));
  ++failures_;
  not_before_ = now + std::max(pause, std::min(retry_after, kMostPatience));
}

void ListWatch::ListAgain() {
  list_next_ = true;
  more_.clear();
  items_.clear();
}

bool ListWatch::OnList(const KubeReply& reply, Seconds now) {
  under_way_ = false;
  if (!reply.ok()) {
    if (reply.code == kGone) ListAgain();  // the pages took too long
    Fail(fmt::format("{}: {}", path_, reply.Text()), reply.retry_after, now);
    return false;
  }
  try {
    const nlohmann::json& meta = reply.body.at("metadata");
    const auto items = reply.body.find("items");
    if (items != reply.body.end() && !items->is_null()) {
      for (const nlohmann::json& item : *items) items_.push_back(item);
    }
    more_ = meta.value("continue", "");
    if (!more_.empty()) return false;
    version_ = meta.at("resourceVersion").get<std::string>();
    const bool changed = sink_.Replace(items_, VersionOf(reply.body)) || !listed_;
    items_.clear();
    listed_ = true;
    list_next_ = false;
    trouble_.clear();
    return changed;
  } catch (const nlohmann::json::exception& error) {
    ListAgain();
    Fail(fmt::format("{}: a list must be one of the API: {}", path_, error.what()), 0, now);
    return false;
  }
}

void ListWatch::OnOpen(Seconds now) {
  opened_ = now;
  heard_ = false;
  line_.clear();
  trouble_.clear();
}

bool ListWatch::OnBytes(std::string_view bytes, Seconds now) {
  bool changed = false;
  while (!wants_end_ && !bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > kLongestEvent) {
      wants_end_ = true;
      ListAgain();
      Fail(fmt::format("{}: an event must have at most {} bytes, got more", path_, kLongestEvent),
           0, now);
      line_.clear();
      return changed;
    }
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, "");
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    changed = OnLine(line, now) || changed;
  }
  return changed;
}

bool ListWatch::OnLine(std::string_view line, Seconds now) {
  try {
    JsonFault fault;
    const nlohmann::json event = ParseUserJson(line, &fault);
    if (event.is_discarded()) throw DataError("it {}", fault.rule);
    const std::string type = event.at("type").get<std::string>();
    const nlohmann::json& object = event.at("object");
    if (type == "ERROR") {
      wants_end_ = true;
      const long code = object.value("code", 0L);
      if (code == kGone) ListAgain();
      // What is known stays right until the list is there: too old is no trouble yet.
      const KubeReply reply = ReadKubeReply(code, object.dump());
      Fail(fmt::format("{}: {}", path_, reply.Text()), reply.retry_after, now);
      if (code == kGone && failures_ == 1) trouble_.clear();
      return false;
    }
    const std::string version = object.at("metadata").at("resourceVersion").get<std::string>();
    bool changed = false;
    if (type == "BOOKMARK") {
      sink_.Bookmark();
    } else if (type == "ADDED" || type == "MODIFIED") {
      changed = sink_.Put(object);
    } else if (type == "DELETED") {
      changed = sink_.Remove(object);
    } else {
      throw DataError("the type must be one of the API's, got '{}'", type);
    }
    version_ = Later(version_, version);
    failures_ = silent_ = 0;
    heard_ = true;
    reported_ = false;
    return changed;
  } catch (const std::exception& error) {
    wants_end_ = true;
    ListAgain();
    Fail(fmt::format("{}: a line must be an event of the API: {}", path_, error.what()), 0, now);
    return false;
  }
}

// Half a line is dropped with its stream: the next one begins behind the last whole event.
void ListWatch::OnEnd(Seconds now) {
  under_way_ = false;
  line_.clear();
  if (wants_end_) return;  // its pause is set
  const Seconds open = now - opened_;
  if (!heard_ && (++silent_ >= kMostSilent || open >= kLongSilence)) {
    ListAgain();
    if (!std::exchange(reported_, true)) {
      spdlog::warn(
          "{}: the API server's watches end without an event or a bookmark: listing anew "
          "before each watch",
          path_);
    }
  }
  if (open < (heard_ ? kShortWatch : kLongestPause)) return Fail("", 0, now);
  failures_ = 0;
  not_before_ = now;
}

void ListWatch::OnRefused(const KubeReply& reply, Seconds now) {
  under_way_ = false;
  if (reply.code == kGone) ListAgain();
  Fail(fmt::format("{}: {}", path_, reply.Text()), reply.retry_after, now);
}

}  // namespace allot
