#include "live/worker_hub.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/json_text.h"
#include "live/listen.h"

namespace allot {
namespace {

using Message = nlohmann::json;

constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kMostConnections = 16 * 1024;

double Monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// In time that does not tell how much of it was right.
bool SameSecret(const std::string& a, const std::string& b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return different == 0;
}

}  // namespace

std::string NewToken() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw RunError("the system has no random numbers: {}", SystemMessage());
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

struct WorkerHub::Impl {
  struct Connection {
    int socket = -1;
    std::string worker;  // "": has not joined
    std::string in;
    std::string out;
    bool closing = false;  // once `out` is written
  };
  struct Worker {
    std::string job;
    Connection* connection = nullptr;
    bool joined = false;
    bool stop = false;
    std::string address;
    std::int64_t epoch = -1;  // that it trains in
    std::int64_t broken = -1;
    double heard = 0;
  };
  struct Job {
    std::string token;
    Membership membership{-1, {}};
    JobProgress progress;
    bool finished = false;
    std::set<std::string> workers;
  };

  ~Impl() {
    for (const auto& connection : connections) ::close(connection->socket);
    if (listener >= 0) ::close(listener);
    if (!path.empty()) ::unlink(path.c_str());
  }

  static void Send(Connection* connection, const Message& message) {
    if (connection == nullptr) return;
    connection->out += JsonText(message, -1) + "\n";
    Flush(connection);
  }

  static void Flush(Connection* connection) {
    while (!connection->out.empty()) {
      const ssize_t sent = ::send(connection->socket, connection->out.data(),
                                  connection->out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (sent < 0) {
        connection->out.clear();
        connection->closing = true;
        return;
      }
      connection->out.erase(0, static_cast<std::size_t>(sent));
    }
  }

  void SendEpoch(const Job& job, Connection* connection) const {
    if (job.membership.epoch < 0) return;
    Message addresses = Message::array();
    for (const std::string& member : job.membership.members) {
      const auto found = workers.find(member);
      addresses.push_back(found == workers.end() ? "" : found->second.address);
    }
    Send(connection, {{"say", "epoch"},
                      {"epoch", job.membership.epoch},
                      {"members", job.membership.members},
                      {"addresses", std::move(addresses)}});
  }

  static void Refuse(Connection* connection, const std::string& why) {
    spdlog::warn("a worker's connection is refused: {}", why);
    Send(connection, {{"say", "refused"}, {"why", why}});
    connection->closing = true;
  }

  void Join(Connection* connection, const Message& message) {
    const std::string id = message.at("worker");
    const std::string job_id = message.at("job");
    const auto job = jobs.find(job_id);
    const auto worker = workers.find(id);
    if (job == jobs.end() || worker == workers.end() || worker->second.job != job_id ||
        !SameSecret(job->second.token, message.at("token"))) {
      Refuse(connection, "no such job, worker or token");
      return;
    }
    Worker& w = worker->second;
    if (w.connection != nullptr) {  // the old one is dead or will be
      w.connection->worker.clear();
      w.connection->closing = true;
    }
    connection->worker = id;
    w.connection = connection;
    w.joined = true;
    w.heard = Monotonic();
    w.address = message.value("address", "");
    w.epoch = message.value("epoch", std::int64_t{-1});
    job->second.progress.step =
        std::max(job->second.progress.step, message.value("step", std::int64_t{0}));
    Send(connection, {{"say", "welcome"}});
    SendEpoch(job->second, connection);
    if (w.stop) Send(connection, {{"say", "stop"}});
  }

  // True for what is more than mere progress.
  bool Hear(Connection* connection, const Message& message) {
    const std::string say = message.at("say");
    if (connection->worker.empty()) {
      if (say == "join") {
        Join(connection, message);
      } else {
        Refuse(connection, "a connection begins with 'join'");
      }
      return true;
    }
    Worker& worker = workers.at(connection->worker);
    Job& job = jobs.at(worker.job);
    worker.heard = Monotonic();
    const auto number = [&message](const char* key, double* value) {
      const auto found = message.find(key);
      if (found != message.end() && found->is_number()) *value = found->get<double>();
    };
    const std::int64_t epoch = message.value("epoch", worker.epoch);
    if (say == "progress" || say == "reached" || say == "saved" || say == "finished") {
      if (say != "saved") worker.epoch = epoch;
      if (epoch < job.membership.epoch && say == "progress") return false;  // of a group that was
      if (job.finished && say != "finished") return false;
      const auto& members = job.membership.members;
      const bool leads = members.empty() || members.front() == connection->worker;
      if ((leads && say != "saved") || say == "finished") {
        job.progress.step = message.value("step", job.progress.step);
      }
      number("work", say == "saved" ? &job.progress.saved_work : &job.progress.work);
      number("rate", &job.progress.rate);
      number("total", &job.progress.total_work);
      number("noise", &job.progress.noise_scale);
      number("loss", &job.progress.loss);
      if (say == "finished") {
        if (!std::exchange(job.finished, true) && on_finished) on_finished(worker.job);
        Send(connection, {{"say", "acknowledged"}});
      }
      return say != "progress";
    }
    if (say == "broken") {
      worker.broken = std::max(worker.broken, epoch);
      return true;
    }
    Refuse(connection, fmt::format("'say' must be one of the protocol, got '{}'", say));
    return true;
  }

  bool Read(Connection* connection) {
    std::array<char, 16384> buffer;
    bool important = false;
    while (!connection->closing) {
      const ssize_t got = ::recv(connection->socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) {
        connection->closing = true;
        connection->out.clear();
        return true;
      }
      connection->in.append(buffer.data(), static_cast<std::size_t>(got));
      std::size_t end = 0;
      while (!connection->closing && (end = connection->in.find('\n')) != std::string::npos) {
        const std::string line = connection->in.substr(0, end);
        connection->in.erase(0, end + 1);
        try {
          important = Hear(connection, Message::parse(line)) || important;
        } catch (const Message::exception& error) {
          Refuse(connection, fmt::format("a line is a message of the protocol: {}", error.what()));
        }
      }
      if (connection->in.size() > kLongestLine) {
        Refuse(connection, fmt::format("a line has at most {} bytes", kLongestLine));
      }
    }
    return important;
  }

  void Accept() {
    while (true) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) return;
      if (connections.size() >= kMostConnections) {
        ::close(socket);
        continue;
      }
      connections.push_back(std::make_unique<Connection>());
      connections.back()->socket = socket;
    }
  }

