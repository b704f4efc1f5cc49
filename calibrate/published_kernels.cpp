#include "calibrate/published_kernels.hpp"

#include "calibrate/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace stepsim::calibrate {

namespace {

using workloads::Attention;
using workloads::StreamingKind;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool begins(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// One line of the table; columns are looked up by name.
class Line {
 public:
  Line(const CsvTable& table, const CsvTable::Row& row) : table_(table), row_(row) {}
  const std::string& text(const char* column) const {
    return table_.text(row_, table_.column(column));
  }
  std::int64_t integer(const char* column) const {
    return table_.integer(row_, table_.column(column), 0);
  }
  double positive(const char* column) const { return table_.positive(row_, table_.column(column)); }

 private:
  const CsvTable& table_;
  const CsvTable::Row& row_;
};

bool is_plain_attention(const Line& line) {
  const std::string& kernel = line.text("kernel");
  const std::string& implementation = line.text("implementation");
  return (kernel == "flash_fwd" || kernel == "flash_bwd") && begins(implementation, "cudnn") &&
         implementation.find("deterministic") == std::string::npos &&
         line.text("dtype") == "bf16" && !line.text("time_ms").empty() &&
         line.text("head_dim") == line.text("head_dim_v") &&
         line.text("notes").find("sliding_window=none") != std::string::npos;
}

PublishedAttention read_attention(const Line& line) {
  PublishedAttention row;
  row.gpu = line.text("gpu");
  Attention& a = row.attention;
  a.batch = line.integer("batch");
  a.query_length = line.integer("seq_q");
  a.key_length = line.integer("seq_kv");
  a.heads = line.integer("heads");
  a.kv_heads = line.integer("kv_heads");
  a.head_dim = line.integer("head_dim");
  a.causal = line.integer("causal") == 1;
  a.backward = line.text("kernel") == "flash_bwd";
  row.time_s = line.positive("time_ms") * 1e-3;
  return row;
}

PublishedStreaming read_streaming(const Line& line) {
  const std::string& source = line.text("source");
  PublishedStreaming row{line.text("gpu"),
                         line.text("kernel"),
                         line.text("implementation"),
                         source.substr(0, source.find(' ')),
                         0,
                         0};
  if (!line.text("rows").empty() && !line.text("cols").empty())
    row.elements = line.integer("rows") * line.integer("cols");
  row.bytes_per_s = line.positive("GBps") * 1e9;
  return row;
}

auto shape_of(const Attention& a) {
  return std::tuple(a.head_dim, a.batch, a.query_length, a.key_length, a.heads, a.kv_heads,
                    a.causal);
}

/// Which rows stand for a kind of kernel on a device.
struct StreamingSource {
  const char* device;
  StreamingKind kind;
  const char* gpu;             // as the table spells it
  const char* datasheet;       // the device whose bandwidth the rows are a share of
  const char* kernels;         // space-separated
  const char* implementation;  // how its name begins
  double counted = 1;          // the bytes we count over those that the table's rate counts
};

/// The table counts x, dy and dx; the kernels emitted read x and dy again for the weight's
/// gradient.
constexpr double backward_passes = 5.0 / 3;
constexpr const char* pointwise = "add_fwd mul_fwd div_fwd relu_fwd gelu_fwd tanh_fwd";
// torch.compile's norms: between PyTorch's own, slower, and cuDNN's.
constexpr std::array<StreamingSource, 19> sources{{
    {"a100-sxm-80gb", StreamingKind::elementwise, "A100-80GB-PCIe", "a100-pcie-80gb", pointwise,
     "PyTorch"},
    {"a100-sxm-80gb", StreamingKind::norm, "A100-80GB-PCIe", "a100-pcie-80gb", "ln_fwd", "PyTorch"},
    {"a100-sxm-80gb", StreamingKind::softmax, "A100-80GB-PCIe", "a100-pcie-80gb", "softmax_fwd",
     "PyTorch"},
    {"a100-sxm-80gb", StreamingKind::copy, "A100-80GB-SXM", "a100-sxm-80gb", "stream_copy", ""},
    {"a100-sxm-80gb", StreamingKind::reduction, "A100-80GB-SXM", "a100-sxm-80gb", "stream_dot", ""},
    {"h100-sxm-80gb", StreamingKind::copy, "H100-80GB-SXM", "h100-sxm-80gb", "stream_copy", ""},
    {"h100-sxm-80gb", StreamingKind::elementwise, "H100-80GB-SXM", "h100-sxm-80gb",
     "stream_copy stream_mul", ""},
    {"h100-sxm-80gb", StreamingKind::reduction, "H200-141GB-SXM", "h200-sxm-141gb", "stream_dot",
     ""},
    {"h100-sxm-80gb", StreamingKind::norm, "H200-141GB-SXM", "h200-sxm-141gb", "rmsnorm_fwd",
     "torch_compile"},
    {"h100-sxm-80gb", StreamingKind::norm_backward, "H200-141GB-SXM", "h200-sxm-141gb",
     "rmsnorm_bwd", "torch_compile", backward_passes},
    {"h200-sxm-141gb", StreamingKind::copy, "H200-141GB-SXM", "h200-sxm-141gb", "stream_copy", ""},
    {"h200-sxm-141gb", StreamingKind::elementwise, "H200-141GB-SXM", "h200-sxm-141gb",
     "stream_copy stream_mul stream_add", ""},
    {"h200-sxm-141gb", StreamingKind::reduction, "H200-141GB-SXM", "h200-sxm-141gb", "stream_dot",
     ""},
    {"h200-sxm-141gb", StreamingKind::norm, "H200-141GB-SXM", "h200-sxm-141gb", "rmsnorm_fwd",
     "torch_compile"},
    {"h200-sxm-141gb", StreamingKind::norm_backward, "H200-141GB-SXM", "h200-sxm-141gb",
     "rmsnorm_bwd", "torch_compile", backward_passes},
    {"b200-sxm-180gb", StreamingKind::norm, "GB200", "gb200", "rmsnorm_fwd", "torch_compile"},
    {"b200-sxm-180gb", StreamingKind::norm_backward, "GB200", "gb200", "rmsnorm_bwd",
     "torch_compile", backward_passes},
    {"gb200", StreamingKind::norm, "GB200", "gb200", "rmsnorm_fwd", "torch_compile"},
    {"gb200", StreamingKind::norm_backward, "GB200", "gb200", "rmsnorm_bwd", "torch_compile",
     backward_passes},
}};

// Below this a kernel's start hides its bandwidth, or its operands sit in L2.
constexpr std::int64_t large_elements = 16'000'000;

bool stands_for(const PublishedStreaming& row, const StreamingSource& source) {
  const std::string kernels = ' ' + std::string(source.kernels) + ' ';
  return row.gpu == source.gpu && kernels.find(' ' + row.kernel + ' ') != std::string::npos &&
         begins(row.implementation, source.implementation) &&
         (row.elements == 0 || row.elements >= large_elements);
}

}  // namespace

PublishedKernels read_published_kernels(const std::string& file) {
  const CsvTable table = CsvTable::read(file);
  PublishedKernels published;
  for (const CsvTable::Row& row : table.rows()) {
    const Line line(table, row);
    if (is_plain_attention(line)) {
      published.attention.push_back(read_attention(line));
    } else if (!line.text("GBps").empty()) {
      published.streaming.push_back(read_streaming(line));
    }
  }
  return published;
}

std::map<std::int64_t, Sourced<double>> backward_ratios(const PublishedKernels& published,
                                                        const std::string& gpu) {
  std::map<decltype(shape_of(Attention{})), double> forward_s;
  for (const PublishedAttention& row : published.attention)
    if (row.gpu == gpu && !row.attention.backward) forward_s[shape_of(row.attention)] = row.time_s;
  std::map<std::int64_t, std::vector<double>> by_head_dim;
  for (const PublishedAttention& row : published.attention) {
    const auto forward = forward_s.find(shape_of(row.attention));
    if (row.gpu == gpu && row.attention.backward && forward != forward_s.end())
      by_head_dim[row.attention.head_dim].push_back(row.time_s / forward->second);
  }
  std::map<std::int64_t, Sourced<double>> ratios;
  for (const auto& [head_dim, values] : by_head_dim)
    if (values.size() >= 3)
      ratios[head_dim] = {median(values),
                          {SourceKind::measured,
                           fmt::format("median of {} cuDNN pairs on {} (NVIDIA/cudnn-frontend "
                                       "benchmarks, MIT)",
                                       values.size(), gpu)}};
  return ratios;
}

Sourced<double> cudnn_factor(const PublishedKernels& published, const std::string& gpu,
                             const workloads::KernelCostModel& model) {
  std::vector<double> ratios;
  for (const PublishedAttention& row : published.attention) {
    if (row.gpu != gpu || row.attention.backward) continue;
    const workloads::Kernel kernel{"attention", row.attention, 1};
    // What the measured kernels take inside a step: the factor at hand divided out.
    const double measured_s = model.time(kernel).total_s / model.attention_factor();
    ratios.push_back(row.time_s / measured_s);
  }
  if (ratios.empty()) return {};
  return {median(ratios),
          {SourceKind::measured, fmt::format("median of {} cuDNN rows on {} (NVIDIA/cudnn-frontend "
                                             "benchmarks, MIT)",
                                             ratios.size(), gpu)}};
}

void use_published_streaming(const PublishedKernels& published, const DataDirectory& data,
                             const std::string& device,
                             std::map<StreamingKind, workloads::StreamingProfile>& streaming) {
  for (const StreamingSource& source : sources) {
    if (source.device != device) continue;
    std::vector<double> rates;
    std::string publisher;
    for (const PublishedStreaming& row : published.streaming) {
      if (!stands_for(row, source)) continue;
      rates.push_back(row.bytes_per_s);
      publisher = row.source;
    }
    if (rates.empty()) continue;
    const topology::Device measured = topology::load_device(data, source.datasheet);
    const double bandwidth = measured.memory_bandwidth.value.bytes_per_second();
    const bool own = device == source.datasheet;
    streaming[source.kind].memory_efficiency = {
        std::min(1.0, median(rates) * source.counted / bandwidth),
        {own ? SourceKind::measured : SourceKind::assumed,
         fmt::format("median of {} large {} kernels on {}", rates.size(), to_string(source.kind),
                     source.gpu)}};
  }
}

}  // namespace stepsim::calibrate
