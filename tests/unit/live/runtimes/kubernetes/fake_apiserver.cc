#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/live/runtimes/kubernetes/fake_http.h"
#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"
#include "tests/unit/live/runtimes/kubernetes/fake_rights.h"

namespace allot {
namespace {

using Json = nlohmann::json;

}  // namespace

struct FakeApiServer::Impl {
  struct Event {
    std::uint64_t version;
    std::string type;
    Json object;
  };
  struct Fault {
    std::string match;
    long code;
    Json status;
    int times;
  };

  ~Impl() { Stop(); }

  // ---- sockets ----

  void Listen() {
    listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener, 64) != 0) {
      throw std::runtime_error("the fake API server cannot listen");
    }
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    up = true;
    acceptor = std::thread([this] { Accept(); });
  }

  void Accept() {
    while (true) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex);
      if (!up) {
        if (socket >= 0) ::close(socket);
        return;
      }
      if (socket < 0) continue;
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      sockets.insert(socket);
      threads.emplace_back([this, socket] { Serve(socket); });
    }
  }

  void Stop() {
    std::vector<std::thread> old;
    {
      const std::lock_guard lock(mutex);
      if (!up) return;
      up = false;
      for (const int socket : sockets) ::shutdown(socket, SHUT_RDWR);
      ::shutdown(listener, SHUT_RDWR);
      changed.notify_all();
    }
    acceptor.join();
    ::close(listener);
    {
      const std::lock_guard lock(mutex);
      old.swap(threads);
    }
    for (std::thread& thread : old) thread.join();
  }

  void Serve(int socket) {
    std::string buffer;
    FakeRequest request;
    while (ReadFakeRequest(socket, &buffer, &request)) {
      if (!Handle(socket, request)) break;
      request = {};
    }
    const std::lock_guard lock(mutex);
    sockets.erase(socket);
    ::close(socket);
  }

  static bool Answer(int socket, long code, const Json& body) {
    const std::string text = body.dump();
    return SendText(socket, fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\n"
                                        "Content-Length: {}\r\n\r\n{}",
                                        code, text.size(), text));
  }
  static bool AnswerRefusal(int socket, const FakeRefusal& refusal) {
    return Answer(socket, refusal.code, refusal.ToJson());
  }

  // ---- requests ----

  bool Handle(int socket, const FakeRequest& request) {
    const FakePath path = ReadFakePath(request.path);
    std::unique_lock lock(mutex);
    const std::string line =
        request.method + " " + request.path + (request.query.contains("watch") ? "?watch" : "");
    requests.push_back(line);
    for (Fault& fault : faults) {
      if (fault.times == 0 || line.find(fault.match) == std::string::npos) continue;
      --fault.times;
      return Answer(socket, fault.code, fault.status);
    }
    if (!expected.empty() && request.token != expected) {
      return AnswerRefusal(socket, {401, "Unauthorized", "Unauthorized"});
    }
    if (path.kind == "selfsubjectaccessreviews") {  // everybody may ask what he may
      return Answer(socket, 201, AccessReview(Json::parse(request.body)));
    }
    const bool watch = request.query.contains("watch");
    if (!rights.Allow(watch ? "WATCH" : request.method, path)) {
      return AnswerRefusal(socket, {403, "Forbidden", line + " is forbidden"});
    }
    if (watch) {
      lock.unlock();
      return Watch(socket, path, request);
    }
    try {
      if (request.method == "GET" && path.name.empty())
        return Answer(socket, 200, List(path, request));
      if (request.method == "GET") return Answer(socket, 200, Known(path));
      const Json body = request.body.empty() ? Json::object() : Json::parse(request.body);
      if (path.kind == "tokenreviews") return Answer(socket, 201, TokenReview(body));
      if (request.method == "POST") return Answer(socket, 201, Create(path, body));
      if (request.method == "PATCH") return Answer(socket, 200, Patch(path, request, body));
      if (request.method == "DELETE") return Answer(socket, 200, Delete(path, body));
      throw FakeRefusal{405, "MethodNotAllowed", request.method};
    } catch (const FakeRefusal& refusal) {
      return AnswerRefusal(socket, refusal);
    }
  }

  Json AccessReview(const Json& review) {
    const Json& what = review.at("spec").at("resourceAttributes");
    const std::string right =
        what.at("verb").get<std::string>() + " " + what.at("resource").get<std::string>();
    return {{"status", {{"allowed", rights.Has(right)}}}};
  }

  // Tokens are FakeToken's.
  Json TokenReview(const Json& review) {
    const std::string token = review.at("spec").at("token");
    for (const auto& [key, pod] : objects["pods"]) {
      const std::string uid = pod.at("metadata").at("uid");
      if (token != FakeToken(uid)) continue;
      return {{"status",
               {{"authenticated", true},
                {"audiences", review.at("spec").at("audiences")},
                {"user",
                 {{"extra", {{"authentication.kubernetes.io/pod-uid", Json::array({uid})}}}}}}}};
    }
    return {{"status", {{"user", Json::object()}, {"error", "[invalid bearer token]"}}}};
  }

  Json& Known(const FakePath& path) {
    const auto found = objects[path.kind].find(path.Key());
    if (found == objects[path.kind].end()) {
      throw FakeRefusal{404, "NotFound", fmt::format("{} \"{}\" not found", path.kind, path.name)};
    }
    return found->second;
  }

  Json List(const FakePath& path, const FakeRequest& request) {
    std::size_t from = 0;
    if (const auto token = request.query.find("continue"); token != request.query.end()) {
      if (token->second.substr(0, token->second.find('/')) != std::to_string(pages_of)) {
        throw FakeRefusal{410, "Expired", "The provided continue parameter is too old"};
      }
      from = std::stoul(token->second.substr(token->second.find('/') + 1));
    }
    std::size_t most = request.query.contains("limit") ? std::stoul(request.query.at("limit")) : 0;
    if (page > 0) most = page;
    Json items = Json::array();
    std::size_t at = 0;
    Json meta = {{"resourceVersion", std::to_string(version)}};
    for (const auto& [key, object] : objects[path.kind]) {
      if (!Selected(object, path, request.query) || at++ < from) continue;
      if (most > 0 && items.size() == most) {
        meta["continue"] = fmt::format("{}/{}", pages_of, at - 1);
        break;
      }
      items.push_back(object);
    }
    return {{"kind", "List"}, {"apiVersion", "v1"}, {"metadata", meta}, {"items", items}};
  }

  Json Create(const FakePath& path, Json object) {
    FakePath own = path;
    own.name = object.at("metadata").at("name").get<std::string>();
    if (objects[path.kind].contains(own.Key())) {
      throw FakeRefusal{409, "AlreadyExists",
                        fmt::format("{} \"{}\" already exists", path.kind, own.name)};
    }
    FillNew(path.kind, ++uids, &object);
    return Store(path.kind, own.Key(), "ADDED", std::move(object));
  }

  Json Patch(const FakePath& path, const FakeRequest& request, const Json& patch) {
    Json object = Known(path);
    CheckVersion(object, patch);
    const Json uid = patch.value("metadata", Json::object()).value("uid", Json());
    if (!uid.is_null() && uid != object.at("metadata").at("uid")) {
      throw FakeRefusal{422, "Invalid", "metadata.uid: field is immutable"};
    }
    Json after = object;
    if (path.sub == "status") {
      after["status"].merge_patch(patch.value("status", Json::object()));
      if (path.kind == "jobs") CheckJobStatus(object, after);
    } else {
      after.merge_patch(patch);
      after["status"] = object["status"];
      if (path.kind == "jobs") ChangeJobSpec(object, request.query, &after);
    }
    return Store(path.kind, path.Key(), "MODIFIED", std::move(after));
  }

  Json Delete(const FakePath& path, const Json& how) {
    Json object = Known(path);
    const std::string uid = object.at("metadata").at("uid");
    const Json wanted = how.value("preconditions", Json::object()).value("uid", Json(uid));
    if (wanted != uid) throw FakeRefusal{409, "Conflict", "the UID in the precondition differs"};
    const int grace = how.value("gracePeriodSeconds", GraceOf(object));
    if (path.kind == "pods" && IsOnNode(object) && grace > 0) {
      const Json before = object;
      object["metadata"]["deletionTimestamp"] = "2026-11-22T12:41:57Z";
      object["metadata"]["deletionGracePeriodSeconds"] =
          std::min(grace, before["metadata"].value("deletionGracePeriodSeconds", grace));
      return Store("pods", path.Key(), "MODIFIED", std::move(object));
    }
    Erase(path.kind, path.Key());
    if (path.kind != "pods") {
      return {{"kind", "Status"}, {"status", "Success"}, {"metadata", Json::object()}};
    }
    object["metadata"].erase("resourceVersion");  // as the real one answers
    return object;
  }

  Json Store(const std::string& kind, const std::string& key, const char* type, Json object) {
    const auto known = objects[kind].find(key);
    if (known != objects[kind].end() && known->second == object) return object;  // no event
    object["metadata"]["resourceVersion"] = std::to_string(++version);
    objects[kind][key] = object;
    events[kind].push_back({version, type, object});
    changed.notify_all();
    return object;
  }

  void Erase(const std::string& kind, const std::string& key) {
    const auto found = objects[kind].find(key);
    if (found == objects[kind].end()) return;
    Json object = std::move(found->second);
    objects[kind].erase(found);
    object["metadata"]["resourceVersion"] = std::to_string(++version);
    const std::string uid = object["metadata"]["uid"];
    events[kind].push_back({version, "DELETED", std::move(object)});
    changed.notify_all();
    if (kind != "jobs") return;
    std::vector<FakePath> owned;  // as the garbage collector does it
    for (const auto& [name, pod] : objects["pods"]) {
      if (OwnerOf(pod) == uid) owned.push_back({"pods", "", name, ""});
    }
    for (const FakePath& pod : owned) (void)Delete(pod, Json::object());
  }

  bool Watch(int socket, const FakePath& path, const FakeRequest& request) {
    if (!SendText(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) return false;
    std::uint64_t seen = std::stoull(request.query.at("resourceVersion"));
    std::unique_lock lock(mutex);
    if (seen < compacted) {
      const Json gone = FakeRefusal{410, "Expired", "too old resource version"}.ToJson();
      const std::string line = Json({{"type", "ERROR"}, {"object", gone}}).dump() + "\n";
      return SendText(socket, Chunk(line) + "0\r\n\r\n");
    }
    const int begun = cuts;
    std::uint64_t marked = 0;
    while (up && cuts == begun) {
      std::vector<std::string> lines;
      for (const Event& event : events[path.kind]) {
        if (event.version <= seen) continue;
        seen = event.version;
        if (!Selected(event.object, path, request.query)) continue;
        lines.push_back(Json({{"type", event.type}, {"object", event.object}}).dump() + "\n");
      }
      if (reorder) std::reverse(lines.begin(), lines.end());
      if (lines.empty() && marked < seen) {
        marked = seen;
        const Json mark = {{"metadata", {{"resourceVersion", std::to_string(seen)}}}};
        lines.push_back(Json({{"type", "BOOKMARK"}, {"object", mark}}).dump() + "\n");
      }
      if (lines.empty()) {
        changed.wait(lock);
        continue;
      }
      const bool split = split_lines;
      lock.unlock();
      for (const std::string& line : lines) {
        if (!SendLine(socket, line, split)) return false;
      }
      lock.lock();
    }
    if (cut_within_a_line) SendText(socket, Chunk(R"({"type":"MODIFIED","object":{"meta)"));
    return false;
  }

  static bool SendLine(int socket, const std::string& line, bool split) {
    if (!split) return SendText(socket, Chunk(line));
    constexpr std::size_t kFew = 97;
    for (std::size_t at = 0; at < line.size(); at += kFew) {
      if (!SendText(socket, Chunk(line.substr(at, kFew)))) return false;
    }
    return true;
  }

  mutable std::mutex mutex;
  std::condition_variable changed;
  int listener = -1;
  int port = 0;
  bool up = false;
  std::set<int> sockets;
  std::thread acceptor;
  std::vector<std::thread> threads;

  std::map<std::string, std::map<std::string, Json>> objects;  // kind, key
  std::map<std::string, std::vector<Event>> events;
  std::uint64_t version = 100;
  std::uint64_t compacted = 0;
  int uids = 0;
  std::vector<std::string> requests;

  FakeRights rights;
  std::string expected;  // token
  std::vector<Fault> faults;
  int cuts = 0;
  int pages_of = 0;
  std::size_t page = 0;
  bool cut_within_a_line = false;
  bool split_lines = false;
  bool reorder = false;
};

FakeApiServer::FakeApiServer() : impl_(std::make_unique<Impl>()) { impl_->Listen(); }
FakeApiServer::~FakeApiServer() = default;

std::string FakeApiServer::url() const { return fmt::format("http://127.0.0.1:{}", impl_->port); }

void FakeApiServer::Restrict(const std::string& file) {
  const std::lock_guard lock(impl_->mutex);
  impl_->rights = file.empty() ? FakeRights() : FakeRights(file);
}

std::vector<std::string> FakeApiServer::UnusedRights() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->rights.Unused();
}

