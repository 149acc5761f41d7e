#include "models/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "core/check.h"
#include "core/error.h"

namespace allot {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(float) == 4,
              "the format is little-endian; big-endian machines would need byte swaps here");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the reference implementation's limit
constexpr const char* kMetadata = "__metadata__";

nlohmann::json ParseHeader(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < kLengthBytes) {
    throw DataError("{}: a safetensors file has at least {} bytes, got {}", origin, kLengthBytes,
                    bytes.size());
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::uint64_t room = std::min<std::uint64_t>(bytes.size() - kLengthBytes, kMaxHeader);
  if (length > room) {
    throw DataError("{}: the header announces {} bytes, at most {} can follow", origin, length,
                    room);
  }
  nlohmann::json header;
  try {
    header = nlohmann::json::parse(bytes.substr(kLengthBytes, length));
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError("{}: the header must be JSON: {}", origin, error.what());
  }
  if (!header.is_object()) {
    throw DataError("{}: the header must be a JSON object, got {}", origin, header.type_name());
  }
  return header;
}

// The fields of one tensor's header entry.
struct Extent {
  std::string name;
  TensorShape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t Unsigned(const nlohmann::json& value, const std::string& what) {
  if (!value.is_number_unsigned()) {
    throw DataError("{} must be a whole number >= 0, got {}", what, value.dump());
  }
  return value.get<std::uint64_t>();
}

const nlohmann::json& Field(const nlohmann::json& entry, const char* key, const std::string& what) {
  if (!entry.is_object() || !entry.contains(key)) {
    throw DataError("{} must be an object with '{}', got {}", what, key, entry.dump());
  }
  return entry.at(key);
}

Extent ParseEntry(const std::string& name, const nlohmann::json& entry, std::uint64_t data_bytes,
                  const std::string& origin) {
  const std::string what = fmt::format("{}: tensor '{}'", origin, name);
  const nlohmann::json& type = Field(entry, "dtype", what);
  if (type != "F32") throw DataError("{} must have dtype \"F32\", got {}", what, type.dump());
  const nlohmann::json& shape = Field(entry, "shape", what);
  const nlohmann::json& offsets = Field(entry, "data_offsets", what);
  if (!shape.is_array()) throw DataError("{}: shape must be a list, got {}", what, shape.dump());
  if (!offsets.is_array() || offsets.size() != 2) {
    throw DataError("{}: data_offsets must be [begin, end], got {}", what, offsets.dump());
  }

  Extent extent;
  extent.name = name;
  extent.begin = Unsigned(offsets[0], what + ": begin of data_offsets");
  extent.end = Unsigned(offsets[1], what + ": end of data_offsets");
  if (extent.begin > extent.end || extent.end > data_bytes) {
    throw DataError("{}: data_offsets must lie within [0, {}], got [{}, {}]", what, data_bytes,
                    extent.begin, extent.end);
  }
  std::uint64_t count = 1;
  for (const nlohmann::json& size : shape) {
    const std::uint64_t dimension = Unsigned(size, what + ": a size in shape");
    const std::uint64_t limit = data_bytes / sizeof(float);  // keeps the product from overflowing
    if (dimension > limit || (dimension > 0 && count > limit / dimension)) {
      throw DataError("{}: shape {} needs more than the {} values in the file", what, shape.dump(),
                      limit);
    }
    count *= dimension;
    extent.shape.push_back(static_cast<std::int64_t>(dimension));
  }
  if (extent.end - extent.begin != count * sizeof(float)) {
    throw DataError("{}: shape {} needs {} bytes, data_offsets give {}", what, shape.dump(),
                    count * sizeof(float), extent.end - extent.begin);
  }
  return extent;
}

}  // namespace

std::string EncodeSafetensors(const TensorMap& tensors,
                              const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    ALLOT_CHECK(name != kMetadata);
    ALLOT_CHECK_EQ(tensor.data.size(), ZeroTensor(tensor.shape).data.size());
    const std::size_t end = offset + tensor.data.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');

  std::string bytes(kLengthBytes, '\0');
  const std::uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + offset);
  bytes += text;
  for (const auto& [name, tensor] : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.data.data()),
                 tensor.data.size() * sizeof(float));
  }
  return bytes;
}

TensorMap DecodeSafetensors(std::string_view bytes, const std::string& origin) {
  const nlohmann::json header = ParseHeader(bytes, origin);
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  const std::string_view data = bytes.substr(kLengthBytes + header_bytes);

  std::vector<Extent> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) extents.push_back(ParseEntry(name, entry, data.size(), origin));
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });

  TensorMap tensors;
  std::uint64_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != covered) {
      throw DataError("{}: tensor '{}' must begin at byte {} (no gaps, no overlaps), got {}",
                      origin, extent.name, covered, extent.begin);
    }
    Tensor tensor = ZeroTensor(extent.shape);
    if (!tensor.data.empty()) {
      std::memcpy(tensor.data.data(), data.data() + extent.begin, extent.end - extent.begin);
    }
    tensors.emplace(extent.name, std::move(tensor));
    covered = extent.end;
  }
  if (covered != data.size()) {
    throw DataError("{}: the tensors cover {} bytes, the file holds {}", origin, covered,
                    data.size());
  }
  return tensors;
}

}  // namespace allot
