#pragma once
// The latest known objects of one kind: filled by a list and then by a watch (list_watch.h), and by
// the answers to our own requests, so that what we have written is seen at once. What is older than
// what is known changes nothing, in whatever order it comes: versions of one cluster rise, and what
// was deleted does not come back. Not thread-safe.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace allot {

// metadata.resourceVersion; 0 where it is no number.
std::uint64_t VersionOf(const nlohmann::json& object);
// metadata.uid. Throws nlohmann::json::exception where there is none.
std::string UidOf(const nlohmann::json& object);

// What a list and a watch tell of a kind of objects. `true`: something changed that is kept. They
// throw nlohmann::json::exception for what is no object of the API.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  virtual bool Replace(const std::vector<nlohmann::json>& items, std::uint64_t version) = 0;
  virtual bool Put(const nlohmann::json& object) = 0;
  virtual bool Remove(const nlohmann::json& object) = 0;
  virtual void Bookmark() = 0;  // nothing older than the bookmark before comes any more
};

// `Object` compares equal where nothing that matters has changed.
template <typename Object>
class ObjectStore final : public ObjectSink {
 public:
  // nullopt: of no interest.
  using Reader = std::function<std::optional<Object>(const nlohmann::json&)>;

  explicit ObjectStore(Reader read) : read_(std::move(read)) {}

  bool Replace(const std::vector<nlohmann::json>& items, std::uint64_t version) override {
    std::map<std::string, Entry> before = std::exchange(entries_, {});
    bool changed = false;
    for (const nlohmann::json& item : items) {
      const std::string uid = UidOf(item);
      const auto known = before.find(uid);
      if (known != before.end()) entries_.insert(before.extract(known));
      changed = Store(item) || changed;
    }
    watched_ = std::max(watched_, version);
    for (auto& [uid, entry] : before) {
      // Written by us after the list was made.
      if (version > 0 && entry.version > version) {
        entries_.emplace(uid, std::move(entry));
      } else {
        changed = true;
      }
    }
    return changed;
  }

  bool Put(const nlohmann::json& item) override {
    watched_ = std::max(watched_, VersionOf(item));
    return Store(item);
  }

  // The answer to a request of ours. The watch may have brought more meanwhile, even that the
  // object is gone: what is not newer than that changes nothing.
  bool PutWritten(const nlohmann::json& item) {
    const std::uint64_t version = VersionOf(item);
    return (version == 0 || version > watched_) && Store(item);
  }

  bool Remove(const nlohmann::json& item) override {
    watched_ = std::max(watched_, VersionOf(item));
    return RemoveWritten(item);
  }

  // By a request of ours. The answer may be without a version.
  bool RemoveWritten(const nlohmann::json& item) {
    const std::string uid = UidOf(item);
    deleted_.insert(uid);
    return entries_.erase(uid) > 0;
  }

  void Bookmark() override { deleted_before_ = std::exchange(deleted_, {}); }

  // By uid.
  template <typename Each>
  void ForEach(const Each& each) const {
    for (const auto& [uid, entry] : entries_) each(entry.object);
  }
  const Object* Find(const std::string& uid) const {
    const auto found = entries_.find(uid);
    return found == entries_.end() ? nullptr : &found->second.object;
  }
  // Of the latest state that is known, also where nothing that is kept has changed; 0: unknown.
  std::uint64_t VersionOfUid(const std::string& uid) const {
    const auto found = entries_.find(uid);
    return found == entries_.end() ? 0 : found->second.version;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t version = 0;
    Object object;
  };

  bool Store(const nlohmann::json& item) {
    const std::string uid = UidOf(item);
    const std::uint64_t version = VersionOf(item);
    if (deleted_.contains(uid) || deleted_before_.contains(uid)) return false;
    const auto known = entries_.find(uid);
    if (known != entries_.end() && version > 0 && version <= known->second.version) return false;
    std::optional<Object> object = read_(item);
    if (!object) return known != entries_.end() && entries_.erase(uid) > 0;
    if (known == entries_.end()) {
      entries_.emplace(uid, Entry{version, std::move(*object)});
      return true;
    }
    known->second.version = version;
    if (known->second.object == *object) return false;
    known->second.object = std::move(*object);
    return true;
  }

  Reader read_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> deleted_, deleted_before_;  // since the last two bookmarks
  std::uint64_t watched_ = 0;  // the latest version that list and watch brought
};

}  // namespace allot
