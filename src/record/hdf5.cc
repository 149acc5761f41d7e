#include "record/hdf5.h"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "record/hdf5_handle.h"
#include "record/write_fault.h"

namespace allot {
namespace {

constexpr unsigned kGzipLevel = 4;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxElements = std::size_t{1} << 33;  // a guard against absurd files

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "HDF5 1.10 or newer");

// HDF5 prints its errors unless this is switched off, separately for each thread.
void SilenceHdf5() {
  thread_local const bool silenced = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  ALLOT_CHECK(silenced);
}

// The innermost entry of HDF5's error stack: the cause, without the library's call chain.
std::string Hdf5Reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "unknown HDF5 error" : reason;
}

template <typename T>
hid_t NativeType() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int16_t>) return H5T_NATIVE_INT16;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

// What h5py takes for a bool.
Hdf5Handle BoolType() {
  Hdf5Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

Hdf5Handle TextType() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

// Values as HDF5 wants them: its type, and a contiguous buffer that lives as long as this.
struct Encoded {
  Hdf5Handle type;
  const void* data = nullptr;
  std::size_t element_bytes = 0;
  bool is_text = false;
  std::vector<std::int8_t> truths;
  std::vector<const char*> texts;
};

template <typename T>
Encoded Encode(const std::vector<T>& values) {
  Encoded result;
  if constexpr (std::is_same_v<T, bool>) {
    result.type = BoolType();
    result.truths.assign(values.begin(), values.end());
    result.data = result.truths.data();
    result.element_bytes = 1;
  } else if constexpr (std::is_same_v<T, std::string>) {
    result.type = TextType();
    for (const std::string& text : values) result.texts.push_back(text.c_str());
    result.data = result.texts.data();
    result.element_bytes = 16;  // of a reference into the heap that holds the text
    result.is_text = true;
  } else {
    result.type = Hdf5Handle(H5Tcopy(NativeType<T>()), H5Tclose);
    result.data = values.data();
    result.element_bytes = sizeof(T);
  }
  return result;
}

std::size_t Product(const ArrayShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// The layout described in the header, and no time stamp.
Hdf5Handle DatasetLayout(const ArrayShape& shape, const Encoded& encoded) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  for (hsize_t& extent : chunk) extent = std::max<hsize_t>(extent, 1);
  std::size_t row_bytes = encoded.element_bytes;
  for (std::size_t i = 1; i < chunk.size(); ++i) row_bytes *= chunk[i];
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / row_bytes, 1, chunk[0]);

  Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(layout.get(), static_cast<int>(chunk.size()), chunk.data());
  if (!encoded.is_text) {
    H5Pset_shuffle(layout.get());
    H5Pset_deflate(layout.get(), kGzipLevel);
    H5Pset_fletcher32(layout.get());
  }
  H5Pset_obj_track_times(layout.get(), false);
  return layout;
}

Hdf5Handle Dataspace(const ArrayShape& shape) {
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  std::vector<hsize_t> limits = dims;
  limits[0] = H5S_UNLIMITED;
  // A chunk may not be longer than a fixed dimension, and never 0.
  for (hsize_t& limit : limits) limit = limit == 0 ? H5S_UNLIMITED : limit;
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), limits.data()), H5Sclose};
}

bool WriteAttribute(hid_t object, const std::string& name, const AttributeValue& value) {
  const bool text = std::holds_alternative<std::string>(value);
  const Hdf5Handle type =
      text ? TextType()
           : Hdf5Handle(H5Tcopy(std::holds_alternative<double>(value) ? H5T_NATIVE_DOUBLE
                                                                      : H5T_NATIVE_INT64),
                        H5Tclose);
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  Hdf5Handle attribute(
      H5Acreate2(object, name.c_str(), type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!attribute.ok()) return false;
  const char* characters = text ? std::get<std::string>(value).c_str() : nullptr;
  const void* data = text
                         ? static_cast<const void*>(&characters)
                         : std::visit([](const auto& held) -> const void* { return &held; }, value);
  return H5Awrite(attribute.get(), type.get(), data) >= 0 && attribute.Reset();
}

// One attribute as one of our types; nothing for kinds that we do not keep (arrays, references).
std::optional<AttributeValue> ReadAttribute(hid_t object, const char* name) {
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
  switch (H5Tget_class(type.get())) {
    case H5T_INTEGER: {
      std::int64_t value = 0;
      if (H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) < 0) return std::nullopt;
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
      return value;
    }
    case H5T_STRING: {
      if (H5Tis_variable_str(type.get()) <= 0) {
        std::string text(H5Tget_size(type.get()), '\0');
        if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
        return text.substr(0, text.find('\0'));
      }
      char* value = nullptr;
      if (H5Aread(attribute.get(), type.get(), &value) < 0) return std::nullopt;
      std::string text = value == nullptr ? "" : value;
      H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, &value);
      return text;
    }
    default:
      return std::nullopt;
  }
}

