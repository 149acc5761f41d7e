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
#include "record/hdf5_values.h"
#include "record/write_fault.h"

namespace allot {
namespace {

constexpr unsigned kGzipLevel = 4;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
// Attributes stay in the header of their object, whose checksum covers them; there a single one has
// room for less than 64 KiB. A longer text is an array in this group of the object.
constexpr unsigned kMostAttributes = 65535;
constexpr std::size_t kLongestAttribute = std::size_t{1} << 15;
constexpr const char* kLongTexts = "long_texts";

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

std::size_t Product(const ArrayShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// The layout described in the header, and no time stamp.
Hdf5Handle DatasetLayout(const ArrayShape& shape, const EncodedValues& encoded) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  for (hsize_t& extent : chunk) extent = std::max<hsize_t>(extent, 1);
  std::size_t row_bytes = encoded.element_bytes;
  for (std::size_t i = 1; i < chunk.size(); ++i) row_bytes *= chunk[i];
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / row_bytes, 1, chunk[0]);

  Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(layout.get(), static_cast<int>(chunk.size()), chunk.data());
  H5Pset_shuffle(layout.get());
  H5Pset_deflate(layout.get(), kGzipLevel);
  H5Pset_fletcher32(layout.get());
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
  const auto* text = std::get_if<std::string>(&value);
  const Hdf5Handle type =
      text != nullptr
          ? TextType(text->size())
          : Hdf5Handle(H5Tcopy(std::holds_alternative<double>(value) ? H5T_NATIVE_DOUBLE
                                                                     : H5T_NATIVE_INT64),
                       H5Tclose);
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  Hdf5Handle attribute(
      H5Acreate2(object, name.c_str(), type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!attribute.ok()) return false;
  const void* data = text != nullptr
                         ? text->c_str()
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
      if (H5Tis_variable_str(type.get()) != 0) return VariableText{};
      std::string text(H5Tget_size(type.get()), '\0');
      if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return std::nullopt;
      return text.substr(0, text.find('\0'));
    }
    default:
      return std::nullopt;
  }
}

// Creates groups, and files with their root group.
Hdf5Handle GroupCreation(hid_t kind) {
  Hdf5Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  H5Pset_attr_phase_change(creation.get(), kMostAttributes, 0);
  return creation;
}

std::string LongTextsOf(const std::string& object) {
  return object == "/" ? kLongTexts : fmt::format("{}/{}", object, kLongTexts);
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
  const Hdf5Handle creation = GroupCreation(H5P_FILE_CREATE);
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
  const Hdf5Handle creation = GroupCreation(H5P_GROUP_CREATE);
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

  const EncodedValues encoded = EncodeValues(array.values);
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
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > kLongestAttribute) {
      Write(fmt::format("{}/{}", LongTextsOf(object), name), MakeColumn(std::vector{*text}));
      continue;
    }
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
  if (H5Tis_variable_str(type.get()) > 0) {
    throw DataError("{}: data set '{}' is {}", path_.string(), path, kVariableTextIs);
  }
  const ValueReader read = FindReader(type.get());
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
  if (const std::string group = LongTextsOf(object); LinkExists(state_->file.get(), group)) {
    for (const std::string& name : List(group)) {
      const DataArray array = Read(fmt::format("{}/{}", group, name));
      const auto* texts = std::get_if<std::vector<std::string>>(&array.values);
      if (texts != nullptr && texts->size() == 1) result.insert_or_assign(name, texts->front());
    }
  }
  return result;
}

}  // namespace allot
