#pragma once
// Where the API server is and who we are to it: from a kubeconfig file (YAML, or JSON, which is
// YAML too), or from the files of the service account that every pod has. Nothing here runs a
// program: the error for a user with an exec plugin says what to do instead.

#include <filesystem>
#include <string>
#include <string_view>

namespace allot {

struct KubeConfig {
  std::string server;                // "https://10.0.0.1:6443", without a slash at the end
  std::string authority;             // PEM of the cluster's CA; "": those of the system
  std::string certificate;           // PEM, ours; with `key`, or ""
  std::string key;                   // PEM
  std::string token;                 // "": none, or in `token_file`
  std::filesystem::path token_file;  // is written anew before the token in it expires
  std::string proxy;                 // URL; "": none
};

// `context` "": the file's current one. Paths in the text begin in `folder`; `name` stands for the
// file in messages. DataError naming the entry, the rule and the line.
KubeConfig KubeConfigFromText(std::string_view text, const std::string& name,
                              const std::filesystem::path& folder, const std::string& context);

// The same from a file.
KubeConfig ReadKubeConfig(const std::filesystem::path& file, const std::string& context);

// Of the pod that we are in: `folder` holds token and ca.crt, KUBERNETES_SERVICE_HOST and _PORT the
// address. RunError outside of a pod.
KubeConfig InClusterKubeConfig(
    const std::filesystem::path& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// `file`; else $KUBECONFIG; else in a pod its service account; else ~/.kube/config.
KubeConfig FindKubeConfig(const std::string& file, const std::string& context);

}  // namespace allot
