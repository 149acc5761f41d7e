#include "clients/kubernetes/api/kube_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <list>
#include <thread>
#include <utility>

#include "clients/kubernetes/api/bearer_token.h"
#include "core/error.h"
#include "core/monotonic.h"

namespace allot {
namespace {

constexpr Seconds kConnect = 3;
constexpr long kDeadWatch = 150;     // seconds without a byte; a bookmark comes once a minute
constexpr long kLongestWatch = 320;  // seconds, where a server ignores timeoutSeconds
constexpr Seconds kFirstRetry = 0.1;
constexpr std::size_t kLongestAnswer = std::size_t{256} * 1024 * 1024;

// Another try may be answered otherwise.
bool MayPass(long code, bool token_rotates) {
  return code == 0 || code == 429 || code >= 500 || (code == 401 && token_rotates);
}

template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  if (curl_easy_setopt(easy, option, value) != CURLE_OK) {
    throw RunError("libcurl does not know option {}", static_cast<int>(option));
  }
}

void SetBlob(CURL* easy, CURLoption option, const std::string& pem) {
  if (pem.empty()) return;
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
  Set(easy, option, &blob);
}

}  // namespace

struct KubeClient::Thread {
  struct Call {
    KubeRequest request;
    Seconds deadline = 0;
    Seconds not_before = 0;
    Seconds pause = kFirstRetry;
    KubeReply last = NoKubeReply("no answer in time");
    bool announced = false;  // to the listener, once the answer is there
    std::promise<KubeReply> answer;
  };
  struct Transfer {
    Thread* thread = nullptr;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string out, in;
    std::array<char, CURL_ERROR_SIZE> error{};
    std::unique_ptr<Call> call;  // or
    ListWatch* kept = nullptr;   // a list, or
    bool watch = false;
    bool opened = false;
  };

