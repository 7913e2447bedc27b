// Loading oneDNN, and the differences between its interfaces 2 and 3.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/onednn.h"

#include <utility>

#include "kernels/cpu/onednn_api.h"

namespace assay::cpu {
namespace {

template <class Pointer>
void load(const Library& library, Pointer& pointer, const char* name) {
  pointer = library.function<std::remove_pointer_t<Pointer>>(name);
}

void copy_dims(const std::vector<dnnl_dim_t>& from, dnnl_dims_t to) { std::copy(from.begin(), from.end(), to); }

}  // namespace

std::string status_text(dnnl_status_t status) {
  const std::string number = "status " + std::to_string(static_cast<int>(status));
  if (status == dnnl_unimplemented) {
    return number + ", unimplemented";
  }
  if (status == dnnl_out_of_memory) {
    return number + ", out of memory";
  }
  if (status == dnnl_invalid_arguments) {
    return number + ", invalid arguments";
  }
  return number;
}

OneDnnApi::OneDnnApi(const Library& library) {
  load(library, version, "dnnl_version");
  load(library, engine_create, "dnnl_engine_create");
  load(library, engine_destroy, "dnnl_engine_destroy");
  load(library, stream_create, "dnnl_stream_create");
  load(library, stream_destroy, "dnnl_stream_destroy");
  load(library, stream_wait, "dnnl_stream_wait");
  load(library, attr_create, "dnnl_primitive_attr_create");
  load(library, attr_destroy, "dnnl_primitive_attr_destroy");
  load(library, attr_set_scratchpad_mode, "dnnl_primitive_attr_set_scratchpad_mode");
  load(library, attr_set_post_ops, "dnnl_primitive_attr_set_post_ops");
  load(library, post_ops_create, "dnnl_post_ops_create");
  load(library, post_ops_destroy, "dnnl_post_ops_destroy");
  load(library, post_ops_append_sum, "dnnl_post_ops_append_sum");
  load(library, post_ops_append_eltwise, "dnnl_post_ops_append_eltwise");
  load(library, post_ops_append_binary, "dnnl_post_ops_append_binary");
  load(library, primitive_desc_destroy, "dnnl_primitive_desc_destroy");
  load(library, primitive_desc_query, "dnnl_primitive_desc_query");
  load(library, primitive_desc_query_md, "dnnl_primitive_desc_query_md");
  load(library, primitive_create, "dnnl_primitive_create");
  load(library, primitive_execute, "dnnl_primitive_execute");
  load(library, primitive_destroy, "dnnl_primitive_destroy");
  load(library, memory_create, "dnnl_memory_create");
  load(library, memory_destroy, "dnnl_memory_destroy");
  load(library, memory_set_data_handle, "dnnl_memory_set_data_handle");
  load(library, memory_desc_get_size, "dnnl_memory_desc_get_size");
  load(library, reorder_primitive_desc_create, "dnnl_reorder_primitive_desc_create");
#if DNNL_VERSION_MAJOR >= 3
  load(library, memory_desc_create_with_strides, "dnnl_memory_desc_create_with_strides");
  load(library, memory_desc_create_with_tag, "dnnl_memory_desc_create_with_tag");
  load(library, memory_desc_destroy, "dnnl_memory_desc_destroy");
  load(library, matmul_primitive_desc_create, "dnnl_matmul_primitive_desc_create");
  load(library, attr_set_scales_mask, "dnnl_primitive_attr_set_scales_mask");
#else
  load(library, memory_desc_init_by_strides, "dnnl_memory_desc_init_by_strides");
  load(library, memory_desc_init_by_tag, "dnnl_memory_desc_init_by_tag");
  load(library, matmul_desc_init, "dnnl_matmul_desc_init");
  load(library, primitive_desc_create, "dnnl_primitive_desc_create");
  load(library, attr_set_output_scales, "dnnl_primitive_attr_set_output_scales");
#endif
  check(engine_create(&engine, dnnl_cpu, 0), "make an engine for the processor");
  check(stream_create(&stream, engine, dnnl_stream_default_flags), "make a stream");
}

OneDnnApi::~OneDnnApi() {
  if (stream != nullptr) {
    stream_destroy(stream);
  }
  if (engine != nullptr) {
    engine_destroy(engine);
  }
}

void OneDnnApi::check(dnnl_status_t status, const std::string& doing) {
  if (status == dnnl_success) {
    return;
  }
  const std::string message = "oneDNN could not " + doing + " (" + status_text(status) + ")";
  if (status == dnnl_unimplemented) {
    throw Unsupported(message);
  }
  if (status == dnnl_out_of_memory) {
    throw OutOfMemory(message);
  }
  throw Error(message);
}

#if DNNL_VERSION_MAJOR >= 3
Descriptor OneDnnApi::describe(const Layout& layout) const {
  dnnl_dims_t dims = {};
  dnnl_dims_t strides = {};
  copy_dims(layout.dims, dims);
  copy_dims(layout.strides, strides);
  const int rank = static_cast<int>(layout.dims.size());
  dnnl_memory_desc_t made = nullptr;
  if (layout.strides.empty()) {
    check(memory_desc_create_with_tag(&made, rank, dims, layout.type, dnnl_format_tag_any), "describe a matrix");
  } else {
    check(memory_desc_create_with_strides(&made, rank, dims, layout.type, strides), "describe a matrix");
  }
  return Descriptor(made, memory_desc_destroy);
}

Owned<dnnl_primitive_desc> OneDnnApi::matmul(const Descriptor& a, const Descriptor& b, const Descriptor* bias,
                                             const Descriptor& d, dnnl_primitive_attr_t attributes) const {
  dnnl_primitive_desc_t made = nullptr;
  check(matmul_primitive_desc_create(&made, engine, a.get(), b.get(), bias != nullptr ? bias->get() : nullptr, d.get(),
                                     attributes),
        "make a matrix product");
  return {made, primitive_desc_destroy};
}

void OneDnnApi::append_sum(dnnl_post_ops_t post_ops) const {
  check(post_ops_append_sum(post_ops, 1.0F, 0, dnnl_data_type_undef), "add to what is there");
}

void OneDnnApi::append_eltwise(dnnl_post_ops_t post_ops, dnnl_alg_kind_t kind) const {
  check(post_ops_append_eltwise(post_ops, kind, 0.0F, 0.0F), "append an activation");
}

void OneDnnApi::set_scale(dnnl_primitive_attr_t attributes, float) const {
  check(attr_set_scales_mask(attributes, DNNL_ARG_SRC, 0), "scale the product");
}
#else
Descriptor OneDnnApi::describe(const Layout& layout) const {
  dnnl_dims_t dims = {};
  dnnl_dims_t strides = {};
  copy_dims(layout.dims, dims);
  copy_dims(layout.strides, strides);
  const int rank = static_cast<int>(layout.dims.size());
  dnnl_memory_desc_t made = {};
  if (layout.strides.empty()) {
    check(memory_desc_init_by_tag(&made, rank, dims, layout.type, dnnl_format_tag_any), "describe a matrix");
  } else {
    check(memory_desc_init_by_strides(&made, rank, dims, layout.type, strides), "describe a matrix");
  }
  return Descriptor(made);
}

Owned<dnnl_primitive_desc> OneDnnApi::matmul(const Descriptor& a, const Descriptor& b, const Descriptor* bias,
                                             const Descriptor& d, dnnl_primitive_attr_t attributes) const {
  dnnl_matmul_desc_t description;
  check(matmul_desc_init(&description, a.get(), b.get(), bias != nullptr ? bias->get() : nullptr, d.get()),
        "describe a matrix product");
  dnnl_primitive_desc_t made = nullptr;
  check(primitive_desc_create(&made, &description, attributes, engine, nullptr), "make a matrix product");
  return {made, primitive_desc_destroy};
}

void OneDnnApi::append_sum(dnnl_post_ops_t post_ops) const {
  check(post_ops_append_sum(post_ops, 1.0F), "add to what is there");
}

void OneDnnApi::append_eltwise(dnnl_post_ops_t post_ops, dnnl_alg_kind_t kind) const {
  check(post_ops_append_eltwise(post_ops, 1.0F, kind, 0.0F, 0.0F), "append an activation");
}

void OneDnnApi::set_scale(dnnl_primitive_attr_t attributes, float scale) const {
  check(attr_set_output_scales(attributes, 1, 0, &scale), "scale the product");
}
#endif

Owned<dnnl_memory> OneDnnApi::memory(DescriptorPointer descriptor, void* data) const {
  dnnl_memory_t made = nullptr;
  check(memory_create(&made, descriptor, engine, data), "take memory");
  return {made, memory_destroy};
}

Owned<dnnl_primitive> OneDnnApi::primitive(const_dnnl_primitive_desc_t description) const {
  dnnl_primitive_t made = nullptr;
  check(primitive_create(&made, description), "compile a primitive");
  return {made, primitive_destroy};
}

std::string OneDnnApi::implementation(const_dnnl_primitive_desc_t description) const {
  const char* name = nullptr;
  if (primitive_desc_query(description, dnnl_query_impl_info_str, 0, static_cast<void*>(&name)) != dnnl_success ||
      name == nullptr) {
    return "unknown";
  }
  return name;
}

// Version 2 is libdnnl.so.2 everywhere. Debian names version 3 by its minor number too, and by that of the oldest
// release it can stand in for (3.7 is libdnnl.so.3.6).
std::vector<std::string> OneDnn::default_candidates() {
  const std::string name = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
  std::vector<std::string> candidates = {name};
  if (DNNL_VERSION_MAJOR >= 3) {
    for (int minor = DNNL_VERSION_MINOR + 2; minor >= 0; --minor) {
      candidates.push_back(name + "." + std::to_string(minor));
    }
  }
  candidates.emplace_back("libdnnl.so");
  return candidates;
}

std::string OneDnn::package() {
  return DNNL_VERSION_MAJOR >= 3 ? "libdnnl-dev of Debian and Ubuntu" : "libdnnl2 of Debian and Ubuntu";
}

OneDnn::OneDnn(const std::vector<std::string>& candidates) {
  const Library library(candidates);
  if (!library.found()) {
    reason_ = "oneDNN is not there: " + (library.attempts().empty() ? "no name to try" : library.attempts().front()) +
              "; the package " + package() + " brings it";
    return;
  }
  path_ = library.path();
  try {
    auto api = std::make_unique<OneDnnApi>(library);
    const dnnl_version_t* found = api->version();
    version_ = std::to_string(found->major) + "." + std::to_string(found->minor) + "." + std::to_string(found->patch);
    if (found->major != DNNL_VERSION_MAJOR) {
      reason_ = "oneDNN " + version_ + " in " + path_ + " has another interface than version " +
                std::to_string(DNNL_VERSION_MAJOR) + ", with which this program was built; the package " + package() +
                " brings the right one";
      return;
    }
    api_ = std::move(api);
  } catch (const Error& error) {
    reason_ = error.what();
  }
}

OneDnn::~OneDnn() = default;

}  // namespace assay::cpu
