# The bodies of kernels/*.h as kernels of a GPU, by the compiler that they need.
list(APPEND GPU_HOST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/kernels_bodies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_groups.cpp)
set(GPU_BODY_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/kernels_attention.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_cast.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_chase.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_issue.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_norm.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_pointwise.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_softmax.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_tokens.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels_training.cpp)
