#include "clients/kubernetes/api/kube_config.h"

#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <optional>

#include "clients/kubernetes/api/base64.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr const char* kInsteadOfPlugins =
    "allot runs no plugins: in a pod it uses its service account; elsewhere give it a kubeconfig "
    "with a certificate or a token (kubectl create token NAME), or 'server: "
    "http://127.0.0.1:8001' of a 'kubectl proxy'";

// The text of a file, with the entries of which messages speak.
class ConfigText {
 public:
  ConfigText(std::string_view text, std::string name, std::filesystem::path folder)
      : name_(std::move(name)), folder_(std::move(folder)) {
    try {
      root_ = YAML::Load(std::string(text));
    } catch (const YAML::Exception& error) {
      throw DataError("kubeconfig: must be YAML, {} ({}:{})", error.msg, name_,
                      error.mark.line + 1);
    }
    if (!root_.IsMap()) throw DataError("kubeconfig: must be a map of entries ({}:1)", name_);
  }

  std::string Place(const YAML::Node& node) const {
    return fmt::format("{}:{}", name_, node.Mark().line + 1);
  }

  // "" where it is absent.
  std::string Text(const YAML::Node& map, const char* key) const {
    const YAML::Node value = map[key];
    if (!value || value.IsNull()) return "";
    if (!value.IsScalar()) {
      throw DataError("kubeconfig: '{}' must be text ({})", key, Place(value));
    }
    return value.Scalar();
  }
  std::string Text(const char* key) const { return Text(root_, key); }

  // The map `inner` of the entry of that name in the list `list`: "clusters", "cluster".
  YAML::Node Entry(const char* list, const char* inner, const std::string& wanted) const {
    const YAML::Node entries = root_[list];
    std::vector<std::string> names;
    if (entries && entries.IsSequence()) {
      for (const YAML::Node& entry : entries) {
        if (!entry.IsMap())
          throw DataError("kubeconfig: '{}' must hold maps ({})", list, Place(entry));
        names.push_back(Text(entry, "name"));
        if (names.back() != wanted) continue;
        const YAML::Node found = entry[inner];
        if (found && found.IsMap()) return found;
        throw DataError("kubeconfig: '{}' of '{}' must be a map ({})", inner, wanted, Place(entry));
      }
    }
    throw DataError("kubeconfig: '{}' must have an entry '{}'{} ({})", list, wanted,
                    DidYouMean(wanted, names), name_);
  }

  // PEM: from KEY-data as base64, or from the file that KEY names.
  std::string Pem(const YAML::Node& map, const std::string& key) const {
    const std::string data = Text(map, (key + "-data").c_str());
    if (!data.empty()) {
      const std::optional<std::string> pem = FromBase64(data);
      if (!pem) {
        throw DataError("kubeconfig: '{}-data' must be base64 ({})", key,
                        Place(map[key + "-data"]));
      }
      return *pem;
    }
    const std::string file = Text(map, key.c_str());
    return file.empty() ? "" : ReadTextFile((folder_ / file).string());
  }

  std::filesystem::path File(const YAML::Node& map, const char* key) const {
    const std::string file = Text(map, key);
    return file.empty() ? std::filesystem::path() : folder_ / file;
  }

 private:
  std::string name_;
  std::filesystem::path folder_;
  YAML::Node root_;
};

bool IsLoopback(std::string_view server) {
  server.remove_prefix(std::string_view("http://").size());
  const std::string_view host = server.substr(0, server.find_first_of(":/"));
  return host == "localhost" || host.starts_with("127.");
}

void CheckServer(const std::string& server, const std::string& place) {
  const bool plain = server.starts_with("http://");
  if (!plain && !server.starts_with("https://")) {
    throw DataError("kubeconfig: 'server' must begin with https://, got '{}' ({})", server, place);
  }
  if (plain && !IsLoopback(server)) {
    throw DataError(
        "kubeconfig: a 'server' without TLS must be of this machine (http://127.0.0.1:PORT), got "
        "'{}' ({})",
        server, place);
  }
}

