# {fmt} as assay_fmt: compiled once where the installed version can be, else the headers alone.
try_compile(ASSAY_FMT_ONCE ${CMAKE_BINARY_DIR}/generated/fmt
  SOURCES ${CMAKE_SOURCE_DIR}/cmake/fmt_once.cpp ${CMAKE_SOURCE_DIR}/cmake/fmt_probe.cpp
  CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
if(ASSAY_FMT_ONCE)
  add_library(assay_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt_once.cpp)
  get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(assay_fmt SYSTEM PUBLIC ${fmt_headers})
  target_link_libraries(assay_fmt PRIVATE assay_sanitize)
else()
  add_library(assay_fmt INTERFACE)
  target_link_libraries(assay_fmt INTERFACE fmt::fmt-header-only)
endif()
