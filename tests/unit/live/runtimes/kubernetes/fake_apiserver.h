#pragma once
// An API server in this process, on a port of the loopback: lists in pages, watches with bookmarks,
// create, merge patch, delete, the rules for the status of Jobs, and collection of what a deleted
// Job owned. Tests are its users, schedulers and kubelets, and its faults.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace allot {

// What the kubelet of the pod with this uid would give it as its identity.
inline std::string FakeToken(const std::string& pod_uid) { return "token-of-" + pod_uid; }

class FakeApiServer {
 public:
  using Json = nlohmann::json;

  FakeApiServer();
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  std::string url() const;
  // From now on a client may do what the roles in this file say, and nothing else; "": everything.
  void Restrict(const std::string& rights = "");
  // Of these, what no request needed yet: "verb resource".
  std::vector<std::string> UnusedRights() const;

  // ---- as users, schedulers and kubelets have it; `kind`: "pods", `name`: "default/x" or "n1"
  // ----
  Json Create(const std::string& kind, Json object);
  Json Get(const std::string& kind, const std::string& name) const;  // null: none
  // False: there is none. What `change` leaves as it was is no event.
  bool Update(const std::string& kind, const std::string& name,
              const std::function<void(Json&)>& change);
  void Remove(const std::string& kind, const std::string& name);
  void ForEach(const std::string& kind, const std::function<void(const Json&)>& each) const;

  // ---- faults ----
  // The next `times` requests whose "METHOD PATH" holds `match` are answered so.
  void Refuse(const std::string& match, long code, Json status, int times = 1);
  void CutWatches(bool within_a_line);    // all that are open
  void SplitLines(bool on);               // events come a few bytes at a time
  void Reorder(bool on);                  // events that came together are told backwards
  void Compact();                         // watches from before now are too old
  void ExpirePages();                     // and so are tokens of pages
  void SetPage(std::size_t most);         // items of a page, whatever was asked for
  void Expect(const std::string& token);  // others have expired
  void Down();                            // as after kill -9
  void Up();                              // on the same port

  // "METHOD PATH" of all requests so far, watches with "?watch"; and of how many it holds `match`.
  std::vector<std::string> Requests() const;
  int Count(const std::string& match) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
