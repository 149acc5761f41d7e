#include "live/control_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "core/strings.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

int Scraper(const std::string& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  const auto port = ParseInteger(address.substr(address.rfind(':') + 1));
  to.sin_port = htons(static_cast<std::uint16_t>(port.value()));
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  return socket;
}

// Ten that say nothing take longer than a user waits.
TEST(ControlServer, UsersAreAnsweredBesideSilentScrapers) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  ControlServer server(path, "tcp:127.0.0.1:0");
  server.Publish({{"jobs", 7}}, "metrics");
  std::vector<int> silent;
  silent.reserve(10);
  for (int i = 0; i < 10; ++i) silent.push_back(Scraper(server.metrics_address()));
  EXPECT_EQ(AskDaemon(path, {{"do", "status"}})["jobs"], 7);
  for (const int socket : silent) ::close(socket);
}

}  // namespace
}  // namespace allot
