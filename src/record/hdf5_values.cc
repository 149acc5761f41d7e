#include "record/hdf5_values.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace allot {
namespace {

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

template <typename T>
EncodedValues Encode(const std::vector<T>& values) {
  EncodedValues result;
  if constexpr (std::is_same_v<T, bool>) {
    result.type = BoolType();
    result.truths.assign(values.begin(), values.end());
    result.data = result.truths.data();
    result.element_bytes = 1;
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::size_t longest = 1;
    for (const std::string& text : values) longest = std::max(longest, text.size());
    result.texts.resize(values.size() * longest);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::ranges::copy(values[i], result.texts.begin() + static_cast<std::ptrdiff_t>(i * longest));
    }
    result.type = TextType(longest);
    result.data = result.texts.data();
    result.element_bytes = longest;
  } else {
    result.type = Hdf5Handle(H5Tcopy(NativeType<T>()), H5Tclose);
    result.data = values.data();
    result.element_bytes = sizeof(T);
  }
  return result;
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
    // In the file's own character set: HDF5 does not convert between ASCII and UTF-8.
    const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
    const std::size_t bytes = H5Tget_size(type.get());
    if (count > kMaxElements / bytes) return false;
    std::vector<char> texts(count * bytes);
    if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) return false;
    into.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const char* text = texts.data() + i * bytes;
      into.emplace_back(text, strnlen(text, bytes));
    }
    return true;
  } else {
    into.resize(count);
    return H5Dread(dataset, NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, into.data()) >= 0;
  }
}

}  // namespace

Hdf5Handle TextType(std::size_t bytes) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

EncodedValues EncodeValues(const ArrayValues& values) {
  return std::visit([](const auto& held) { return Encode(held); }, values);
}

ValueReader FindReader(hid_t type) {
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
      return H5Tis_variable_str(type) == 0 ? ReadValues<std::string> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace allot
