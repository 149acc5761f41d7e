#pragma once
// How the log survives a full disk: an HDF5 file driver that remembers the first failed write.
//
// libhdf5 1.10 cannot close a file whose metadata it failed to write: H5Fclose reports an error,
// keeps the file open and the process later crashes in the library's exit handler. This driver
// therefore reports success to the library, writes nothing more, and leaves the error number
// where the owner of the file (record/hdf5) looks after every operation. Only files that are being
// created use it. libhdf5 1.14 can close such a file; the driver is used there too, because it
// knows the error number.

#include <cstdint>

namespace allot::internal {

struct WriteFault {
  int error_number = 0;  // errno of the first write that failed; 0: none
};

// Makes the file access list (an H5P_FILE_ACCESS id) use the driver. `fault` must outlive the file.
// False when HDF5 refuses.
bool UseFaultDriver(std::int64_t file_access_list, WriteFault* fault);

}  // namespace allot::internal
