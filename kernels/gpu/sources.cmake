# The GPU source that vendors share, by the compiler it needs. The tests compile all of it for the host.

# By the host compiler.
set(GPU_HOST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/backend.cpp
  ${CMAKE_CURRENT_LIST_DIR}/compare.cpp
  ${CMAKE_CURRENT_LIST_DIR}/devices.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fill.cpp
  ${CMAKE_CURRENT_LIST_DIR}/launch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/launch_program.cpp
  ${CMAKE_CURRENT_LIST_DIR}/make_kernel.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matrix_rate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/product.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program.cpp
  ${CMAKE_CURRENT_LIST_DIR}/read.cpp
  ${CMAKE_CURRENT_LIST_DIR}/survey.cpp
  ${CMAKE_CURRENT_LIST_DIR}/survey_rounding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tensors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/transfer.cpp)

# By the device compiler.
set(GPU_DEVICE_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/copy_kernel.cpp
  ${CMAKE_CURRENT_LIST_DIR}/empty_kernel.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fill_kernel.cpp
  ${CMAKE_CURRENT_LIST_DIR}/gate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pattern_kernel.cpp)

# The bodies of kernels/*.h as kernels, by the device compiler too.
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake OPTIONAL)
list(APPEND GPU_DEVICE_SOURCES ${GPU_BODY_SOURCES})