  Thread(KubeConfig given, Seconds seconds, std::vector<ListWatch*> lists,
         std::function<void()> listener)
      : config(std::move(given)),
        patience(seconds),
        token(config.token, config.token_file),
        kept(std::move(lists)),
        on_change(std::move(listener)) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    if (ready != CURLE_OK || multi == nullptr) throw RunError("libcurl cannot be started");
    thread = std::thread([this] { Run(); });
  }

  ~Thread() {
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    curl_multi_wakeup(multi);
    thread.join();
    for (Transfer& one : transfers) Free(one);
    curl_multi_cleanup(multi);
    for (auto& call : queue) call->answer.set_value(NoKubeReply("the daemon ends"));
  }

  std::future<KubeReply> Add(KubeRequest request, bool announced) {
    auto call = std::make_unique<Call>();
    call->request = std::move(request);
    call->deadline = MonotonicSeconds() + patience;
    call->announced = announced;
    std::future<KubeReply> answer = call->answer.get_future();
    {
      const std::lock_guard lock(mutex);
      queue.push_back(std::move(call));
    }
    curl_multi_wakeup(multi);
    return answer;
  }

  // ---- the thread ----

  void Run() {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (over) return;
        StartDue();
      }
      int running = 0;
      curl_multi_perform(multi, &running);
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        if (message->msg == CURLMSG_DONE) End(message->easy_handle, message->data.result);
      }
      if (std::exchange(changed, false) && on_change) on_change();
      curl_multi_poll(multi, nullptr, 0, MillisecondsToNext(), nullptr);
    }
  }

  int MillisecondsToNext() {
    const std::lock_guard lock(mutex);
    Seconds next = MonotonicSeconds() + 1;
    const Seconds now = next - 1;
    for (const ListWatch* one : kept) next = std::min(next, one->due());
    for (const auto& call : queue) next = std::min(next, call->not_before);
    return next <= now ? 0 : static_cast<int>((next - now) * 1000) + 1;
  }

  void StartDue() {
    const Seconds now = MonotonicSeconds();
    std::deque<std::unique_ptr<Call>> later;
    for (auto& call : queue) {
      if (call->deadline <= now) {
        changed = changed || call->announced;
        call->answer.set_value(std::move(call->last));
      } else if (call->not_before > now) {
        later.push_back(std::move(call));
      } else {
        StartCall(std::move(call), now);
      }
    }
    queue = std::move(later);
    for (ListWatch* one : kept) {
      if (const auto ask = one->Next(now)) StartKept(one, *ask);
    }
  }

  void StartCall(std::unique_ptr<Call> call, Seconds now) {
    const KubeRequest& request = call->request;
    Transfer& transfer = Begin(request.method, request.path);
    if (!request.body.is_null()) {
      transfer.out = request.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      Set(transfer.easy, CURLOPT_POSTFIELDS, transfer.out.c_str());
      Set(transfer.easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(transfer.out.size()));
      AddHeader(transfer, request.method == "PATCH" ? "Content-Type: application/merge-patch+json"
                                                    : "Content-Type: application/json");
    }
    Set(transfer.easy, CURLOPT_TIMEOUT_MS, static_cast<long>((call->deadline - now) * 1000) + 1);
    transfer.call = std::move(call);
    Send(transfer);
  }

  void StartKept(ListWatch* list, const ListWatch::Ask& ask) {
    Transfer& transfer = Begin("GET", ask.path);
    transfer.kept = list;
    transfer.watch = ask.watch;
    if (ask.watch) {
      Set(transfer.easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
      Set(transfer.easy, CURLOPT_LOW_SPEED_TIME, kDeadWatch);
      Set(transfer.easy, CURLOPT_TIMEOUT, kLongestWatch);
    } else {
      Set(transfer.easy, CURLOPT_ACCEPT_ENCODING, "");  // long lists come compressed
      Set(transfer.easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(patience, 30.0) * 1000));
    }
    Send(transfer);
  }

  Transfer& Begin(const std::string& method, const std::string& path) {
    Transfer& transfer = transfers.emplace_back();
    transfer.thread = this;
    transfer.easy = curl_easy_init();
    CURL* const easy = transfer.easy;
    Set(easy, CURLOPT_URL, (config.server + path).c_str());
    Set(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
    Set(easy, CURLOPT_NOSIGNAL, 1L);
    Set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    const bool here = config.server.starts_with("http://");  // of this machine (kube_config.h)
    // Rather a stream of a connection that is being made. Without TLS a request would wait for the
    // end of a watch: only the handshake tells libcurl that there is one stream a connection.
    if (!here) Set(easy, CURLOPT_PIPEWAIT, 1L);
    Set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    Set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(kConnect, patience) * 1000));
    Set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SetBlob(easy, CURLOPT_CAINFO_BLOB, config.authority);
    SetBlob(easy, CURLOPT_SSLCERT_BLOB, config.certificate);
    SetBlob(easy, CURLOPT_SSLKEY_BLOB, config.key);
    if (here || !config.proxy.empty()) Set(easy, CURLOPT_PROXY, config.proxy.c_str());
    Set(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
    Set(easy, CURLOPT_WRITEFUNCTION, &Thread::OnBytes);
    Set(easy, CURLOPT_WRITEDATA, &transfer);
    Set(easy, CURLOPT_HEADERFUNCTION, &Thread::OnHeader);
    Set(easy, CURLOPT_HEADERDATA, &transfer);
    Set(easy, CURLOPT_PRIVATE, &transfer);
    AddHeader(transfer, "Accept: application/json");
    AddHeader(transfer, "User-Agent: allot");
    const std::string& secret = token.Latest();
    if (!secret.empty()) AddHeader(transfer, "Authorization: Bearer " + secret);
    return transfer;
  }

  static void AddHeader(Transfer& transfer, const std::string& header) {
    transfer.headers = curl_slist_append(transfer.headers, header.c_str());
  }

  void Send(Transfer& transfer) {
    Set(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers);
    curl_multi_add_handle(multi, transfer.easy);
  }

  // ---- what comes ----

  static long CodeOf(const Transfer& transfer) {
    long code = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

  static std::size_t OnHeader(char* text, std::size_t, std::size_t size, void* of) {
    Transfer& transfer = *static_cast<Transfer*>(of);
    const bool last = size <= 2 && (text[0] == '\r' || text[0] == '\n');
    if (last && transfer.watch && !transfer.opened && CodeOf(transfer) == 200) {
      const std::lock_guard lock(transfer.thread->mutex);
      transfer.opened = true;
      transfer.thread->changed = transfer.thread->changed || !transfer.kept->trouble().empty();
      transfer.kept->OnOpen(MonotonicSeconds());
    }
    return size;
  }

  static std::size_t OnBytes(const char* bytes, std::size_t, std::size_t size, void* of) {
    Transfer& transfer = *static_cast<Transfer*>(of);
    if (!transfer.opened) {
      transfer.in.append(bytes, size);
      return transfer.in.size() > kLongestAnswer ? 0 : size;
    }
    Thread& thread = *transfer.thread;
    const std::lock_guard lock(thread.mutex);
    if (transfer.kept->OnBytes({bytes, size}, MonotonicSeconds())) thread.changed = true;
    return transfer.kept->wants_end() ? 0 : size;
  }

  void End(CURL* easy, CURLcode result) {
    const auto found = std::find_if(transfers.begin(), transfers.end(),
                                    [&](const Transfer& one) { return one.easy == easy; });
    Transfer& transfer = *found;
    KubeReply reply;
    if (result == CURLE_OK) {
      reply = ReadKubeReply(CodeOf(transfer), transfer.in);
      curl_off_t after = 0;
      curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after);
      reply.retry_after = std::max(reply.retry_after, static_cast<Seconds>(after));
      if (reply.code == 401) token.Refused();
    } else {
      const char* why =
          transfer.error[0] != '\0' ? transfer.error.data() : curl_easy_strerror(result);
      reply = NoKubeReply(fmt::format("no answer from {}: {}", config.server, why));
    }
    {
      const std::lock_guard lock(mutex);
      const Seconds now = MonotonicSeconds();
      if (transfer.call != nullptr) {
        Answer(std::move(transfer.call), std::move(reply), now);
      } else {
        EndKept(transfer, reply, now);
      }
    }
    Free(transfer);
    transfers.erase(found);
  }

  void EndKept(const Transfer& transfer, const KubeReply& reply, Seconds now) {
    ListWatch& list = *transfer.kept;
    const bool trusted = list.trouble().empty();
    if (!transfer.watch) {
      changed = list.OnList(reply, now) || changed;
    } else if (transfer.opened) {
      list.OnEnd(now);
    } else {
      list.OnRefused(reply, now);
    }
    changed = changed || trusted != list.trouble().empty();
  }

  void Answer(std::unique_ptr<Call> call, KubeReply reply, Seconds now) {
    const Seconds again =
        now + std::max(reply.retry_after, std::exchange(call->pause, 2 * call->pause));
    if (!MayPass(reply.code, token.rotates()) || again >= call->deadline) {
      changed = changed || call->announced;
      call->answer.set_value(std::move(reply));
      return;
    }
    call->not_before = again;
    call->last = std::move(reply);
    queue.push_back(std::move(call));
  }

  void Free(Transfer& transfer) {
    curl_multi_remove_handle(multi, transfer.easy);
    curl_easy_cleanup(transfer.easy);
    curl_slist_free_all(transfer.headers);
    if (transfer.call != nullptr) transfer.call->answer.set_value(NoKubeReply("the daemon ends"));
  }

  const KubeConfig config;
  const Seconds patience;
  CURLM* multi = nullptr;

  // Of the thread.
  BearerToken token;
  std::list<Transfer> transfers;
  bool changed = false;

  std::mutex mutex;  // all below, and what `kept` fills
  std::vector<ListWatch*> kept;
  std::function<void()> on_change;
  std::deque<std::unique_ptr<Call>> queue;
  bool over = false;

  std::thread thread;
};

KubeClient::KubeClient(KubeConfig config, Seconds patience, std::vector<ListWatch*> kept,
                       std::function<void()> on_change)
    : thread_(std::make_unique<Thread>(std::move(config), patience, std::move(kept),
                                       std::move(on_change))) {}

KubeClient::~KubeClient() = default;

std::mutex& KubeClient::mutex() { return thread_->mutex; }

std::vector<KubeReply> KubeClient::Do(std::vector<KubeRequest> requests) {
  std::vector<std::future<KubeReply>> answers;
  answers.reserve(requests.size());
  for (KubeRequest& request : requests) {
    answers.push_back(thread_->Add(std::move(request), /*announced=*/false));
  }
  std::vector<KubeReply> replies;
  replies.reserve(answers.size());
  for (auto& answer : answers) replies.push_back(answer.get());
  return replies;
}

KubeReply KubeClient::Do(KubeRequest request) {
  return thread_->Add(std::move(request), /*announced=*/false).get();
}

std::future<KubeReply> KubeClient::Ask(KubeRequest request) {
  return thread_->Add(std::move(request), /*announced=*/true);
}

}  // namespace allot