void FakeApiServer::Expect(const std::string& token) {
  const std::lock_guard lock(impl_->mutex);
  impl_->expected = token;
}

Json FakeApiServer::Create(const std::string& kind, Json object) {
  const std::lock_guard lock(impl_->mutex);
  FakePath path{kind, object["metadata"].value("namespace", ""), "", ""};
  return impl_->Create(path, std::move(object));
}

Json FakeApiServer::Get(const std::string& kind, const std::string& name) const {
  const std::lock_guard lock(impl_->mutex);
  const auto& known = impl_->objects[kind];
  const auto found = known.find(name);
  return found == known.end() ? Json() : found->second;
}

bool FakeApiServer::Update(const std::string& kind, const std::string& name,
                           const std::function<void(Json&)>& change) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->objects[kind].find(name);
  if (found == impl_->objects[kind].end()) return false;
  Json after = found->second;
  change(after);
  impl_->Store(kind, name, "MODIFIED", std::move(after));
  return true;
}

void FakeApiServer::Remove(const std::string& kind, const std::string& name) {
  const std::lock_guard lock(impl_->mutex);
  impl_->Erase(kind, name);
}

void FakeApiServer::ForEach(const std::string& kind,
                            const std::function<void(const Json&)>& each) const {
  std::map<std::string, Json> copy;
  {
    const std::lock_guard lock(impl_->mutex);
    copy = impl_->objects[kind];
  }
  for (const auto& [name, object] : copy) each(object);
}

