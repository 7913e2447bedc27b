# Functions that every folder uses to declare its targets in the same way, and the list of what was found.

add_library(assay_warnings INTERFACE)
# GCC 12 reports -Wrestrict on plain std::string concatenation (its bug 105651), so that warning is off for it.
set(assay_warning_options -Wall -Wextra -Wconversion -Wswitch-enum -Wno-psabi
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
target_compile_options(assay_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${assay_warning_options}>")

add_library(assay_sanitize INTERFACE)
if(ASSAY_SANITIZE)
  target_compile_options(assay_sanitize INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_sanitize INTERFACE -fsanitize=address,undefined)
endif()

# assay_precompiled(test gtest ...): cmake/precompiled_test.h, which most files include, read once instead of hundreds of times.
# assay_precompile(target test): takes it. A target whose flags differ (OpenMP) cannot, and has assay_no_precompile(target).
# GCC gains little and warns of its own headers then; and without them it tells of what a file forgot to include.
set(ASSAY_PRECOMPILE OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(ASSAY_PRECOMPILE ON)
endif()
function(assay_precompiled name)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/precompiled_${name}.cpp "")
  add_library(assay_precompiled_${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/precompiled_${name}.cpp)
  target_link_libraries(assay_precompiled_${name} PRIVATE ${ARGN} assay_fmt assay_warnings assay_sanitize)
  target_precompile_headers(assay_precompiled_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled_${name}.h)
endfunction()
function(assay_precompile target name)
  if(ASSAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM assay_precompiled_${name})
  endif()
endfunction()
function(assay_no_precompile)
  set_target_properties(${ARGN} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()
if(ASSAY_PRECOMPILE)
  assay_precompiled(library)
endif()

# assay_library(core SOURCES ... LIBRARIES ...): a static library of one folder, seen from the root of the tree.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(assay_${name} STATIC ${ARG_SOURCES})
  target_include_directories(assay_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(assay_${name} PUBLIC ${ARG_LIBRARIES} assay_sanitize PRIVATE assay_warnings)
  assay_precompile(assay_${name} library)
endfunction()

# assay_plugin(cpu SOURCES ... LIBRARIES ...): a plug-in that exports nothing but its entry.
function(assay_plugin name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_DIRECTORY)
    set(ARG_DIRECTORY ${ASSAY_PLUGIN_DIRECTORY})
  endif()
  add_library(assay_plugin_${name} MODULE ${ARG_SOURCES})
  target_include_directories(assay_plugin_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(assay_plugin_${name} PRIVATE assay_core ${ARG_LIBRARIES} assay_sanitize assay_warnings)
  target_link_options(assay_plugin_${name} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
  set_target_properties(assay_plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME assay_${name}
    LIBRARY_OUTPUT_DIRECTORY ${ARG_DIRECTORY} LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/plugin.map)
  if(ARG_DIRECTORY STREQUAL ASSAY_PLUGIN_DIRECTORY)  # the tests' own plug-ins are never installed
    install(TARGETS assay_plugin_${name} LIBRARY DESTINATION lib/assay)
  endif()
endfunction()

# assay_found(cpu YES "oneDNN 2.6.3 headers"): remembers a line for the summary at the end of configuring.
function(assay_found what yes detail)
  set_property(GLOBAL APPEND PROPERTY ASSAY_FINDINGS "${what}|${yes}|${detail}")
endfunction()

function(assay_print_findings)
  get_property(findings GLOBAL PROPERTY ASSAY_FINDINGS)
  foreach(finding IN LISTS findings)
    string(REPLACE "|" ";" parts "${finding}")
    list(GET parts 0 what)
    list(GET parts 1 yes)
    list(GET parts 2 detail)
    if(${yes})  # `if(yes)` would be the constant YES
      message(STATUS "✓ ${what}: ${detail}")
    else()
      message(STATUS "✗ ${what}: ${detail}")
    endif()
  endforeach()
endfunction()
