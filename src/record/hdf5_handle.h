#pragma once
// One identifier of the HDF5 C API, closed when it goes out of scope. For record/hdf5 and
// record/hdf5_values: other files do not see the library's header.

#include <hdf5.h>

#include <utility>

namespace allot {

// Owns one HDF5 identifier.
class Hdf5Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Closer close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { Reset(); }
  bool Reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }
  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = -1;
  Closer close_ = nullptr;
};

}  // namespace allot