template <typename T>
bool ReadValues(hid_t dataset, std::size_t count, ArrayValues* values) {
  auto& into = values->emplace<std::vector<T>>();
  if (count == 0) return true;
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<std::int8_t> truths(count);
    const Hdf5Handle type = BoolType();
    if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, truths.data()) < 0)
      return false;
    into.assign(truths.begin(), truths.end());
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::vector<char*> texts(count);
    // In the file's own character set: HDF5 does not convert between ASCII and UTF-8.
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) return false;
    into.reserve(count);
    for (const char* text : texts) into.emplace_back(text == nullptr ? "" : text);
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
    return H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, texts.data()) >= 0;
  } else {
    into.resize(count);
    return H5Dread(dataset, NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, into.data()) >= 0;
  }
}

using Reader = bool (*)(hid_t dataset, std::size_t count, ArrayValues* values);

// The reader for the type a data set has in the file; null when we have no such type.
Reader FindReader(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return bytes == 4 ? ReadValues<float> : bytes == 8 ? ReadValues<double> : nullptr;
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      if (bytes == 1) return is_signed ? ReadValues<std::int8_t> : ReadValues<std::uint8_t>;
      if (bytes == 2) return is_signed ? ReadValues<std::int16_t> : nullptr;
      if (bytes == 4) return is_signed ? ReadValues<std::int32_t> : nullptr;
      return is_signed ? ReadValues<std::int64_t> : ReadValues<std::uint64_t>;
    }
    case H5T_ENUM:
      return H5Tget_member_index(type, "TRUE") >= 0 ? ReadValues<bool> : nullptr;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? ReadValues<std::string> : nullptr;
    default:
      return nullptr;
  }
}

bool LinkExists(hid_t file, const std::string& path) {
  // H5Lexists wants every group on the way to exist.
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

}  // namespace

struct Hdf5File::State {
  // Before the file: closing it still writes.
  internal::WriteFault fault;
  Hdf5Handle file;
};

Hdf5File::Hdf5File(std::filesystem::path path, std::unique_ptr<State> state)
    : path_(std::move(path)), state_(std::move(state)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::Create(const std::filesystem::path& path) {
  SilenceHdf5();
  Hdf5File result(path, std::make_unique<State>());
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  ALLOT_CHECK(internal::UseFaultDriver(access.get(), &result.state_->fault));
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  result.state_->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()),
                         H5Fclose};
  result.CheckWrite(result.state_->file.ok(), "/");
  return result;
}

Hdf5File Hdf5File::Open(const std::filesystem::path& path) {
  SilenceHdf5();
  Hdf5File result(path, std::make_unique<State>());
  if (!std::filesystem::is_regular_file(path)) {
    throw DataError("{}: must be an HDF5 file, found {}", path.string(),
                    std::filesystem::exists(path) ? "something else" : "nothing");
  }
  result.state_->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!result.state_->file.ok()) {
    throw DataError("{}: must be a whole HDF5 file: {}", path.string(), Hdf5Reason());
  }
  return result;
}

void Hdf5File::CheckWrite(bool succeeded, const std::string& object) const {
  if (const int number = state_->fault.error_number; number != 0) {
    throw RunError("{}: cannot write '{}': {}", path_.string(), object, std::strerror(number));
  }
  if (!succeeded) {
    throw RunError("{}: cannot write '{}': {}", path_.string(), object, Hdf5Reason());
  }
}

void Hdf5File::MakeGroup(const std::string& path) {
  SilenceHdf5();
  if (path.empty() || path == "/" || LinkExists(state_->file.get(), path)) return;
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos) MakeGroup(path.substr(0, slash));
  const Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  Hdf5Handle group(
      H5Gcreate2(state_->file.get(), path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Gclose);
  CheckWrite(group.ok() && group.Reset(), path);
}

