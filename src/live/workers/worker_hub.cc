#include "live/workers/worker_hub.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "core/json_text.h"
#include "core/user_json.h"
#include "live/workers/hub_records.h"
#include "live/workers/line_server.h"
#include "live/workers/listening.h"
#include "live/workers/refusal_log.h"
#include "live/workers/waiting_joins.h"
#include "live/workers/worker_pace.h"
#include "live/workers/worker_sessions.h"

namespace allot {
namespace {

using Message = nlohmann::json;

}  // namespace

struct WorkerHub::Impl {
  using ConnectionPtr = LineServer::ConnectionPtr;

  Impl(const std::string& address, std::function<Seconds()> its_clock)
      : clock(std::move(its_clock)),
        server(address,
               {.line = [this](const ConnectionPtr& from,
                               const std::string& line) { ReadLine(from, line); },
                .refused =
                    [this](const ConnectionPtr& from, const std::string& why) {
                      if (sessions.NamesOf(from) != nullptr) return Cut(from, why);
                      Refuse(from, why);
                    },
                .closed = [this](const ConnectionPtr& connection) { Forget(connection); }}) {}

  // ---- connections ----

  void ReadLine(const ConnectionPtr& connection, const std::string& line) {
    const std::optional<std::string> text = sessions.Open(connection, line);
    if (!text) {
      const LineSession::Names& names = *sessions.NamesOf(connection);
      return Cut(connection, fmt::format("worker {} of job {}: a line must have the code of its "
                                         "place, got another or none",
                                         names.worker, names.job));
    }
    const auto message = ParseUserJson<Message>(*text);
    if (message.is_discarded()) return Refuse(connection, "a line must be a JSON object");
    Take(connection, message);
  }

  void Take(const ConnectionPtr& connection, const Message& message) {
    try {
      important = Hear(connection, message) || important;
    } catch (const Error& error) {
      const std::string& who = LineServer::WhoIs(connection);
      Refuse(connection,
             fmt::format("worker {}: {}", who.empty() ? "that joins" : who, error.what()));
    } catch (const std::exception& error) {
      Refuse(connection, fmt::format("a line is a message of the protocol: {}", error.what()));
    }
  }

  void Send(const ConnectionPtr& connection, const Message& message) {
    if (connection == nullptr) return;
    server.Send(connection, sessions.Sign(connection, JsonText(message, -1)));
  }

  void Forget(const ConnectionPtr& connection) {
    sessions.End(connection);
    waiting.Erase(connection);
    HubWorker* const worker = records.FindWorker(LineServer::WhoIs(connection));
    if (worker == nullptr || worker->connection != connection) return;
    worker->connection = nullptr;
    --connected;
    important = true;
  }

  // The worker has another connection, or none any more.
  void Detach(const ConnectionPtr& connection) {
    server.Introduce(connection, "");
    server.Close(connection);
  }

  // Nothing is heard of it any more.
  void Leave(const std::string& worker) {
    const HubWorker* const found = records.FindWorker(worker);
    if (found == nullptr || found->connection == nullptr) return;
    Detach(found->connection);
    --connected;
  }

  // Without a word: where the worker did not say it itself, it is not to end by it.
  void Cut(const ConnectionPtr& connection, const std::string& why) {
    LogRefusal(connection, why);
    server.Close(connection);
  }

  void Refuse(const ConnectionPtr& connection, const std::string& why) {
    LogRefusal(connection, why);
    Send(connection, {{"say", "refused"}, {"why", why}});
    server.Close(connection);
  }

  void LogRefusal(const ConnectionPtr& connection, const std::string& why) {
    refusals.Report(LineServer::WhoIs(connection).empty(), why, clock());
  }

  // ---- the protocol ----

  template <typename Tell>  // void(const HubJob&, const ConnectionPtr&)
  void ToWorkers(const std::string& job, const Tell& tell) {
    const HubJob* const found = records.FindJob(job);
    if (found == nullptr) return;
    for (const std::string& worker : found->workers) {
      tell(*found, records.workers().at(worker).connection);
    }
  }

  void SendEpoch(const HubJob& job, const ConnectionPtr& connection) {
    if (job.membership.epoch < 0) return;
    Message addresses = Message::array();
    for (const std::string& member : job.membership.members) {
      const HubWorker* const found = records.FindWorker(member);
      addresses.push_back(found == nullptr ? "" : found->address);
    }
    Send(connection, {{"say", "epoch"},
                      {"epoch", job.membership.epoch},
                      {"members", job.membership.members},
                      {"addresses", std::move(addresses)}});
  }

  void SendBatch(const HubJob& job, const ConnectionPtr& connection) {
    if (job.batch.workers == 0) return;
    Send(connection, {{"say", "batch"},
                      {"workers", job.batch.workers},
                      {"local", job.batch.local},
                      {"accumulation", job.batch.accumulation}});
  }

  void SendCheckpointEvery(const HubJob& job, const ConnectionPtr& connection) {
    if (!job.checkpoint_every) return;
    Send(connection, {{"say", "checkpoint"}, {"every", *job.checkpoint_every}});
  }

