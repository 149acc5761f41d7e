#pragma once
// What a daemon says of itself while it waits to be in charge: a file in its state folder, as it
// answers nobody yet. Written by the daemon, read by 'allot status' and 'allot doctor'.

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace allot {

struct WaitingStandby {
  std::string process;  // its pid
  std::string runtime;  // as of 'allot serve --runtime'
  std::string why;      // who is in charge, or what else it waits for

  std::string Text() const;    // "waits to be in charge (process 4711): ..."
  std::string ToJson() const;  // {"standby": {"process": ..., "waits": ...}}
};

// Nothing is written before the first Say, nothing is left at its end.
class StandbyNote {
 public:
  StandbyNote(const std::filesystem::path& state, std::string runtime);
  ~StandbyNote();
  StandbyNote(const StandbyNote&) = delete;
  StandbyNote& operator=(const StandbyNote&) = delete;

  void Say(const std::string& why);  // the latest counts. Any thread
  void Over();                       // it waits no more: the note is gone, later words are dropped

 private:
  std::mutex mutex_;
  bool over_ = false;
  std::filesystem::path file_;
  std::string runtime_;
};

// The daemon that serves this folder, while it waits; one that has died does not.
std::optional<WaitingStandby> StandbyIn(const std::filesystem::path& state);

}  // namespace allot
