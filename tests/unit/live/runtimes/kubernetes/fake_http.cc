#include "tests/unit/live/runtimes/kubernetes/fake_http.h"

#include <fmt/format.h>
#include <sys/socket.h>

namespace allot {
namespace {

std::string Decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

void ReadTarget(const std::string& target, FakeRequest* request) {
  const std::size_t mark = target.find('?');
  request->path = target.substr(0, mark);
  std::size_t at = mark;
  while (at != std::string::npos) {
    const std::size_t next = target.find('&', at + 1);
    const std::string pair = target.substr(at + 1, next - at - 1);
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) {
      request->query[pair.substr(0, equals)] = Decoded(pair.substr(equals + 1));
    }
    at = next;
  }
}

}  // namespace

bool ReadFakeRequest(int socket, std::string* buffer, FakeRequest* request) {
  const auto more = [&] {
    char bytes[8192];
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got > 0) buffer->append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  };
  std::size_t end;
  while ((end = buffer->find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return false;
  }
  const std::string head = buffer->substr(0, end);
  buffer->erase(0, end + 4);
  const std::size_t first = head.find(' ');
  const std::size_t second = head.find(' ', first + 1);
  request->method = head.substr(0, first);
  ReadTarget(head.substr(first + 1, second - first - 1), request);
  const std::string bearer = "\r\nAuthorization: Bearer ";
  if (const std::size_t at = head.find(bearer); at != std::string::npos) {
    const std::size_t from = at + bearer.size();
    request->token = head.substr(from, head.find('\r', from) - from);
  }
  std::size_t length = 0;
  const std::size_t field = head.find("Content-Length: ");
  if (field != std::string::npos) length = std::stoul(head.substr(field + 16));
  while (buffer->size() < length) {
    if (!more()) return false;
  }
  request->body = buffer->substr(0, length);
  buffer->erase(0, length);
  return true;
}

bool SendText(int socket, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t now = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

std::string Chunk(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace allot
