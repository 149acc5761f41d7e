#pragma once
// As much of HTTP/1.1 as the fake API server needs, on blocking sockets.

#include <map>
#include <string>

namespace allot {

struct FakeRequest {
  std::string method, path, body;
  std::string token;  // of "Authorization: Bearer"
  std::map<std::string, std::string> query;
};

// False when the connection is over. `buffer` holds what was read beyond the request.
bool ReadFakeRequest(int socket, std::string* buffer, FakeRequest* request);
bool SendText(int socket, const std::string& text);
std::string Chunk(const std::string& text);  // of a body whose length is not known

}  // namespace allot
