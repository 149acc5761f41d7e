# One precompiled header for the whole house (cmake/precompiled.h), shared by its targets.
add_library(allot_precompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
target_precompile_headers(allot_precompiled PRIVATE ${CMAKE_CURRENT_LIST_DIR}/precompiled.h)

# QUICK: for code that takes no time where it runs, which is built a quarter sooner.
set(ALLOT_QUICK_BUILD $<$<CONFIG:Release>:-O1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13 AND
   CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Parts of -O2 since GCC 13, without which the precompiled header is not taken.
  list(APPEND ALLOT_QUICK_BUILD $<$<CONFIG:Release>:-munroll-only-small-loops> $<$<CONFIG:Release>:-mvzeroupper>)
endif()

# allot_folder(NAME DEPS a b LIBS x y): one OBJECT library from the .cc files of the calling folder.
# OBJECT, not STATIC, so that files which only register themselves are never dropped by the linker;
# globbed, so that adding a policy, reader or reward touches one file.
function(allot_folder name)
  cmake_parse_arguments(ARG "RECURSE;QUICK" "" "DEPS;LIBS;ONLY;EXCLUDE" ${ARGN})
  set(glob GLOB)
  if(ARG_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(pattern IN LISTS ARG_ONLY)
    list(FILTER sources INCLUDE REGEX ${pattern})
  endforeach()
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
    if(ARG_QUICK)
      target_compile_options(allot_${name} PRIVATE ${ALLOT_QUICK_BUILD})
    endif()
  else()
    add_library(allot_${name} INTERFACE)
  endif()
  target_link_libraries(allot_${name} ${scope} allot_options ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPS)
    # Usage requirements only: an OBJECT library's objects are linked once, by allot_program.
    target_link_libraries(allot_${name} ${scope} allot_${dep})
    get_property(known GLOBAL PROPERTY ALLOT_CLOSURE_${dep} SET)
    if(NOT known)
      message(FATAL_ERROR "allot_${name} stands on allot_${dep}, which must be added before it")
    endif()
    get_property(below GLOBAL PROPERTY ALLOT_CLOSURE_${dep})
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_property(GLOBAL PROPERTY ALLOT_CLOSURE_${name} ${closure})
endfunction()

# The objects of these folders and of all that they stand on.
function(allot_objects result)
  set(objects)
  foreach(folder IN LISTS ARGN)
    get_property(closure GLOBAL PROPERTY ALLOT_CLOSURE_${folder})
    list(APPEND objects ${closure})
  endforeach()
  list(REMOVE_DUPLICATES objects)
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# allot_program(TARGET FOLDERS a b SOURCES x.cc): an executable with the objects of these folders.
# PRECOMPILED: the target whose precompiled header it takes.
function(allot_program target)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "FOLDERS;SOURCES" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED allot_precompiled)
  endif()
  add_executable(${target} ${ARG_SOURCES})
  target_precompile_headers(${target} REUSE_FROM ${ARG_PRECOMPILED})
  allot_objects(objects ${ARG_FOLDERS})
  target_link_libraries(${target} PRIVATE allot_options ${objects})
endfunction()

# allot_library(NAME FOLDERS a b EXPORTS x.map): the same as a shared library that shows no symbols but those of the map.
function(allot_library name)
  cmake_parse_arguments(ARG "" "EXPORTS" "FOLDERS" ${ARGN})
  allot_objects(objects ${ARG_FOLDERS})
  add_library(allot_${name} SHARED)
  target_link_libraries(allot_${name} PRIVATE allot_options ${objects})
  target_link_options(allot_${name} PRIVATE -Wl,--version-script=${ARG_EXPORTS})
  set_target_properties(allot_${name} PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${ARG_EXPORTS})
endfunction()
