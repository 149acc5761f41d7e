#pragma once
// How a kind of objects is kept known: a list, in pages, then a watch from its version on, again
// and again. This is the protocol alone, without sockets, threads or a clock: the client
// (kube_client.h) asks for the next request and brings what came. What may come wrong is handled
// here: pages and watches that are too old (410, as an answer or as an event), streams that are cut
// in the middle of a line, lines that are no event, refusals, and servers that ask for patience. A
// server that opens watches and says nothing in them, not even a bookmark, may have forgotten the
// version: after a few of these, or a long one, each watch is preceded by a list.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/kubernetes/api/kube_reply.h"
#include "clients/kubernetes/api/object_store.h"
#include "core/types.h"

namespace allot {

class ListWatch {
 public:
  // `path` of the collection, `query` that restricts it ("labelSelector=..."; may be ""). `sink`
  // outlives it.
  ListWatch(std::string path, std::string query, ObjectSink& sink);

  struct Ask {
    std::string path;
    bool watch = false;  // a stream of lines, else one whole answer
  };
  // The next request; nullopt while one is under way, or before due().
  std::optional<Ask> Next(Seconds now);
  Seconds due() const { return under_way_ ? kNever : not_before_; }

  // What came of it. They say whether something changed that the sink keeps.
  bool OnList(const KubeReply& reply, Seconds now);
  void OnOpen(Seconds now);  // the server has accepted the watch
  bool OnBytes(std::string_view bytes, Seconds now);
  // A watch that was accepted has ended, or `reply` says why it was not accepted.
  void OnEnd(Seconds now);
  void OnRefused(const KubeReply& reply, Seconds now);

  // The stream is to be closed: what came is no watch, or it is too old.
  bool wants_end() const { return wants_end_; }
  bool listed() const { return listed_; }  // ever, as a whole
  // Why what is known may be old; "": it is as new as it can be.
  const std::string& trouble() const { return trouble_; }

 private:
  bool OnLine(std::string_view line, Seconds now);
  void Fail(std::string why, Seconds retry_after, Seconds now);
  void ListAgain();

  const std::string path_;
  const std::string query_;
  ObjectSink& sink_;
  bool under_way_ = false;
  bool wants_end_ = false;
  bool listed_ = false;
  bool list_next_ = true;
  std::string more_;                   // token of the next page; "": the first
  std::vector<nlohmann::json> items_;  // of the pages so far
  std::string version_;                // to watch from
  std::string line_;                   // that has not ended yet
  std::string trouble_;
  int failures_ = 0;       // in a row
  bool heard_ = false;     // an event or a bookmark, in this watch
  int silent_ = 0;         // watches in a row in which none came
  bool reported_ = false;  // that they are silent
  Seconds opened_ = 0;
  Seconds not_before_ = 0;
};

}  // namespace allot