void Hdf5File::Write(const std::string& path, const DataArray& array) {
  SilenceHdf5();
  ALLOT_CHECK_GE(array.shape.size(), 1U);
  ALLOT_CHECK_EQ(Product(array.shape), array.size());
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos) MakeGroup(path.substr(0, slash));

  const Encoded encoded =
      std::visit([](const auto& values) { return Encode(values); }, array.values);
  const Hdf5Handle space = Dataspace(array.shape);
  const Hdf5Handle layout = DatasetLayout(array.shape, encoded);
  Hdf5Handle dataset(H5Dcreate2(state_->file.get(), path.c_str(), encoded.type.get(), space.get(),
                                H5P_DEFAULT, layout.get(), H5P_DEFAULT),
                     H5Dclose);
  bool succeeded = dataset.ok();
  if (succeeded && array.size() > 0) {
    succeeded = H5Dwrite(dataset.get(), encoded.type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                         encoded.data) >= 0;
  }
  if (succeeded && !array.units.empty()) {
    succeeded = WriteAttribute(dataset.get(), "units", array.units);
  }
  CheckWrite(succeeded && dataset.Reset(), path);
}

void Hdf5File::SetAttributes(const std::string& object, const AttributeMap& attributes) {
  SilenceHdf5();
  const Hdf5Handle owner(H5Oopen(state_->file.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  CheckWrite(owner.ok(), object);
  for (const auto& [name, value] : attributes) {
    CheckWrite(WriteAttribute(owner.get(), name, value), fmt::format("{}@{}", object, name));
  }
}

void Hdf5File::Flush() {
  SilenceHdf5();
  CheckWrite(H5Fflush(state_->file.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
}

void Hdf5File::Close() {
  SilenceHdf5();
  CheckWrite(state_->file.Reset(), "/");
}

bool Hdf5File::Has(const std::string& path) const {
  SilenceHdf5();
  return LinkExists(state_->file.get(), path);
}

std::vector<std::string> Hdf5File::List(const std::string& group) const {
  SilenceHdf5();
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  const Hdf5Handle opened(H5Gopen2(state_->file.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened.ok() ||
      H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
    throw DataError("{}: cannot list group '{}': {}", path_.string(), group, Hdf5Reason());
  }
  return names;
}

DataArray Hdf5File::Read(const std::string& path) const {
  SilenceHdf5();
  const Hdf5Handle dataset(H5Dopen2(state_->file.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) {
    throw DataError("{}: data set '{}' is missing or unreadable: {}", path_.string(), path,
                    Hdf5Reason());
  }
  const Hdf5Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 1) {
    throw DataError("{}: data set '{}' must have at least 1 dimension, has {}", path_.string(),
                    path, rank);
  }
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  DataArray result;
  result.shape.assign(dims.begin(), dims.end());
  const std::size_t count = Product(result.shape);
  if (count > kMaxElements) {
    throw DataError("{}: data set '{}' must hold at most {} values, holds {}", path_.string(), path,
                    kMaxElements, count);
  }

  const Hdf5Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const Reader read = FindReader(type.get());
  if (read == nullptr) {
    throw DataError("{}: data set '{}' has an element type that the episode log does not use",
                    path_.string(), path);
  }
  if (!read(dataset.get(), count, &result.values)) {
    throw DataError("{}: cannot read data set '{}': {}", path_.string(), path, Hdf5Reason());
  }
  if (H5Aexists(dataset.get(), "units") > 0) {
    const auto units = ReadAttribute(dataset.get(), "units");
    if (units && std::holds_alternative<std::string>(*units)) {
      result.units = std::get<std::string>(*units);
    }
  }
  return result;
}

AttributeMap Hdf5File::Attributes(const std::string& object) const {
  SilenceHdf5();
  const Hdf5Handle owner(H5Oopen(state_->file.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  AttributeMap result;
  const auto collect = [](hid_t at, const char* name, const H5A_info_t*, void* out) -> herr_t {
    if (auto value = ReadAttribute(at, name)) {
      static_cast<AttributeMap*>(out)->emplace(name, std::move(*value));
    }
    return 0;
  };
  if (!owner.ok() ||
      H5Aiterate2(owner.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &result) < 0) {
    throw DataError("{}: cannot read the attributes of '{}': {}", path_.string(), object,
                    Hdf5Reason());
  }
  return result;
}

}  // namespace allot
