#pragma once
// A request to the API server and its answer, with the server's own word for what went wrong
// (metav1.Status). Pure data, for the client and those who ask it.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/types.h"

namespace allot {

struct KubeRequest {
  std::string method;  // "GET", "POST", "PATCH" (a merge patch), "DELETE"
  std::string path;    // with query, "/api/v1/pods?limit=500"
  nlohmann::json body = nullptr;
};

struct KubeReply {
  long code = 0;            // HTTP; 0: none came
  std::string reason;       // the server's word: "AlreadyExists"; "" where it gave none
  std::string message;      // for people
  nlohmann::json body;      // of an answer that is ok
  Seconds retry_after = 0;  // not before, as the server says; 0: nothing said

  bool ok() const { return code >= 200 && code < 300; }
  bool Is(std::string_view word) const { return !ok() && reason == word; }
  // `what` begins the message: "pod x: 409 AlreadyExists: pods "x" already exists".
  Status ToStatus(std::string_view what) const;
  std::string Text() const;  // the same, without `what`
};

// Of a whole body. One that is not JSON, or a Status that is not whole, keeps its beginning as the
// message; with code 2xx it becomes no answer (code 0).
KubeReply ReadKubeReply(long code, std::string_view body);
KubeReply NoKubeReply(std::string why);

// "a=b,c" -> what may stand in a query.
std::string QueryText(std::string_view text);

}  // namespace allot
