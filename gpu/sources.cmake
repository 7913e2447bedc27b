# What the vendors' folders share, compiled with the vendor's names on the include path.

# By the host compiler.
set(GPU_SHARED_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/matrix_chain.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plain_gemm.cpp)

# By the device compiler.
set(GPU_SHARED_DEVICE_SOURCES ${CMAKE_CURRENT_LIST_DIR}/plain_gemm_kernels.cpp)
