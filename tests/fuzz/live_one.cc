// What a daemon must do whatever is said to it, and whatever is in its journal.
//
// The input is "KIND\nTEXT". KIND hub: lines to the port of workers, each behind a letter: c begins
// another connection, h says hello as worker j.0 and answers the challenge, s is a line with the
// code of its place, r goes as it is. Afterwards the true worker is welcomed, and what is known of
// its job is legal. user, scraper: all that one client says to the control socket or the port of
// metrics; it is answered, or closed, and so is the next one. journal: the file; what is read is
// kept as it is by writing and reading, and what cannot be is refused with words. Anything else
// ends the program.

#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "auth/line_session.h"
#include "auth/secret.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/daemon/control_server.h"
#include "live/daemon/metrics_server.h"
#include "live/state/journal_text.h"
#include "live/state/live_state.h"
#include "live/status/status_json.h"
#include "live/workers/worker_hub.h"
#include "tests/fuzz/fuzz_target.h"

namespace allot {
namespace {

using FuzzJson = nlohmann::json;

constexpr const char* kFuzzToken = "00112233445566778899aabbccddeeff";

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Where sockets are, until the program ends.
const std::filesystem::path& FuzzPlace() {
  struct Folder {
    Folder() {
      std::string pattern = (std::filesystem::temp_directory_path() / "allot-fuzz-XXXXXX").string();
      Expect(::mkdtemp(pattern.data()) != nullptr, "no folder for sockets");
      path = pattern;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  };
  static const Folder folder;
  return folder.path;
}

// ---- sockets ----

class FuzzClient {
 public:
  explicit FuzzClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  explicit FuzzClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  ~FuzzClient() { ::close(socket_); }
  FuzzClient(const FuzzClient&) = delete;
  FuzzClient& operator=(const FuzzClient&) = delete;

  void Say(std::string_view text) {
    (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void SaidAll() { ::shutdown(socket_, SHUT_WR); }
  // What is there now.
  std::string Heard() {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
  std::string HeardToTheEnd() {
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(socket_, buffer, sizeof(buffer), 0)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  void Connect(const sockaddr* address, socklen_t size) const {
    Expect(::connect(socket_, address, size) == 0, "nobody listens any more");
  }
  int socket_;
};

// ---- hub ----

class FuzzWorker {
 public:
  explicit FuzzWorker(WorkerHub* hub, const std::string& path) : hub_(hub), client_(path) {}

  void Say(std::string line) {
    client_.Say(line += '\n');
    hub_->Serve(0);
  }
  void Hello() {
    const std::string nonce = NewToken();
    Say(FuzzJson{{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}, {"nonce", nonce}}.dump());
    const std::string heard = client_.Heard();
    const std::string line = heard.substr(0, heard.find('\n'));
    const FuzzJson challenge = FuzzJson::parse(line, nullptr, false);
    if (!challenge.is_object() || !challenge.contains("nonce")) return;
    session_.emplace(LineSession::Side::kWorker, kFuzzToken,
                     LineSession::Names{"j", "j.0", nonce, challenge["nonce"]});
    (void)session_->Open(line);
  }
  void SaySigned(const std::string& text) {
    Say(session_ && !text.empty() ? session_->Sign(text) : text);
  }
  bool IsWelcome() {
    Hello();
    Expect(session_.has_value(), "the true worker gets no challenge");
    SaySigned(R"({"say":"join","job":"j","worker":"j.0"})");
    return client_.Heard().find("\"welcome\"") != std::string::npos;
  }

 private:
  WorkerHub* hub_;
  FuzzClient client_;
  std::optional<LineSession> session_;
};

void SpeakToHub(std::string_view text) {
  const std::string path = (FuzzPlace() / "hub").string();
  WorkerHub hub("unix:" + path);
  hub.AddJob("j", kFuzzToken);
  hub.Expect("j", "j.0");
  hub.Expect("j", "j.1");
  (void)hub.Announce("j", {0, {"j.0", "j.1"}});
  auto speaker = std::make_unique<FuzzWorker>(&hub, path);
  for (const std::string_view line : Split(text, '\n')) {
    const std::string said(line.substr(line.empty() ? 0 : 1));
    switch (line.empty() ? 'r' : line.front()) {
      case 'c':
        speaker = std::make_unique<FuzzWorker>(&hub, path);
        break;
      case 'h':
        speaker->Hello();
        break;
      case 's':
        speaker->SaySigned(said);
        break;
      default:
        speaker->Say(said);
    }
  }
  Expect(FuzzWorker(&hub, path).IsWelcome(), "the true worker is not welcomed");
  const JobProgress progress = hub.Progress("j");
  Expect(progress.step >= 0 && !(progress.work < 0) && !std::isinf(progress.work) &&
             !(progress.rate < 0) && !(progress.noise_scale < 0),
         "a job's progress is not legal");
}

// ---- control ----

class FuzzControl {
 public:
  FuzzControl() : server_((FuzzPlace() / "control").string()) {
    server_.PublishStatus(WriteStatus({}));
    metrics_.Publish("up 1\n");
    const std::string& address = metrics_.address();
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  FuzzClient User() const { return FuzzClient((FuzzPlace() / "control").string()); }
  FuzzClient Scraper() const { return FuzzClient(port_); }
  void Serve() {
    server_.Serve([](const ControlRequest& request) { return ControlReply{request.action}; });
  }

 private:
  ControlServer server_;
  MetricsServer metrics_{"tcp:127.0.0.1:0"};
  std::uint16_t port_ = 0;
};

void SpeakToControl(std::string_view text, bool user) {
  static FuzzControl control;
  FuzzClient client = user ? control.User() : control.Scraper();
  client.Say(text);
  client.SaidAll();
  if (!user) {
    const std::string answer = client.HeardToTheEnd();  // none to half a request
    Expect(answer.empty() || answer.starts_with("HTTP/1.1 "), "a scraper is not answered");
    FuzzClient next = control.Scraper();
    next.Say("GET /metrics HTTP/1.1\r\n\r\n");
    Expect(next.HeardToTheEnd().ends_with("up 1\n"), "the next scraper gets no metrics");
    return;
  }
  std::string heard;
  for (int i = 0; i < 200'000 && heard.find('\n') == std::string::npos; ++i) {
    control.Serve();
    heard += client.Heard();
  }
  const FuzzJson answer = FuzzJson::parse(heard, nullptr, false);
  Expect(answer.is_object(), "a user is not answered");
}

// ---- journal ----

void ReadJournal(std::string_view text) {
  const JournalText read = ReadJournalText(text);
  Expect(read.whole + read.torn.size() == text.size(), "bytes of a journal are lost");
  Expect(read.lines.size() == read.records.size(), "a record has no line");
  std::string written;
  for (const TimedRecord& record : read.records) written += JournalLine(record);
  const JournalText again = ReadJournalText(written);
  Expect(again.damage.empty() && again.torn.empty(), "what was read is damaged when written");
  LiveState state({});
  for (const TimedRecord& record : read.records) {
    try {
      state.Apply(record);
    } catch (const std::exception& error) {
      Expect(error.what()[0] != '\0', "a refusal says nothing");
      return;  // a daemon stops there
    }
  }
  LiveState renewed({});
  state.ForEachRecord(state.origin(), state.last(),
                      [&renewed](const TimedRecord& record) { renewed.Apply(record); });
  Expect(renewed.job_table().active().size() == state.job_table().active().size(),
         "a journal that was made anew has other jobs");
}

}  // namespace
}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  const std::optional<allot::NamedInput> input = allot::NamedInputOf(data, size);
  if (!input) return 0;
  const auto& [kind, text] = *input;
  if (kind == "hub") allot::SpeakToHub(text);
  if (kind == "user" || kind == "scraper") allot::SpeakToControl(text, kind == "user");
  if (kind == "journal") allot::ReadJournal(text);
  return 0;
}
