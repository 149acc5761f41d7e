#include "record/write_fault.h"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace allot::internal {
namespace {

// What the library holds for an open file; H5FD_t must come first.
struct FaultFile {
  H5FD_t base;
  int descriptor;
  haddr_t end_of_addresses;  // as the library has allotted them
  haddr_t end_of_file;
  WriteFault* fault;
};

FaultFile* Cast(H5FD_t* file) { return reinterpret_cast<FaultFile*>(file); }
const FaultFile* Cast(const H5FD_t* file) { return reinterpret_cast<const FaultFile*>(file); }

struct DriverInfo {
  WriteFault* fault;
};

H5FD_t* Open(const char* name, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  if (info == nullptr) return nullptr;
  const int descriptor = ::open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    info->fault->error_number = errno;
    return nullptr;
  }
  return &(new FaultFile{{}, descriptor, 0, 0, info->fault})->base;
}

herr_t Close(H5FD_t* base) {
  FaultFile* file = Cast(base);
  if (::close(file->descriptor) != 0 && file->fault->error_number == 0) {
    file->fault->error_number = errno;
  }
  delete file;
  return 0;
}

herr_t Query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t EndOfAddresses(const H5FD_t* base, H5FD_mem_t) { return Cast(base)->end_of_addresses; }

herr_t SetEndOfAddresses(H5FD_t* base, H5FD_mem_t, haddr_t address) {
  Cast(base)->end_of_addresses = address;
  return 0;
}

haddr_t EndOfFile(const H5FD_t* base, H5FD_mem_t) { return Cast(base)->end_of_file; }

herr_t Read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(Cast(base)->descriptor, to, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) {  // beyond the end: allotted but not yet written
      std::memset(to, 0, size);
      return 0;
    }
    to += got;
    address += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return 0;
}

herr_t Write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
             const void* buffer) {
  FaultFile* file = Cast(base);
  const auto* from = static_cast<const char*>(buffer);
  file->end_of_file = std::max(file->end_of_file, address + size);
  while (size > 0 && file->fault->error_number == 0) {
    const ssize_t put = ::pwrite(file->descriptor, from, size, static_cast<off_t>(address));
    if (put < 0) {
      if (errno != EINTR) file->fault->error_number = errno;
      continue;
    }
    from += put;
    address += static_cast<haddr_t>(put);
    size -= static_cast<std::size_t>(put);
  }
  return 0;
}

// The library may allot more than it writes; readers check that the file is as long as was
// allotted.
herr_t Truncate(H5FD_t* base, hid_t, hbool_t) {
  FaultFile* file = Cast(base);
  if (file->end_of_addresses == file->end_of_file || file->fault->error_number != 0) return 0;
  if (::ftruncate(file->descriptor, static_cast<off_t>(file->end_of_addresses)) != 0) {
    file->fault->error_number = errno;
  }
  file->end_of_file = file->end_of_addresses;
  return 0;
}

hid_t RegisterDriver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t result{};
#ifdef H5FD_CLASS_VERSION  // since libhdf5 1.14, which refuses a driver that does not say it
    result.version = H5FD_CLASS_VERSION;
#endif
    result.name = "allot-write-fault";
    result.maxaddr = (haddr_t{1} << 62);
    result.fc_degree = H5F_CLOSE_WEAK;
    result.fapl_size = sizeof(DriverInfo);
    result.open = Open;
    result.close = Close;
    result.query = Query;
    result.get_eoa = EndOfAddresses;
    result.set_eoa = SetEndOfAddresses;
    result.get_eof = EndOfFile;
    result.read = Read;
    result.write = Write;
    result.truncate = Truncate;
    const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(result.fl_map));
    return result;
  }();
  return H5FDregister(&driver);
}

}  // namespace

bool UseFaultDriver(std::int64_t file_access_list, WriteFault* fault) {
  static const hid_t driver = RegisterDriver();
  const DriverInfo info{fault};
  return driver >= 0 && H5Pset_driver(file_access_list, driver, &info) >= 0;
}

}  // namespace allot::internal
