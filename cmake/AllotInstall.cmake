# cmake --install: the programs, the plugin library, and allot as a library for find_package(allot).
#
# Files register themselves, so a linker that takes from an archive only what is asked for would drop policies and
# trace formats. The package therefore links liballot.a whole (WHOLE_ARCHIVE, CMake 3.24).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# allot_archive(TARGET OUTPUT FOLDERS ... WITHOUT ...): a static library of these folders and of all that they stand on,
# less those below WITHOUT.
function(allot_archive target output)
  cmake_parse_arguments(ARG "" "" "FOLDERS;WITHOUT" ${ARGN})
  allot_objects(folders ${ARG_FOLDERS})
  if(ARG_WITHOUT)
    allot_objects(without ${ARG_WITHOUT})
    list(REMOVE_ITEM folders ${without})
  endif()
  list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${target} STATIC ${folders})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} LINKER_LANGUAGE CXX
                        ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  install(TARGETS ${target} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endfunction()

set(folders experiment heuristic lookahead plugin fidelity live_local)
allot_archive(allot_archive allot FOLDERS ${folders})
if(ALLOT_WITH_TORCH)
  allot_archive(allot_torch_archive allot_torch FOLDERS experiment_torch WITHOUT ${folders})
endif()

# Headers keep their folders: <prefix>/include/allot/core/error.h is #include "core/error.h".
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/allot)
install(DIRECTORY src/ DESTINATION ${headers} COMPONENT library FILES_MATCHING PATTERN "*.h"
        PATTERN "cli" EXCLUDE PATTERN "bench" EXCLUDE)
install(DIRECTORY agents envs models DESTINATION ${headers} COMPONENT library FILES_MATCHING PATTERN "*.h")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/allot)
configure_package_config_file(cmake/allot-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/allot-config.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/allot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/allot-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/allot-config-version.cmake
        DESTINATION ${package} COMPONENT library)

set(programs allot allot_elastic_program)
if(ALLOT_WITH_TORCH)
  list(APPEND programs allot_torch)
endif()
# Where libraries lie that are not in the system's own folders (Debian's HDF5).
set_target_properties(${programs} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
install(TARGETS allot_plugin_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT programs)
if(TARGET allot_slurm_module)
  set_target_properties(allot_slurm_module PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS allot_slurm_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT programs)
endif()
