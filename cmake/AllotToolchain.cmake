# Language level, warnings and sanitizers, the same for every target of the house.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(ALLOT_CCACHE ccache)
if(ALLOT_CCACHE)
  # ccache keeps its hands off precompiled headers unless told that ours hold no macros of the command line. With paths
  # below the source folder taken as relative ones, clones share what was compiled, and so do build folders beside each
  # other: a wheel takes the objects of build/release.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${ALLOT_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# libtorch's targets spell out the default ABI; everybody must, to share one precompiled header.
add_compile_definitions(_GLIBCXX_USE_CXX11_ABI=1)

add_library(allot_options INTERFACE)
target_compile_options(allot_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<BOOL:${ALLOT_WARNINGS_ARE_ERRORS}>:-Werror>)
# GCC 12 reports std::string concatenation as overlapping copies (GCC bug 105651).
target_compile_options(allot_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Results must not depend on how the compiler contracts expressions.
target_compile_options(allot_options INTERFACE -ffp-contract=off)
target_include_directories(allot_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(allot_options INTERFACE fmt::fmt)

# Counting free GPUs is one instruction on every x86-64 processor since 2009; the baseline calls a function.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-mpopcnt)
endif()

# The same objects go into the program and into liballot_plugin.so. Hidden symbols are as quick there as in a program.
# Not CMAKE_POSITION_INDEPENDENT_CODE, which gives programs another flag than what is linked into them: they could not
# share the precompiled header.
add_compile_options(-fPIC -fvisibility=hidden)

# Links the test programs in a third of the time. Sanitizers keep the linker that they are tested with.
find_program(ALLOT_MOLD mold)
if(ALLOT_MOLD AND NOT ALLOT_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()

if(ALLOT_SANITIZE)
  list(JOIN ALLOT_SANITIZE "," sanitizers)
  # GCC 12 warns of <regex>'s own members once they are instrumented (its bug 105562).
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      -Wno-error=maybe-uninitialized)
  add_link_options(-fsanitize=${sanitizers})
  if("thread" IN_LIST ALLOT_SANITIZE)
    # asio has a fence, which ThreadSanitizer does not model; what it guards, asio's own queue, has a lock besides.
    add_compile_options(-Wno-error=tsan)
  endif()
endif()

if(ALLOT_BUILD_FUZZ)
  add_compile_options($<IF:$<CXX_COMPILER_ID:Clang>,-fsanitize=fuzzer-no-link,-fsanitize-coverage=trace-pc>)
endif()
