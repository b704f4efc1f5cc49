#include "report/catalogue.hpp"

#include "workloads/hf_config.hpp"
#include "workloads/kernel_cost.hpp"
#include "workloads/kernel_profile.hpp"

#include "topology/node.hpp"

#include "sim/base/sourced_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace stepsim::report {

namespace {

using topology::MatrixFormat;

const char* interconnect_name(topology::Interconnect interconnect) {
  switch (interconnect) {
    case topology::Interconnect::nvswitch:
      return "nvswitch";
    case topology::Interconnect::nvlink_mesh:
      return "nvlink mesh";
    case topology::Interconnect::pcie:
      return "pcie";
  }
  return "";
}

std::string tera(const topology::Device& device, MatrixFormat format) {
  const auto found = device.peak.find(format);
  if (found == device.peak.end()) return "";
  return fmt::format("{:.4g}", found->second.value.flops_per_second() * 1e-12);
}

// The mean held-out error over all sizes, as a percentage. One measured on another device says
// nothing about this one.
std::string error_text(const std::vector<workloads::FitError>& errors, bool inherited) {
  const auto all = std::find_if(errors.begin(), errors.end(), [](const workloads::FitError& error) {
    return error.band == "all";
  });
  return inherited || all == errors.end() ? "" : fmt::format("{:.1f}", all->mean * 100);
}

std::string source_text(const Source& source, const std::string& inherited_from) {
  return inherited_from.empty() ? to_string(source.kind) : "assumed, as " + inherited_from;
}

}  // namespace

Table models_table(const DataDirectory& data) {
  Table table{{{"name"},
               {"parameters_B", Align::right},
               {"layers", Align::right},
               {"hidden", Align::right},
               {"heads", Align::right},
               {"kv_heads", Align::right},
               {"ffn", Align::right},
               {"vocabulary", Align::right}},
              {}};
  for (const std::string& name : workloads::zoo_names(data)) {
    const workloads::Model model = workloads::load_zoo_model(data, name).model;
    const auto parameters = static_cast<double>(workloads::parameter_count(model));
    table.add_row({name, fmt::format("{:.3f}", parameters * 1e-9), std::to_string(model.layers),
                   std::to_string(model.hidden), std::to_string(model.heads),
                   std::to_string(model.kv_heads), std::to_string(model.ffn),
                   std::to_string(model.vocabulary)});
  }
  return table;
}

Table devices_table(const DataDirectory& data) {
  Table table{{{"name"},
               {"memory_GiB", Align::right},
               {"memory_TB/s", Align::right},
               {"bf16_TFLOP/s", Align::right},
               {"fp8_TFLOP/s", Align::right},
               {"SMs", Align::right},
               {"description"}},
              {}};
  for (const std::string& name : topology::device_names(data)) {
    const topology::Device device = topology::load_device(data, name);
    table.add_row({name, fmt::format("{:.2f}", device.memory_capacity.value.gib()),
                   fmt::format("{:.4g}", device.memory_bandwidth.value.bytes_per_second() * 1e-12),
                   tera(device, MatrixFormat::bf16), tera(device, MatrixFormat::fp8),
                   std::to_string(device.streaming_multiprocessors.value), device.description});
  }
  return table;
}

Table nodes_table(const DataDirectory& data) {
  Table table{{{"name"},
               {"device"},
               {"GPUs", Align::right},
               {"interconnect"},
               {"NVLink_GB/s", Align::right},
               {"NICs", Align::right},
               {"NIC_Gb/s", Align::right}},
              {}};
  for (const std::string& name : topology::node_names(data)) {
    const topology::Node node = topology::load_node(data, name);
    table.add_row({name, node.device.name, std::to_string(node.gpus),
                   interconnect_name(node.interconnect),
                   fmt::format("{:.4g}", node.nvlink_bandwidth.value.gigabytes_per_second()),
                   std::to_string(node.nics.value),
                   fmt::format("{:.4g}", node.nic_bandwidth.value.bytes_per_second() * 8e-9)});
  }
  return table;
}

Table kernels_table(const DataDirectory& data) {
  Table table{{{"device"},
               {"profile_of"},
               {"gemm"},
               {"gemm_error_%", Align::right},
               {"attention"},
               {"attention_error_%", Align::right},
               {"hash"}},
              {}};
  for (const std::string& name : topology::device_names(data)) {
    const workloads::KernelCostModel model(data, topology::load_device(data, name));
    const workloads::KernelProfile& profile = model.profile();
    const auto gemm = profile.gemm.find(MatrixFormat::bf16);
    const bool has_gemm = gemm != profile.gemm.end();
    constexpr std::size_t hash_digits = 12;
    std::string gemm_source;
    std::string gemm_error;
    if (has_gemm) {
      const std::string& from = gemm->second.inherited_from;
      gemm_source = source_text(gemm->second.source, from);
      gemm_error = error_text(gemm->second.held_out, !from.empty());
    }
    const workloads::AttentionProfile& attention = profile.attention;
    const std::string& from = attention.inherited_from;
    table.add_row(
        {name, profile.device, gemm_source, gemm_error, source_text(attention.source, from),
         error_text(attention.held_out, !from.empty()), profile.hash.substr(0, hash_digits)});
  }
  return table;
}

Table examples_table(const DataDirectory& data) {
  Table table{{{"name"}, {"file"}}, {}};
  for (const std::string& name : data.names("scenarios/examples", ".yaml")) {
    table.add_row({name, data.file("scenarios/examples", name + ".yaml").string()});
  }
  return table;
}

}  // namespace stepsim::report
