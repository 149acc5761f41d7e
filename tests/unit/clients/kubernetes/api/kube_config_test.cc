#include "clients/kubernetes/api/kube_config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "clients/kubernetes/api/base64.h"
#include "clients/kubernetes/api/bearer_token.h"
#include "core/file.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// A file with one context; `cluster` and `user` are lines of their maps.
std::string ConfigWith(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c, user: u}\n"
         "- name: other\n  context: {cluster: d, user: u}\n"
         "clusters:\n- name: c\n  cluster:\n    " +
         cluster +
         "\n"
         "- name: d\n  cluster: {server: 'https://d'}\n"
         "users:\n- name: u\n  user:\n    " +
         user + "\n";
}

KubeConfig Read(const std::string& text, const std::string& context = "") {
  return KubeConfigFromText(text, "conf", "/etc", context);
}

std::string KubeConfigError(const std::string& text, const std::string& context = "") {
  return ErrorOf(ExitCode::kBadData, [&] { Read(text, context); });
}

TEST(KubeConfigFile, ReadsServerCertificatesAndToken) {
  const KubeConfig config = Read(ConfigWith(
      "server: https://10.0.0.1:6443/\n    certificate-authority-data: Q0EK\n    proxy-url: "
      "http://proxy:3128",
      "client-certificate-data: Q0VSVAo=\n    client-key-data: S0VZCg==\n    token: secret"));
  EXPECT_EQ(config.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config.authority, "CA\n");
  EXPECT_EQ(config.certificate, "CERT\n");
  EXPECT_EQ(config.key, "KEY\n");
  EXPECT_EQ(config.token, "secret");
  EXPECT_EQ(config.proxy, "http://proxy:3128");
}

TEST(KubeConfigFile, MayBeJson) {
  const KubeConfig config = Read(
      R"({"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],)"
      R"("clusters":[{"name":"c","cluster":{"server":"https://x:1"}}],)"
      R"("users":[{"name":"u","user":{"tokenFile":"run/token"}}]})");
  EXPECT_EQ(config.server, "https://x:1");
  EXPECT_EQ(config.token_file, "/etc/run/token") << "paths begin in the file's folder";
}

TEST(KubeConfigFile, AnotherContextIsTakenByItsName) {
  EXPECT_EQ(Read(ConfigWith("server: https://c", "token: t"), "other").server, "https://d");
}

struct WrongConfig {
  const char* cluster;
  const char* user;
  const char* message;
};

class WrongKubeConfig : public testing::TestWithParam<WrongConfig> {};

TEST_P(WrongKubeConfig, IsRefusedByRuleAndPlace) {
  const std::string error = KubeConfigError(ConfigWith(GetParam().cluster, GetParam().user));
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongKubeConfig,
    testing::Values(
        WrongConfig{"server: https://c", "exec: {command: aws}",
                    "'exec' must not be used: allot runs no plugins: in a pod"},
        WrongConfig{"server: https://c", "exec: {command: aws}", "kubectl create token NAME"},
        WrongConfig{"server: https://c", "auth-provider: {name: gcp}",
                    "'auth-provider' must not be used"},
        WrongConfig{"server: https://c", "exec: {command: aws}", "(conf:18)"},
        WrongConfig{"server: https://c", "password: x", "'password' must not be used"},
        WrongConfig{"server: https://c\n    insecure-skip-tls-verify: true", "token: t",
                    "'insecure-skip-tls-verify' must not be set, got 'true'"},
        WrongConfig{"server: http://10.0.0.1:80", "token: t",
                    "must be of this machine (http://127.0.0.1:PORT), got 'http://10.0.0.1:80'"},
        WrongConfig{"server: c", "token: t", "'server' must begin with https://, got 'c'"},
        WrongConfig{"server: https://c\n    certificate-authority-data: '*'", "token: t",
                    "'certificate-authority-data' must be base64 (conf:13)"},
        WrongConfig{"server: https://c", "client-key-data: S0VZCg==",
                    "'client-certificate' and 'client-key' must be given together, got the key"},
        WrongConfig{"server: https://c", "token: [1]", "'token' must be text"}));

TEST(KubeConfigFile, AnUnknownContextIsRefusedWithASuggestion) {
  EXPECT_EQ(KubeConfigError(ConfigWith("server: https://c", "token: t"), "othr"),
            "kubeconfig: 'contexts' must have an entry 'othr' (did you mean 'other'?) (conf)");
}

TEST(KubeConfigFile, TextThatIsNoYamlIsRefusedWithItsLine) {
  const std::string error = KubeConfigError("a: 1\nb: [\n");
  EXPECT_NE(error.find("must be YAML"), std::string::npos) << error;
  EXPECT_NE(error.find("(conf:3)"), std::string::npos) << error;
}

class InCluster : public testing::Test {
 protected:
  InCluster() {
    std::string pattern = (fs::temp_directory_path() / "allot-account-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    WriteTextFile(folder_ / "ca.crt", "CA\n");
    WriteTextFile(folder_ / "token", "first\n");
    ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  }
  ~InCluster() override {
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    ::unsetenv("KUBERNETES_SERVICE_PORT");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(InCluster, TheServiceAccountOfThePodIsTaken) {
  const KubeConfig config = InClusterKubeConfig(folder_);
  EXPECT_EQ(config.server, "https://[fd00::1]:443");
  EXPECT_EQ(config.authority, "CA\n");
  EXPECT_EQ(config.token_file, folder_ / "token");
}

TEST_F(InCluster, ATokenThatIsWrittenAnewIsReadAnew) {
  BearerToken token("", folder_ / "token");
  EXPECT_EQ(token.Latest(), "first");
  WriteTextFile(folder_ / "token", "second\n");
  fs::last_write_time(folder_ / "token",
                      fs::last_write_time(folder_ / "token") + std::chrono::seconds(1));
  EXPECT_EQ(token.Latest(), "second");
  fs::remove(folder_ / "token");
  EXPECT_EQ(token.Latest(), "second") << "the last one, where there is none";
}

TEST(Base64, IsReadWholeOrNotAtAll) {
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("YQ=="), "a");
  EXPECT_EQ(FromBase64("YWI="), "ab");
  EXPECT_EQ(FromBase64("YWJj\n ZA=="), "abcd");
  for (const char* wrong : {"YQ", "Y===", "YQ==YQ==", "Y Q=", "YW*j", "===="}) {
    EXPECT_FALSE(FromBase64(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace allot