  void CloseDone() {
    std::erase_if(connections, [this](const std::unique_ptr<Connection>& connection) {
      if (!connection->closing || !connection->out.empty()) return false;
      const auto worker = workers.find(connection->worker);
      if (worker != workers.end() && worker->second.connection == connection.get()) {
        worker->second.connection = nullptr;
      }
      ::close(connection->socket);
      return true;
    });
  }

  int listener = -1;
  std::function<void(const std::string&)> on_finished;
  std::string address;
  std::string path;  // of a unix socket
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<std::string, Worker> workers;
  std::map<std::string, Job> jobs;
};

WorkerHub::WorkerHub(const std::string& address) : impl_(std::make_unique<Impl>()) {
  impl_->listener = Listen(address, &impl_->address);
  if (address.starts_with("unix:")) {
    impl_->path = address.substr(5);
  }
}

WorkerHub::~WorkerHub() = default;

const std::string& WorkerHub::address() const { return impl_->address; }

void WorkerHub::AddJob(const std::string& job, const std::string& token) {
  Impl::Job& known = impl_->jobs[job];
  if (known.token.empty()) known.token = token;
}

void WorkerHub::RemoveJob(const std::string& job) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return;
  const std::set<std::string> workers = found->second.workers;
  for (const std::string& worker : workers) RemoveWorker(worker);
  impl_->jobs.erase(found);
}

void WorkerHub::Expect(const std::string& job, const std::string& worker) {
  const auto [known, is_new] = impl_->workers.try_emplace(worker);
  if (is_new) known->second.heard = Monotonic();
  known->second.job = job;
  impl_->jobs.at(job).workers.insert(worker);
}

void WorkerHub::RemoveWorker(const std::string& worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return;
  if (found->second.connection != nullptr) {
    found->second.connection->worker.clear();
    found->second.connection->closing = true;
  }
  impl_->jobs.at(found->second.job).workers.erase(worker);
  impl_->workers.erase(found);
}

