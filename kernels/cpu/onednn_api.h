// The functions of oneDNN that are used, typed by its header, and the few places where interface 2 and 3 differ.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "kernels/cpu/library.h"

namespace assay::cpu {

// What a function's status means, for messages.
std::string status_text(dnnl_status_t status);

#if DNNL_VERSION_MAJOR >= 3
using DescriptorPointer = const_dnnl_memory_desc_t;
using DescriptorDestroy = dnnl_status_t(dnnl_memory_desc_t);
#else
using DescriptorPointer = const dnnl_memory_desc_t*;
#endif

template <class Object>
using Owned = std::unique_ptr<Object, dnnl_status_t (*)(Object*)>;

// The shape, type and layout of a matrix or a batch of them. Empty strides: the library may choose the layout.
struct Layout {
  std::vector<dnnl_dim_t> dims;
  dnnl_data_type_t type = dnnl_f32;
  std::vector<dnnl_dim_t> strides;
};

// A layout as the library wants it.
class Descriptor {
 public:
  Descriptor() = default;
#if DNNL_VERSION_MAJOR >= 3
  Descriptor(dnnl_memory_desc_t made, DescriptorDestroy* destroy) : held_(made, destroy) {}
  DescriptorPointer get() const { return held_.get(); }

 private:
  Owned<dnnl_memory_desc> held_{nullptr, nullptr};
#else
  explicit Descriptor(const dnnl_memory_desc_t& made) : held_(made) {}
  DescriptorPointer get() const { return &held_; }

 private:
  dnnl_memory_desc_t held_{};  // all zero: nothing there
#endif
};

struct OneDnnApi {
  explicit OneDnnApi(const Library& library);
  ~OneDnnApi();
  OneDnnApi(const OneDnnApi&) = delete;
  OneDnnApi& operator=(const OneDnnApi&) = delete;

  decltype(&dnnl_version) version;
  decltype(&dnnl_engine_create) engine_create;
  decltype(&dnnl_engine_destroy) engine_destroy;
  decltype(&dnnl_stream_create) stream_create;
  decltype(&dnnl_stream_destroy) stream_destroy;
  decltype(&dnnl_stream_wait) stream_wait;
  decltype(&dnnl_primitive_attr_create) attr_create;
  decltype(&dnnl_primitive_attr_destroy) attr_destroy;
  decltype(&dnnl_primitive_attr_set_scratchpad_mode) attr_set_scratchpad_mode;
  decltype(&dnnl_primitive_attr_set_post_ops) attr_set_post_ops;
  decltype(&dnnl_post_ops_create) post_ops_create;
  decltype(&dnnl_post_ops_destroy) post_ops_destroy;
  decltype(&dnnl_post_ops_append_sum) post_ops_append_sum;
  decltype(&dnnl_post_ops_append_eltwise) post_ops_append_eltwise;
  decltype(&dnnl_post_ops_append_binary) post_ops_append_binary;
  decltype(&dnnl_primitive_desc_destroy) primitive_desc_destroy;
  decltype(&dnnl_primitive_desc_query) primitive_desc_query;
  decltype(&dnnl_primitive_desc_query_md) primitive_desc_query_md;
  decltype(&dnnl_primitive_create) primitive_create;
  decltype(&dnnl_primitive_execute) primitive_execute;
  decltype(&dnnl_primitive_destroy) primitive_destroy;
  decltype(&dnnl_memory_create) memory_create;
  decltype(&dnnl_memory_destroy) memory_destroy;
  decltype(&dnnl_memory_set_data_handle) memory_set_data_handle;
  decltype(&dnnl_memory_desc_get_size) memory_desc_get_size;
  decltype(&dnnl_reorder_primitive_desc_create) reorder_primitive_desc_create;
#if DNNL_VERSION_MAJOR >= 3
  decltype(&dnnl_memory_desc_create_with_strides) memory_desc_create_with_strides;
  decltype(&dnnl_memory_desc_create_with_tag) memory_desc_create_with_tag;
  decltype(&dnnl_memory_desc_destroy) memory_desc_destroy;
  decltype(&dnnl_matmul_primitive_desc_create) matmul_primitive_desc_create;
  decltype(&dnnl_primitive_attr_set_scales_mask) attr_set_scales_mask;
#else
  decltype(&dnnl_memory_desc_init_by_strides) memory_desc_init_by_strides;
  decltype(&dnnl_memory_desc_init_by_tag) memory_desc_init_by_tag;
  decltype(&dnnl_matmul_desc_init) matmul_desc_init;
  decltype(&dnnl_primitive_desc_create) primitive_desc_create;
  decltype(&dnnl_primitive_attr_set_output_scales) attr_set_output_scales;
#endif
  dnnl_engine_t engine = nullptr;  // the CPU
  dnnl_stream_t stream = nullptr;

  // Throws Unsupported where the library says unimplemented, Error for any other failure; `doing` completes "oneDNN
  // could not ...".
  static void check(dnnl_status_t status, const std::string& doing);

  Descriptor describe(const Layout& layout) const;
  Owned<dnnl_memory> memory(DescriptorPointer descriptor, void* data) const;
  Owned<dnnl_primitive_desc> matmul(const Descriptor& a, const Descriptor& b, const Descriptor* bias,
                                    const Descriptor& d, dnnl_primitive_attr_t attributes) const;
  Owned<dnnl_primitive> primitive(const_dnnl_primitive_desc_t description) const;
  std::string implementation(const_dnnl_primitive_desc_t description) const;
  void append_sum(dnnl_post_ops_t post_ops) const;
  void append_eltwise(dnnl_post_ops_t post_ops, dnnl_alg_kind_t kind) const;

  // Interface 2 scales the product and the bias by a number fixed when the primitive is made; interface 3 scales the
  // product alone by a number passed when it runs.
  static bool scale_is_an_argument() { return DNNL_VERSION_MAJOR >= 3; }
  void set_scale(dnnl_primitive_attr_t attributes, float scale) const;
};

}  // namespace assay::cpu
