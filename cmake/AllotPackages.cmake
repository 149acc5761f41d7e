# Debian packages by CPack, from the components of AllotInstall.cmake: `cpack -G DEB` in a build folder, or ./dev package.
# Their dependencies are those that dpkg-shlibdeps finds on the machine that builds them.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME allot)
set(CPACK_PACKAGE_VENDOR allot)
set(CPACK_PACKAGE_CONTACT "The engineers of allot <allot@localhost>")
set(CPACK_SET_DESTDIR ON)  # allot.service names the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)

# allot_package(GROUP NAME DESCRIPTION COMPONENT...)
macro(allot_package group name description)
  string(TOUPPER ${group} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_COMPONENT_GROUP_${upper}_DESCRIPTION "${description}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  foreach(component ${ARGN})
    string(TOUPPER ${component} component_upper)
    set(CPACK_COMPONENT_${component_upper}_GROUP ${group})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endforeach()
endmacro()

allot_package(program allot "Scheduler research framework for GPU clusters: simulate, compare, evaluate, serve" daemon)
allot_package(torch allot-torch "Training of allot's policies, and its library for elastic jobs in C++ (libtorch)" training
              jobs-torch)
allot_package(slurm allot-slurm "allot's daemon for Slurm: service, settings and the module with libslurm" slurm)
allot_package(elastic allot-elastic "What nodes need to run jobs that allot resizes" jobs)
allot_package(development allot-dev "Headers and libraries of allot, and its plugin interface" plugin library)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS allot-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "allot (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_SLURM_PACKAGE_DEPENDS "allot (= ${PROJECT_VERSION})")
include(CPack)
