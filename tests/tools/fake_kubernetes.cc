// The fake API server and its kubelets (tests/unit/live/runtimes/kubernetes) as a program, for
// tests that run allot itself: tests/integration/kubernetes_serve_test.py.
//
//   fake_kubernetes NODES.json RIGHTS.yaml
// Prints its address, then answers each line of its input by one, all of them JSON:
//   {"do":"create","kind":"jobs","object":{...}}   {"do":"list","kind":"pods"}   {"do":"requests"}
//   {"do":"update","kind":"nodes","name":"n1","patch":{...}}   (a merge patch)

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file.h"
#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"
#include "tests/unit/live/runtimes/kubernetes/fake_kubelet.h"

namespace {

using Json = nlohmann::json;

Json AnswerTo(allot::FakeApiServer& server, const Json& request) {
  const std::string what = request.at("do");
  if (what == "create") return server.Create(request.at("kind"), request.at("object"));
  if (what == "requests") return server.Requests();
  if (what == "update") {
    return server.Update(request.at("kind"), request.at("name"),
                         [&](Json& object) { object.merge_patch(request.at("patch")); });
  }
  Json items = Json::array();
  server.ForEach(request.at("kind"), [&](const Json& object) { items.push_back(object); });
  return items;
}

// Where nothing that pods print comes between: they have our standard output.
std::FILE* OwnOutput() {
  const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
  return ::fdopen(own, "w");
}

void Say(std::FILE* to, const Json& answer) {
  std::fprintf(to, "%s\n", answer.dump().c_str());
  std::fflush(to);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: fake_kubernetes NODES.json RIGHTS.yaml\n", stderr);
    return 2;
  }
  std::FILE* const out = OwnOutput();
  allot::FakeApiServer server;
  server.Restrict(argv[2]);
  const Json nodes = Json::parse(allot::ReadTextFile(argv[1]));
  for (const Json& node : nodes.at("items")) server.Create("nodes", node);
  const allot::FakeKubelet kubelet(server);
  Say(out, server.url());
  for (std::string line; std::getline(std::cin, line);) {
    Say(out, AnswerTo(server, Json::parse(line)));
  }
  return 0;
}
