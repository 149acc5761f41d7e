#pragma once
// The token by which we are known to the API server: a text, or a file that is written anew before
// the token in it expires, as in every pod. The file is read when its time of writing changes, and
// after the server has refused the token. One thread.

#include <filesystem>
#include <string>

namespace allot {

class BearerToken {
 public:
  // `file` wins; both may be empty: no token.
  BearerToken(std::string token, std::filesystem::path file);

  // As the file says now; the last one where it cannot be read.
  const std::string& Latest();
  // The server has refused the latest one: Latest reads the file again, whatever its time.
  void Refused() { read_ = std::filesystem::file_time_type::min(); }
  bool rotates() const { return !file_.empty(); }

 private:
  std::string token_;
  std::filesystem::path file_;
  std::filesystem::file_time_type read_;  // when the file was written that we have read
};

}  // namespace allot
