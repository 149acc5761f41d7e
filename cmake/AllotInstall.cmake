# cmake --install: what clusters and their users need, and allot as a library for find_package(allot). Components:
#   daemon    allot, its module for Slurm, files of deploy/ and released checkpoints
#   training  allot-torch
#   jobs      what jobs need on their nodes: allot-elastic, liballot_elastic.so, the Python package allot_elastic
#   plugin    liballot_plugin.so and its header
#   library   static libraries, headers, the CMake package
# The last three have those examples that run or build with what they install; others are of the build alone.
#
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Files register themselves, so a linker that takes from an archive only what is asked for would drop policies and
# trace formats. The package therefore links liballot.a whole (WHOLE_ARCHIVE, CMake 3.24).
#
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

set(folders experiment_whatif experiment_score heuristic lookahead plugin fidelity live_runtimes_local)
allot_archive(allot_archive allot FOLDERS ${folders})
if(ALLOT_WITH_TORCH)
  allot_archive(allot_torch_archive allot_torch FOLDERS experiment_learn_torch WITHOUT ${folders})
endif()

# Headers keep their folders: <prefix>/include/allot/core/error.h is #include "core/error.h".
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/allot)
install(DIRECTORY src/ DESTINATION ${headers} COMPONENT library FILES_MATCHING PATTERN "*.h"
        PATTERN "cli" EXCLUDE PATTERN "bench" EXCLUDE PATTERN "allot_elastic.h" EXCLUDE)
install(DIRECTORY agents envs models DESTINATION ${headers} COMPONENT library FILES_MATCHING PATTERN "*.h")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/allot)
configure_package_config_file(cmake/allot-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/allot-config.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/allot-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/allot-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/allot-config-version.cmake
        DESTINATION ${package} COMPONENT library)

# What is loaded or read by path: ALLOT_MODULES (src/clients/slurm) leads from the program to the first.
set(private ${CMAKE_INSTALL_LIBDIR}/allot)
set(data ${CMAKE_INSTALL_DATADIR}/allot)

# allot_install(TARGET COMPONENT FOLDER): what was linked with a library that lies in no folder of the system's, as
# Debian's HDF5, finds it there.
function(allot_install target component folder)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${target} DESTINATION ${folder} COMPONENT ${component})
endfunction()

allot_install(allot daemon ${CMAKE_INSTALL_BINDIR})
if(TARGET allot_slurm_module)
  allot_install(allot_slurm_module slurm ${private})
endif()
install(DIRECTORY checkpoints src/sweep/presets DESTINATION ${data} COMPONENT daemon)
install(DIRECTORY deploy/grafana deploy/prometheus DESTINATION ${data} COMPONENT daemon PATTERN "*.test.yaml" EXCLUDE)
install(DIRECTORY deploy/slurm deploy/systemd DESTINATION ${data} COMPONENT slurm PATTERN "*.service" EXCLUDE)
# The prefix is known when it is installed.
install(CODE "
  file(READ [[${PROJECT_SOURCE_DIR}/deploy/systemd/allot.service]] unit)
  string(REPLACE /usr/local/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" unit \"\${unit}\")
  string(RANDOM LENGTH 16 folder)
  set(made \"${CMAKE_CURRENT_BINARY_DIR}/\${folder}/allot.service\")
  file(WRITE \"\${made}\" \"\${unit}\")
  file(INSTALL \"\${made}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
  file(REMOVE_RECURSE \"${CMAKE_CURRENT_BINARY_DIR}/\${folder}\")" COMPONENT slurm)

if(ALLOT_WITH_TORCH)
  allot_install(allot_torch training ${CMAKE_INSTALL_BINDIR})
endif()

allot_install(allot_elastic_program jobs ${CMAKE_INSTALL_BINDIR})
if(ALLOT_WITH_TORCH)
  allot_install(allot_elastic_shared jobs-torch ${CMAKE_INSTALL_LIBDIR})
  install(FILES src/elastic/torch/allot_elastic.h DESTINATION ${headers}/elastic/torch COMPONENT jobs-torch)
  # Where the Python package looks for it.
  set(link ${CMAKE_CURRENT_BINARY_DIR}/installed/liballot_elastic.so)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/installed)
  file(CREATE_LINK ../liballot_elastic.so ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${private} COMPONENT jobs-torch)
endif()
install(DIRECTORY python/allot_elastic DESTINATION ${private}/python COMPONENT jobs FILES_MATCHING PATTERN "*.py")

allot_install(allot_plugin_shared plugin ${CMAKE_INSTALL_LIBDIR})
install(FILES src/plugin/allot_plugin.h DESTINATION ${headers}/plugin COMPONENT plugin)

# Whole programs, where pages call them examples/NAME.
set(examples ${data}/examples)
install(PROGRAMS examples/mlp.py examples/mlp_torch.py examples/epochs_torch.py examples/torchrun.py
        DESTINATION ${examples} COMPONENT jobs)
install(DIRECTORY examples/frameworks examples/planned DESTINATION ${examples} COMPONENT jobs USE_SOURCE_PERMISSIONS
        FILES_MATCHING PATTERN "*.py" PATTERN "*.sh" PATTERN "*.csv")
install(PROGRAMS examples/plugin.py DESTINATION ${examples} COMPONENT plugin)
install(FILES examples/plugin_client.c DESTINATION ${examples} COMPONENT plugin)
install(FILES examples/compare_policies.cc DESTINATION ${examples} COMPONENT library)
install(DIRECTORY examples/find_package DESTINATION ${examples} COMPONENT library)

# What `cmake --install` wrote, below the same DESTDIR, by the manifests that it left in the build folder.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D FOLDER=${CMAKE_BINARY_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/AllotUninstall.cmake
                  VERBATIM)

include(AllotPackages)
