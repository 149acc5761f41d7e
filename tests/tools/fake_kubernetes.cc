// The fake API server and its kubelets (tests/unit/live/kubernetes) as a program, for tests that
// run allot itself: tests/integration/kubernetes_serve_test.py.
//
//   fake_kubernetes NODES.json RIGHTS.yaml
// Prints its address, then answers each line of its input by one, all of them JSON:
//   {"do":"create","kind":"jobs","object":{...}}   {"do":"list","kind":"pods"}   {"do":"requests"}

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file.h"
#include "tests/unit/live/kubernetes/fake_apiserver.h"
#include "tests/unit/live/kubernetes/fake_kubelet.h"

namespace {

using Json = nlohmann::json;

Json AnswerTo(allot::FakeApiServer& server, const Json& request) {
  const std::string what = request.at("do");
  if (what == "create") return server.Create(request.at("kind"), request.at("object"));
  if (what == "requests") return server.Requests();
  Json items = Json::array();
  server.ForEach(request.at("kind"), [&](const Json& object) { items.push_back(object); });
  return items;
}

void Say(const Json& answer) { std::cout << answer.dump() << std::endl; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: fake_kubernetes NODES.json RIGHTS.yaml\n", stderr);
    return 2;
  }
  allot::FakeApiServer server;
  server.Restrict(argv[2]);
  for (const Json& node : Json::parse(allot::ReadTextFile(argv[1])).at("items")) {
    server.Create("nodes", node);
  }
  const allot::FakeKubelet kubelet(server);
  Say(server.url());
  for (std::string line; std::getline(std::cin, line);) Say(AnswerTo(server, Json::parse(line)));
  return 0;
}