bool WorkerHub::Announce(const std::string& job, const Membership& membership) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return false;
  Membership& latest = found->second.membership;
  if (membership.epoch < latest.epoch) return false;
  if (membership.epoch == latest.epoch) return true;
  latest = membership;
  for (const std::string& worker : found->second.workers) {
    impl_->SendEpoch(found->second, impl_->workers.at(worker).connection);
  }
  return true;
}

void WorkerHub::Stop(const std::string& worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end() || std::exchange(found->second.stop, true)) return;
  Impl::Send(found->second.connection, {{"say", "stop"}});
}

void WorkerHub::Save(const std::string& job) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return;
  for (const std::string& worker : found->second.workers) {
    Impl::Send(impl_->workers.at(worker).connection, {{"say", "save"}});
  }
}

JobProgress WorkerHub::Progress(const std::string& id) const {
  const auto found = impl_->jobs.find(id);
  if (found == impl_->jobs.end()) return {};
  const Impl::Job& job = found->second;
  JobProgress progress = job.progress;
  std::int64_t least = job.membership.epoch;
  std::int64_t most = -1;
  for (const std::string& member : job.membership.members) {
    const auto worker = impl_->workers.find(member);
    if (worker == impl_->workers.end()) continue;
    least = std::min(least, worker->second.epoch);
    progress.broken = progress.broken || worker->second.broken == job.membership.epoch;
  }
  // Before anything was announced here, workers of an earlier daemon say what they are in.
  for (const std::string& worker : job.workers) {
    most = std::max(most, impl_->workers.at(worker).epoch);
  }
  progress.epoch = job.membership.epoch < 0 ? most : least;
  return progress;
}

void WorkerHub::OnFinished(std::function<void(const std::string&)> listener) {
  impl_->on_finished = std::move(listener);
}

bool WorkerHub::finished(const std::string& job) const {
  const auto found = impl_->jobs.find(job);
  return found != impl_->jobs.end() && found->second.finished;
}

bool WorkerHub::joined(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  return found != impl_->workers.end() && found->second.joined;
}

bool WorkerHub::announced(const std::string& job) const {
  const auto found = impl_->jobs.find(job);
  return found != impl_->jobs.end() && found->second.membership.epoch >= 0;
}

bool WorkerHub::member(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return false;
  const auto& members = impl_->jobs.at(found->second.job).membership.members;
  return std::find(members.begin(), members.end(), worker) != members.end();
}

Seconds WorkerHub::silent(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  return found == impl_->workers.end() ? 0 : Monotonic() - found->second.heard;
}

bool WorkerHub::Serve(Seconds at_most, const std::vector<int>& also) {
  const double until = Monotonic() + at_most;
  while (true) {
    std::vector<pollfd> polled{{impl_->listener, POLLIN, 0}};
    for (const int file : also) polled.push_back({file, POLLIN, 0});
    const std::size_t first = polled.size();
    for (const auto& connection : impl_->connections) {
      const short events = connection->out.empty() ? POLLIN : POLLIN | POLLOUT;
      polled.push_back({connection->socket, events, 0});
    }
    const double left = std::max(0.0, until - Monotonic());
    const int milliseconds = static_cast<int>(std::ceil(left * 1000));
    const int ready = ::poll(polled.data(), polled.size(), milliseconds);
    bool important = ready < 0 && errno == EINTR;  // Ctrl-C
    bool others = false;
    for (std::size_t i = 1; i < first; ++i) others = others || polled[i].revents != 0;
    for (std::size_t i = first; i < polled.size() && ready > 0; ++i) {
      Impl::Connection* connection = impl_->connections[i - first].get();
      if ((polled[i].revents & POLLOUT) != 0) Impl::Flush(connection);
      if ((polled[i].revents & ~POLLOUT) != 0) important = impl_->Read(connection) || important;
    }
    if (ready > 0 && polled[0].revents != 0) impl_->Accept();
    impl_->CloseDone();
    if (important || others || Monotonic() >= until) return important;
  }
}

}  // namespace allot