  void Welcome(const ConnectionPtr& connection) {
    Send(connection, {{"say", "welcome"}, {"every", pace.every()}, {"speaks", pace.speaks()}});
  }

  void TellPace() {
    for (const auto& named : records.workers()) Welcome(named.second.connection);
  }

  // By this they know that the daemon lives.
  void SpeakToAll() {
    if (!pace.TakeDue(clock())) return;
    for (const auto& named : records.workers()) Send(named.second.connection, {{"say", "here"}});
  }

  // Shows that this is the daemon that knows the job's token; the worker does so by its next line.
  void Hello(const ConnectionPtr& connection, const Message& message) {
    const LineSession::Names names{.job = message.at("job"),
                                   .worker = message.at("worker"),
                                   .worker_nonce = message.at("nonce"),
                                   .daemon_nonce = NewToken()};
    const HubJob* const job = records.JobWith(names.job, names.worker);
    if (job == nullptr) return Refuse(connection, "no such job or worker");
    if (!LooksLikeToken(names.worker_nonce)) {
      return Refuse(connection, fmt::format("a nonce has 32 hexadecimal digits, got {} characters",
                                            names.worker_nonce.size()));
    }
    sessions.Begin(connection, job->token, names);
    Send(connection, {{"say", "challenge"}, {"nonce", names.daemon_nonce}});
  }

  // The code of its line has shown that it is the worker that said hello.
  bool MayJoin(const ConnectionPtr& connection, const Message& message) {
    const std::string worker = message.at("worker");
    const std::string job = message.at("job");
    const LineSession::Names* const names = sessions.NamesOf(connection);
    return names != nullptr && names->job == job && names->worker == worker &&
           records.JobWith(job, worker) != nullptr;
  }

  bool Join(const ConnectionPtr& connection, const Message& message) {
    if (!MayJoin(connection, message)) {
      Refuse(connection, "no such job, worker or token");
      return false;
    }
    const std::string id = message.at("worker");
    HubRecords::CheckJoin(message);  // before anything is asked
    if (!records.FindWorker(id)->has_identity || !ask_identity) return Admit(connection, message);
    const std::string identity = message.value("identity", "");
    if (identity.empty()) {
      Refuse(connection,
             fmt::format("worker {} must say its identity ($ALLOT_IDENTITY_FILE), it says none: "
                         "is its program's allot-elastic older than the daemon?",
                         id));
      return false;
    }
    ask_identity(waiting.Insert(connection, message), id, identity);
    return false;
  }

  void Identified(const WaitingJoins::Join& asked, const std::string& why) {
    const std::string worker = asked.messages.front().at("worker");
    if (!why.empty()) {
      return Cut(asked.connection,
                 fmt::format("worker {} must be who it says it is, but {}", worker, why));
    }
    if (records.FindWorker(worker) == nullptr) {
      return Refuse(asked.connection, "no such worker any more");
    }
    important = Admit(asked.connection, asked.messages.front());
    for (std::size_t m = 1; m < asked.messages.size(); ++m) {
      if (!LineServer::WhoIs(asked.connection).empty()) Take(asked.connection, asked.messages[m]);
    }
  }

  // It is the worker.
  bool Admit(const ConnectionPtr& connection, const Message& message) {
    const std::string id = message.at("worker");
    records.Join(id, message, clock());
    HubWorker& w = *records.FindWorker(id);
    const HubJob& job = records.JobOf(w);
    if (w.connection != nullptr) {
      Detach(w.connection);  // it is dead or will be
    } else {
      ++connected;
      if (pace.SetWorkers(connected)) TellPace();
    }
    server.Introduce(connection, id);
    w.connection = connection;
    Welcome(connection);
    SendBatch(job, connection);
    SendCheckpointEvery(job, connection);
    SendEpoch(job, connection);
    if (w.stop) Send(connection, {{"say", "stop"}});
    return true;
  }

  // True for what is more than mere progress, or a stranger's.
  bool Hear(const ConnectionPtr& connection, const Message& message) {
    const std::string say = message.at("say");
    const std::string& who = LineServer::WhoIs(connection);
    if (waiting.Contains(connection)) {
      if (!waiting.AddMessage(connection, message))
        Cut(connection, "too much before it is welcomed");
      return false;
    }
    if (who.empty()) {
      if (say == "join") return Join(connection, message);
      if (say == "hello" && sessions.NamesOf(connection) == nullptr) {
        Hello(connection, message);
      } else {
        Refuse(connection, "a connection begins with 'hello', then 'join'");
      }
      return false;
    }
    HubWorker& worker = *records.FindWorker(who);
    worker.heard = clock();
    const bool had_finished = records.JobOf(worker).finished;
    switch (records.Hear(who, message)) {
      case HubRecords::Said::kNoneOfOurs:
        Refuse(connection, fmt::format("'say' must be one of the protocol, got '{}'", say));
        return true;
      case HubRecords::Said::kProgress:
        return false;
      case HubRecords::Said::kNews:
        return true;
      case HubRecords::Said::kFinished:
        if (!had_finished && on_finished) on_finished(worker.job);
        Send(connection, {{"say", "acknowledged"}});
        return true;
    }
    return true;
  }

