# One precompiled header for the whole house (cmake/precompiled.h), shared by its targets.
add_library(allot_precompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
target_precompile_headers(allot_precompiled PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.h)

# allot_folder(NAME DEPS a b LIBS x y): one OBJECT library from the .cc files of the calling folder.
# OBJECT, not STATIC, so that files which only register themselves are never dropped by the linker;
# globbed, so that adding a policy, reader or reward touches one file.
function(allot_folder name)
  cmake_parse_arguments(ARG "RECURSE" "" "DEPS;LIBS;EXCLUDE" ${ARGN})
  set(glob GLOB)
  if(ARG_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()

  set(closure)
  set(scope INTERFACE)
  if(sources)
    set(scope PUBLIC)
    list(APPEND closure allot_${name})
    add_library(allot_${name} OBJECT ${sources})
    target_precompile_headers(allot_${name} REUSE_FROM allot_precompiled)
  else()
    add_library(allot_${name} INTERFACE)
  endif()
  target_link_libraries(allot_${name} ${scope} allot_options ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPS)
    # Usage requirements only: an OBJECT library's objects are linked once, by allot_program.
    target_link_libraries(allot_${name} ${scope} allot_${dep})
    get_property(below GLOBAL PROPERTY ALLOT_CLOSURE_${dep})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY ALLOT_CLOSURE_${name} ${closure})
endfunction()

# allot_program(TARGET FOLDERS a b SOURCES x.cc): an executable with the objects of these folders and of
# all that they stand on.
function(allot_program target)
  cmake_parse_arguments(ARG "" "" "FOLDERS;SOURCES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_precompile_headers(${target} REUSE_FROM allot_precompiled)
  set(objects)
  foreach(folder IN LISTS ARG_FOLDERS)
    get_property(closure GLOBAL PROPERTY ALLOT_CLOSURE_${folder})
    list(APPEND objects ${closure})
  endforeach()
  list(REMOVE_DUPLICATES objects)
  target_link_libraries(${target} PRIVATE allot_options ${objects})
endfunction()
