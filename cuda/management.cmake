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
  LIBRARIES assay_core ${CMAKE_DL_LIBS})
