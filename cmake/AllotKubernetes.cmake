# libcurl and yaml-cpp, where they are wanted and there: sets ALLOT_HAS_KUBERNETES and makes the target allot_kubernetes_libs.
set(ALLOT_HAS_KUBERNETES OFF)
if(ALLOT_WITH_KUBERNETES)
  find_package(CURL 7.77 QUIET)  # certificates from memory
  find_package(yaml-cpp QUIET)
  if(CURL_FOUND AND yaml-cpp_FOUND)
    set(ALLOT_HAS_KUBERNETES ON)
    add_library(allot_kubernetes_libs INTERFACE)
    target_link_libraries(allot_kubernetes_libs INTERFACE CURL::libcurl yaml-cpp)
  elseif(NOT ALLOT_WITH_KUBERNETES STREQUAL "AUTO")
    message(FATAL_ERROR "ALLOT_WITH_KUBERNETES=${ALLOT_WITH_KUBERNETES} needs libcurl 7.77 and yaml-cpp "
                        "(Debian: libcurl4-openssl-dev, libyaml-cpp-dev)")
  endif()
endif()
