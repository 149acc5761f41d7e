#include "live/daemon/metrics_server.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/strings.h"

namespace allot {
namespace {

constexpr Seconds kForARequest = 5;
constexpr std::size_t kMostClients = 16;  // each of them may leave an answer unread
constexpr std::size_t kLongestAnswer = 64 << 20;

}  // namespace

MetricsServer::MetricsServer(const std::string& address)
    : server_(address,
              {.line = [this](const auto& client, const std::string& line) { Read(client, line); },
               .refused = [](const auto&, const std::string&) {},
               .closed = [this](const auto& client) { request_lines_.erase(client); }},
              {.introduction = kForARequest,
               .strangers = kMostClients,
               .strangers_a_peer = kMostClients,
               .unread = kLongestAnswer}),
      metrics_(std::make_shared<const std::string>()),
      thread_([this] {
        while (!over_) server_.Serve(1, [this] { return over_.load(); });
      }) {}

MetricsServer::~MetricsServer() {
  over_ = true;
  server_.Post([] {});
  thread_.join();
}

void MetricsServer::Publish(std::string metrics) {
  auto shared = std::make_shared<const std::string>(std::move(metrics));
  const std::lock_guard lock(mutex_);
  metrics_.swap(shared);
}

// An empty line ends the headers of a request.
void MetricsServer::Read(const LineServer::ConnectionPtr& client, std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  const auto [request, first] = request_lines_.try_emplace(client, line);
  if (first || !line.empty()) return;
  Answer(client, request->second);
  server_.Close(client);
}

void MetricsServer::Answer(const LineServer::ConnectionPtr& client,
                           const std::string& request_line) {
  const std::vector<std::string_view> words = Split(request_line, ' ');
  const std::string_view method = words[0];
  std::string_view path = words.size() == 3 ? words[1] : "";
  path = path.substr(0, path.find('?'));
  const bool known = path == "/" || path == "/metrics";
  const bool allowed = method == "GET" || method == "HEAD";
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  if (known && allowed) {
    const std::lock_guard lock(mutex_);
    body = metrics_;
  }
  std::string answer = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      !known     ? "404 Not Found"
      : !allowed ? "405 Method Not Allowed\r\nAllow: GET, HEAD"
                 : "200 OK",
      body->size(), method == "HEAD" ? "" : *body);
  answer.pop_back();  // Send adds the end of the last line
  server_.Send(client, answer);
}

}  // namespace allot