void FakeApiServer::Refuse(const std::string& match, long code, Json status, int times) {
  const std::lock_guard lock(impl_->mutex);
  impl_->faults.push_back({match, code, std::move(status), times});
}

void FakeApiServer::CutWatches(bool within_a_line) {
  const std::lock_guard lock(impl_->mutex);
  ++impl_->cuts;
  impl_->cut_within_a_line = within_a_line;
  impl_->changed.notify_all();
}

void FakeApiServer::SplitLines(bool on) {
  const std::lock_guard lock(impl_->mutex);
  impl_->split_lines = on;
}

void FakeApiServer::Reorder(bool on) {
  const std::lock_guard lock(impl_->mutex);
  impl_->reorder = on;
}

void FakeApiServer::Compact() {
  const std::lock_guard lock(impl_->mutex);
  impl_->compacted = ++impl_->version;
}

void FakeApiServer::ExpirePages() {
  const std::lock_guard lock(impl_->mutex);
  ++impl_->pages_of;
}

void FakeApiServer::SetPage(std::size_t most) {
  const std::lock_guard lock(impl_->mutex);
  impl_->page = most;
}

void FakeApiServer::Down() { impl_->Stop(); }
void FakeApiServer::Up() { impl_->Listen(); }

std::vector<std::string> FakeApiServer::Requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

int FakeApiServer::Count(const std::string& match) const {
  const std::vector<std::string> all = Requests();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const std::string& line) {
    return line.find(match) != std::string::npos;
  }));
}

}  // namespace allot
