#include "calibrate/kernel_measurements.hpp"

#include "calibrate/csv.hpp"

#include <cstdint>
#include <string_view>

namespace stepsim::calibrate {

namespace {

using topology::MatrixFormat;

constexpr double seconds_per_microsecond = 1e-6;

std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}

bool is_held_out(std::initializer_list<std::int64_t> shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    if (!text.empty()) text += ',';
    text += std::to_string(size);
  }
  return fnv1a(text) % 5 == 0;
}

MatrixFormat format_of(const CsvTable& table, const CsvTable::Row& row, std::size_t column) {
  const std::string& name = table.text(row, column);
  if (name == "bf16") return MatrixFormat::bf16;
  if (name == "fp16") return MatrixFormat::fp16;
  if (name == "fp8") return MatrixFormat::fp8;
  table.refuse(row, column, "bf16, fp16 or fp8");
}

/// A row a measurement. `shape_reader(table)` looks up the columns of the shape and returns what
/// reads them from a row.
template <class Measurement, class ShapeReader>
std::vector<Measurement> read_rows(const std::string& file, ShapeReader shape_reader) {
  const CsvTable table = CsvTable::read(file);
  const std::size_t gpu = table.column("gpu");
  const std::size_t dtype = table.column("dtype");
  const std::size_t time_us = table.column("time_us");
  const auto read_shape = shape_reader(table);
  std::vector<Measurement> measurements;
  measurements.reserve(table.rows().size());
  for (const CsvTable::Row& row : table.rows()) {
    Measurement measurement;
    measurement.device = table.text(row, gpu);
    read_shape(row, format_of(table, row, dtype), measurement);
    measurement.time_s = table.positive(row, time_us) * seconds_per_microsecond;
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

}  // namespace

std::vector<GemmMeasurement> read_gemm_measurements(const std::string& file) {
  return read_rows<GemmMeasurement>(file, [](const CsvTable& table) {
    const std::size_t m = table.column("m");
    const std::size_t n = table.column("n");
    const std::size_t k = table.column("k");
    return [&table, m, n, k](const CsvTable::Row& row, MatrixFormat format,
                             GemmMeasurement& measurement) {
      measurement.gemm.m = table.integer(row, m, 1);
      measurement.gemm.n = table.integer(row, n, 1);
      measurement.gemm.k = table.integer(row, k, 1);
      measurement.gemm.format = format;
    };
  });
}

std::vector<AttentionMeasurement> read_attention_measurements(const std::string& file) {
  return read_rows<AttentionMeasurement>(file, [](const CsvTable& table) {
    const std::size_t batch = table.column("batch");
    const std::size_t seq_len = table.column("seq_len");
    const std::size_t q_heads = table.column("q_heads");
    const std::size_t kv_heads = table.column("kv_heads");
    const std::size_t head_dim = table.column("head_dim");
    return [=, &table](const CsvTable::Row& row, MatrixFormat format,
                       AttentionMeasurement& measurement) {
      workloads::Attention& attention = measurement.attention;
      attention.batch = table.integer(row, batch, 1);
      attention.query_length = table.integer(row, seq_len, 1);
      attention.key_length = attention.query_length;
      attention.heads = table.integer(row, q_heads, 1);
      attention.kv_heads = table.integer(row, kv_heads, 1);
      attention.head_dim = table.integer(row, head_dim, 1);
      attention.format = format;
    };
  });
}

bool held_out(const workloads::Gemm& gemm) { return is_held_out({gemm.m, gemm.n, gemm.k}); }

bool held_out(const workloads::Attention& a) {
  return is_held_out({a.batch, a.query_length, a.heads, a.kv_heads, a.head_dim});
}

}  // namespace stepsim::calibrate
