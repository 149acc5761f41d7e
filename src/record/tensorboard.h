#pragma once
// Scalar curves for TensorBoard, written without TensorFlow or protobuf: training adds a value per
// tag and step, TensorBoard follows the file as it grows. A log, so it appears at once and is only
// appended to; a torn last record, all that a crash can leave, is ignored by TensorBoard.
//
// The file is a sequence of TFRecords (length, CRC of length, data, CRC of data; CRC-32C, masked),
// each one `Event` message of tensorflow/core/util/event.proto. A wall time is written only if the
// caller gives one: equal curves then give equal bytes.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace allot {

// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
std::uint32_t Crc32c(std::string_view bytes);

class TensorboardWriter {
 public:
  // Creates <folder>/events.out.tfevents.<suffix>. TensorBoard shows all such files of a folder as
  // one run, in the order of their names: a resumed training takes a suffix that sorts later.
  TensorboardWriter(const std::filesystem::path& folder, const std::string& suffix);
  ~TensorboardWriter();  // flushes; a failure then passes silently: call Flush() where it matters
  TensorboardWriter(const TensorboardWriter&) = delete;
  TensorboardWriter& operator=(const TensorboardWriter&) = delete;

  // Buffered; reaches the file at 64 KiB, at Flush() and at the end. RunError when it cannot be
  // written.
  void Add(std::string_view tag, double value, std::int64_t step, double wall_seconds = 0);
  void Flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void AppendRecord(std::string_view event);
  std::filesystem::path path_;
  std::ofstream out_;
  std::string buffer_;
};

}  // namespace allot
