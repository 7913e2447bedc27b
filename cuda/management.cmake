# The management library (NVML), opened at run time: needs no toolkit.
assay_library(cuda_management
  SOURCES
    management.cpp
    management_facts.cpp
    nvml.cpp
    nvml_device.cpp
    nvml_errors.cpp
    nvml_events.cpp
    nvml_order.cpp
    nvml_processes.cpp
    telemetry.cpp
  LIBRARIES assay_core assay_gpu_cards assay_gpu_processes ${CMAKE_DL_LIBS})

# What stands between a card and a process depends on the toolkit that the plug-in is built with, which is known once the
# whole folder has been read.
function(assay_name_cuda_toolkit)
  if(CMAKE_CUDA_COMPILER_VERSION MATCHES "^([0-9]+)\\.")
    set_property(SOURCE ${CMAKE_SOURCE_DIR}/cuda/presence.cpp TARGET_DIRECTORY assay_cuda_presence
      APPEND PROPERTY COMPILE_DEFINITIONS ASSAY_CUDA_TOOLKIT=${CMAKE_MATCH_1})
  endif()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL assay_name_cuda_toolkit)