  const std::function<Seconds()> clock;
  Listening listening{clock()};
  LineServer
      server;  // before the rest: what follows holds its connections, which must not outlive it
  HubRecords records;
  WorkerSessions sessions;
  WaitingJoins waiting;
  RefusalLog refusals;
  bool important = false;  // something was said that is more than progress
  std::function<void(const std::string&)> on_finished;
  std::size_t connected = 0;  // workers
  WorkerPace pace;            // as announced to them
  IdentityQuestion ask_identity;
};

WorkerHub::WorkerHub(const std::string& address, std::function<Seconds()> clock)
    : impl_(std::make_unique<Impl>(address, std::move(clock))) {}

WorkerHub::~WorkerHub() = default;
const std::string& WorkerHub::address() const { return impl_->server.address(); }

void WorkerHub::Wake() {
  impl_->server.Post([this] { impl_->important = true; });
}

void WorkerHub::AddJob(const std::string& job, const std::string& token) {
  impl_->records.AddJob(job, token);
}

void WorkerHub::RemoveJob(const std::string& job) {
  const HubJob* const found = impl_->records.FindJob(job);
  if (found == nullptr) return;
  for (const std::string& worker : found->workers) impl_->Leave(worker);
  impl_->records.RemoveJob(job);
}

void WorkerHub::Expect(const std::string& job, const std::string& worker, bool has_identity) {
  impl_->records.Expect(job, worker, has_identity, impl_->clock());
}

void WorkerHub::AskIdentity(IdentityQuestion ask) { impl_->ask_identity = std::move(ask); }

void WorkerHub::Identified(std::uint64_t join, const std::string& why) {
  if (const auto asked = impl_->waiting.Extract(join)) impl_->Identified(*asked, why);
}

void WorkerHub::RemoveWorker(const std::string& worker) {
  impl_->Leave(worker);
  impl_->records.RemoveWorker(worker);
}

Status WorkerHub::Announce(const std::string& job, const Membership& membership) {
  bool is_new = false;
  Status done = impl_->records.Announce(job, membership, &is_new);
  if (!is_new) return done;
  impl_->ToWorkers(job, [&](const HubJob& its, const auto& to) { impl_->SendEpoch(its, to); });
  return done;
}

void WorkerHub::Stop(const std::string& worker) {
  HubWorker* const found = impl_->records.FindWorker(worker);
  if (found == nullptr || std::exchange(found->stop, true)) return;
  impl_->Send(found->connection, {{"say", "stop"}});
}

void WorkerHub::SetBatch(const std::string& job, const WorkerBatchOrder& batch) {
  HubJob* const found = impl_->records.FindJob(job);
  if (found == nullptr) return;
  found->batch = batch;
  impl_->ToWorkers(job, [&](const HubJob& its, const auto& to) { impl_->SendBatch(its, to); });
}

void WorkerHub::SetCheckpointEvery(const std::string& job, Seconds every) {
  HubJob* const found = impl_->records.FindJob(job);
  if (found == nullptr) return;
  found->checkpoint_every = every;
  impl_->ToWorkers(job,
                   [&](const HubJob& its, const auto& to) { impl_->SendCheckpointEvery(its, to); });
}

std::optional<Seconds> WorkerHub::checkpoint_every(const std::string& job) const {
  const HubJob* const found = impl_->records.FindJob(job);
  return found == nullptr ? std::nullopt : found->checkpoint_every;
}

void WorkerHub::Save(const std::string& job) {
  impl_->ToWorkers(job, [&](const HubJob&, const auto& to) { impl_->Send(to, {{"say", "save"}}); });
}

JobProgress WorkerHub::Progress(const std::string& job) const {
  return impl_->records.Progress(job);
}

void WorkerHub::OnFinished(std::function<void(const std::string&)> listener) {
  impl_->on_finished = std::move(listener);
}

bool WorkerHub::finished(const std::string& job) const {
  const HubJob* const found = impl_->records.FindJob(job);
  return found != nullptr && found->finished;
}

bool WorkerHub::joined(const std::string& worker) const {
  const HubWorker* const found = impl_->records.FindWorker(worker);
  return found != nullptr && found->joined;
}

bool WorkerHub::announced(const std::string& job) const {
  const HubJob* const found = impl_->records.FindJob(job);
  return found != nullptr && found->membership.epoch >= 0;
}

bool WorkerHub::member(const std::string& worker) const { return impl_->records.member(worker); }

Seconds WorkerHub::silent(const std::string& worker) const {
  const HubWorker* const found = impl_->records.FindWorker(worker);
  return found == nullptr ? 0 : impl_->listening.SilenceSince(found->heard);
}

bool WorkerHub::Serve(Seconds at_most) {
  impl_->important = false;
  if (impl_->pace.AddPause(impl_->listening.BeginReading(impl_->clock()))) impl_->TellPace();
  impl_->SpeakToAll();
  impl_->server.Serve(at_most, [this] {
    impl_->listening.EndReading(impl_->clock(), impl_->server.heard_all());
    return impl_->important;
  });
  return impl_->important;
}

}  // namespace allot
