#include "record/tensorboard.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

static_assert(std::endian::native == std::endian::little, "records are little-endian");

constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41, bits reversed
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

template <typename T>
void AppendRaw(std::string* out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out->append(bytes.data(), bytes.size());
}

// ---- protobuf wire format (https://protobuf.dev/programming-guides/encoding) ----

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendVarint(std::string* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendKey(std::string* out, std::uint8_t field, Wire wire) {
  out->push_back(static_cast<char>(field << 3 | static_cast<std::uint8_t>(wire)));
}

void AppendBytes(std::string* out, std::uint8_t field, std::string_view bytes) {
  AppendKey(out, field, Wire::kBytes);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

// Field numbers of event.proto and summary.proto.
constexpr std::uint8_t kEventWallTime = 1;
constexpr std::uint8_t kEventStep = 2;
constexpr std::uint8_t kEventFileVersion = 3;
constexpr std::uint8_t kEventSummary = 5;
constexpr std::uint8_t kSummaryValue = 1;
constexpr std::uint8_t kValueTag = 1;
constexpr std::uint8_t kValueSimple = 2;

std::string EventHead(double wall_seconds, std::int64_t step) {
  std::string event;
  AppendKey(&event, kEventWallTime, Wire::kFixed64);
  AppendRaw(&event, wall_seconds);
  AppendKey(&event, kEventStep, Wire::kVarint);
  AppendVarint(&event, static_cast<std::uint64_t>(step));
  return event;
}

// TFRecord stores checksums rotated and shifted, so that data which contain checksums stay safe.
std::uint32_t MaskedCrc(std::string_view bytes) {
  return std::rotr(Crc32c(bytes), 15) + 0xA282EAD8U;
}

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  static constexpr auto kTable = MakeCrcTable();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (crc >> 8);
  }
  return ~crc;
}

TensorboardWriter::TensorboardWriter(const fs::path& folder, const std::string& suffix)
    : path_(folder / ("events.out.tfevents." + suffix)) {
  std::error_code error;
  fs::create_directories(folder, error);
  out_.open(path_, std::ios::binary | std::ios::trunc);
  if (!out_) throw RunError("{}: cannot create: {}", path_.string(), std::strerror(errno));
  std::string event = EventHead(0, 0);
  AppendBytes(&event, kEventFileVersion, "brain.Event:2");
  AppendRecord(event);
  Flush();
}

TensorboardWriter::~TensorboardWriter() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
}

void TensorboardWriter::Add(std::string_view tag, double value, std::int64_t step,
                            double wall_seconds) {
  std::string point;
  AppendBytes(&point, kValueTag, tag);
  AppendKey(&point, kValueSimple, Wire::kFixed32);
  AppendRaw(&point, static_cast<float>(value));
  std::string summary;
  AppendBytes(&summary, kSummaryValue, point);
  std::string event = EventHead(wall_seconds, step);
  AppendBytes(&event, kEventSummary, summary);
  AppendRecord(event);
  if (buffer_.size() >= kBufferBytes) Flush();
}

void TensorboardWriter::AppendRecord(std::string_view event) {
  std::string length;
  AppendRaw(&length, static_cast<std::uint64_t>(event.size()));
  buffer_ += length;
  AppendRaw(&buffer_, MaskedCrc(length));
  buffer_ += event;
  AppendRaw(&buffer_, MaskedCrc(event));
}

void TensorboardWriter::Flush() {
  errno = 0;
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  out_.flush();
  if (!out_) throw RunError("{}: cannot write: {}", path_.string(), std::strerror(errno));
  buffer_.clear();
}

}  // namespace allot
