#include "live/runtimes/slurm/hub_address.h"

#include <netdb.h>
#include <unistd.h>

#include <memory>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

std::string NumericAddress(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    throw UsageError(
        "slurm: 'address' must be this machine's name or number for nodes, '{}' is neither", host);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  char number[NI_MAXHOST] = "";
  getnameinfo(list->ai_addr, list->ai_addrlen, number, sizeof number, nullptr, 0, NI_NUMERICHOST);
  return number;
}

}  // namespace

std::vector<std::string> HubAddresses(std::string_view text) {
  const std::vector<std::string_view> given = Split(text, '|');
  std::vector<std::string> addresses;
  for (const std::string_view one : given) {
    const std::size_t colon = one.rfind(':');
    const bool has_port = colon != std::string_view::npos;
    const long long port = has_port ? ParseInteger(one.substr(colon + 1)).value_or(-1) : 0;
    const long long least = has_port || given.size() > 1 ? 1 : 0;
    if (port < least || port > 65535) {
      throw UsageError(
          "slurm: 'address' must be HOST, HOST:PORT or several HOST:PORT joined by '|', got '{}' "
          "in '{}'",
          one, text);
    }
    addresses.push_back(
        fmt::format("tcp:{}:{}", NumericAddress(std::string(one.substr(0, colon))), port));
  }
  return addresses;
}

std::string FirstFreeAddress(const std::vector<std::string>& addresses, Seconds patience) {
  std::string why;
  for (const Seconds each : {0.0, patience}) {
    why.clear();
    for (const std::string& address : addresses) {
      try {
        std::string given;
        ::close(Listen(address, &given, each));
        return address;
      } catch (const Error& error) {
        why += fmt::format("{}{}", why.empty() ? "" : "; ", error.what());
      }
    }
  }
  throw RunError("{}", why);
}

bool OfOneHost(const std::string& address, const std::string& other) {
  return address.substr(0, address.rfind(':')) == other.substr(0, other.rfind(':'));
}

std::string DaemonVariable(const std::string& own, const std::vector<std::string>& addresses) {
  std::string variable = own;
  if (addresses.size() < 2) return variable;
  for (const std::string& other : addresses) {
    if (other != own) variable += "," + other;
  }
  return variable;
}

}  // namespace allot
