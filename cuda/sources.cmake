# What is NVIDIA's only: the matrix library and the kernels of the matrix units, by the compiler they need.

# By the host compiler, with the toolkit's include path.
set(CUDA_HOST_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_api.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_descriptors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_gemm.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_places.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cublaslt_problem.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matrix.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matrix_issue.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matrix_issue_proof.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matrix_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/own_gemm.cpp)

# For every architecture: -gencode 75 80 86 89 90 100 120 and PTX of the last.
set(CUDA_MMA_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/mma_issue.cu
  ${CMAKE_CURRENT_LIST_DIR}/own_gemm_kernels.cu)

# -gencode arch=compute_90a,code=sm_90a alone.
set(CUDA_WGMMA_SOURCES ${CMAKE_CURRENT_LIST_DIR}/wgmma_issue.cu)

# -gencode arch=compute_100a,code=sm_100a and arch=compute_103a,code=sm_103a.
set(CUDA_TCGEN05_SOURCES ${CMAKE_CURRENT_LIST_DIR}/tcgen05_issue.cu)

# -gencode arch=compute_120a,code=sm_120a alone.
set(CUDA_BLOCK_MMA_SOURCES ${CMAKE_CURRENT_LIST_DIR}/block_mma_issue.cu)