void ReadCluster(const ConfigText& text, const YAML::Node& cluster, KubeConfig* config) {
  config->server = text.Text(cluster, "server");
  CheckServer(config->server, text.Place(cluster));
  while (config->server.ends_with('/')) config->server.pop_back();
  for (const char* refused : {"insecure-skip-tls-verify", "tls-server-name"}) {
    const std::string value = text.Text(cluster, refused);
    if (value.empty() || value == "false") continue;
    throw DataError(
        "kubeconfig: '{}' must not be set, got '{}': give the cluster's CA in "
        "'certificate-authority-data', for the name in 'server' ({})",
        refused, value, text.Place(cluster[refused]));
  }
  config->authority = text.Pem(cluster, "certificate-authority");
  config->proxy = text.Text(cluster, "proxy-url");
}

void ReadUser(const ConfigText& text, const YAML::Node& user, KubeConfig* config) {
  for (const char* plugin : {"exec", "auth-provider"}) {
    if (!user[plugin]) continue;
    throw DataError("kubeconfig: '{}' must not be used: {} ({})", plugin, kInsteadOfPlugins,
                    text.Place(user[plugin]));
  }
  for (const char* refused : {"username", "password", "as", "as-groups", "as-uid"}) {
    if (!user[refused]) continue;
    throw DataError("kubeconfig: '{}' must not be used: allot knows certificates and tokens ({})",
                    refused, text.Place(user[refused]));
  }
  config->certificate = text.Pem(user, "client-certificate");
  config->key = text.Pem(user, "client-key");
  if (config->certificate.empty() != config->key.empty()) {
    throw DataError(
        "kubeconfig: 'client-certificate' and 'client-key' must be given together, got {} ({})",
        config->key.empty() ? "the certificate" : "the key", text.Place(user));
  }
  config->token = text.Text(user, "token");
  config->token_file = text.File(user, "tokenFile");
}

}  // namespace

KubeConfig KubeConfigFromText(std::string_view text, const std::string& name,
                              const std::filesystem::path& folder, const std::string& context) {
  const ConfigText parsed(text, name, folder);
  const std::string wanted = context.empty() ? parsed.Text("current-context") : context;
  if (wanted.empty()) {
    throw DataError("kubeconfig: 'current-context' must be set, or a context named ({})", name);
  }
  const YAML::Node chosen = parsed.Entry("contexts", "context", wanted);
  KubeConfig config;
  ReadCluster(parsed, parsed.Entry("clusters", "cluster", parsed.Text(chosen, "cluster")), &config);
  const std::string user = parsed.Text(chosen, "user");
  if (!user.empty()) ReadUser(parsed, parsed.Entry("users", "user", user), &config);
  return config;
}

KubeConfig ReadKubeConfig(const std::filesystem::path& file, const std::string& context) {
  return KubeConfigFromText(ReadTextFile(file.string()), file.string(),
                            std::filesystem::absolute(file).parent_path(), context);
}

KubeConfig InClusterKubeConfig(const std::filesystem::path& folder) {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    throw RunError(
        "kubernetes: in a pod KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set, "
        "they are not");
  }
  KubeConfig config;
  const bool v6 = std::string_view(host).find(':') != std::string_view::npos;
  config.server = fmt::format("https://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
  config.authority = ReadTextFile((folder / "ca.crt").string());
  config.token_file = folder / "token";
  return config;
}

KubeConfig FindKubeConfig(const std::string& file, const std::string& context) {
  if (!file.empty()) return ReadKubeConfig(file, context);
  if (const char* named = std::getenv("KUBECONFIG"); named != nullptr && *named != '\0') {
    return ReadKubeConfig(named, context);
  }
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr && context.empty()) {
    return InClusterKubeConfig();
  }
  const char* home = std::getenv("HOME");
  const std::filesystem::path own =
      std::filesystem::path(home == nullptr ? "/" : home) / ".kube/config";
  if (!std::filesystem::exists(own)) {
    throw UsageError(
        "kubernetes: needs a kubeconfig: none was given, KUBECONFIG is not set, this is no pod, "
        "and there is no '{}'",
        own.string());
  }
  return ReadKubeConfig(own, context);
}

}  // namespace allot
