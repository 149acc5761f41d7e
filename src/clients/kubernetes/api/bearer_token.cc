#include "clients/kubernetes/api/bearer_token.h"

#include <spdlog/spdlog.h>

#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {

BearerToken::BearerToken(std::string token, std::filesystem::path file)
    : token_(std::move(token)),
      file_(std::move(file)),
      read_(std::filesystem::file_time_type::min()) {}

const std::string& BearerToken::Latest() {
  if (file_.empty()) return token_;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file_, error);  // behind links
  if (error || written == read_) return token_;
  try {
    token_ = Trim(ReadTextFile(file_.string()));
    read_ = written;
  } catch (const Error& unreadable) {
    spdlog::warn("the token for the API server cannot be read: {}", unreadable.what());
  }
  return token_;
}

}  // namespace allot
