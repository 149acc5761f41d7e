#pragma once
// The state of a standby daemon: a file in its state folder, because it does not answer requests
// yet. The daemon writes it; 'allot status' and 'allot doctor' read it.

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace allot {

struct WaitingStandby {
  std::string process;  // pid
  std::string runtime;  // the text of 'allot serve --runtime'
  std::string why;      // the active daemon, or another reason to wait

  std::string Text() const;    // "waits to be in charge (process 4711): ..."
  std::string ToJson() const;  // {"standby": {"process": ..., "waits": ...}}
};

// The file exists from the first Update to the end of the object.
class StandbyNote {
 public:
  StandbyNote(const std::filesystem::path& state, std::string runtime);
  ~StandbyNote();
  StandbyNote(const StandbyNote&) = delete;
  StandbyNote& operator=(const StandbyNote&) = delete;

  void Update(const std::string& why);  // thread-safe
  void Remove();                        // the daemon is active now; later updates are ignored

 private:
  std::mutex mutex_;
  bool over_ = false;
  std::filesystem::path file_;
  std::string runtime_;
};

// The standby daemon of this folder; nullopt if there is none, or it has died.
std::optional<WaitingStandby> StandbyIn(const std::filesystem::path& state);

}  // namespace allot
