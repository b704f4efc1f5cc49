#include "workloads/kernel_grid.hpp"
#include "workloads/kernel_profile.hpp"

#include "sim/base/document.hpp"
#include "sim/base/file_hash.hpp"
#include "sim/base/object_reader.hpp"

#include <charconv>
#include <cstddef>
#include <filesystem>

namespace stepsim::workloads {

namespace {

using topology::MatrixFormat;

constexpr Number share{.least = 0, .most = 1};
constexpr Number at_least_zero{.least = 0};
constexpr Integer size{.least = 1, .most = 1'000'000'000};
constexpr std::size_t largest_grid_bytes = 2'000'000;

const Choices<MatrixFormat>& format_words() {
  static const Choices<MatrixFormat> words = {
      {"fp32", MatrixFormat::fp32}, {"tf32", MatrixFormat::tf32}, {"fp16", MatrixFormat::fp16},
      {"bf16", MatrixFormat::bf16}, {"fp8", MatrixFormat::fp8},   {"fp4", MatrixFormat::fp4}};
  return words;
}

const Choices<AttentionKernel>& attention_words() {
  static const Choices<AttentionKernel> words = {{"flash1", AttentionKernel::flash1},
                                                 {"flash2", AttentionKernel::flash2},
                                                 {"flash3", AttentionKernel::flash3},
                                                 {"cudnn", AttentionKernel::cudnn}};
  return words;
}

const Choices<StreamingKind>& streaming_words() {
  static const Choices<StreamingKind> words = {{"elementwise", StreamingKind::elementwise},
                                               {"strided", StreamingKind::strided},
                                               {"norm", StreamingKind::norm},
                                               {"layer_norm", StreamingKind::layer_norm},
                                               {"norm_backward", StreamingKind::norm_backward},
                                               {"softmax", StreamingKind::softmax},
                                               {"log_softmax", StreamingKind::log_softmax},
                                               {"reduction", StreamingKind::reduction},
                                               {"copy", StreamingKind::copy},
                                               {"optimizer", StreamingKind::optimizer},
                                               {"embedding", StreamingKind::embedding}};
  return words;
}

void read_seconds(ObjectReader& reader, const std::string& key, double& seconds) {
  Time time;
  if (reader.required(key, time)) seconds = time.seconds();
}

void read_held_out(ObjectReader& parent, std::vector<FitError>& errors) {
  const DocumentNode* list = parent.take("held_out");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ObjectReader reader(list->items[i], parent.path_of("held_out") + '[' + std::to_string(i) + ']',
                        parent.diagnostics());
    FitError error;
    reader.required("band", error.band);
    reader.required("count", error.count, Integer{.least = 1});
    reader.required("mean", error.mean, at_least_zero);
    reader.required("median", error.median, at_least_zero);
    reader.required("p95", error.percentile_95, at_least_zero);
    reader.finish();
    if (reader.ok()) errors.push_back(std::move(error));
  }
}

/// The grid lies beside the profile; its bytes count towards the profile's hash.
void read_correction(ObjectReader& reader, GemmProfile& profile, std::string& hashed) {
  std::string name;
  if (!reader.optional("correction", name)) return;
  if (name.find('/') != std::string::npos)
    return reader.refuse("correction", "\"" + name + "\" is in another folder",
                         "the name of a file beside this one");
  const std::string& file = *reader.node().file;
  const std::string path = (std::filesystem::path(file).parent_path() / name).string();
  const std::string text = read_file(path, largest_grid_bytes);
  profile.correction = parse_grid(text, path);
  hashed += content_hash(text);
}

void read_tiles(ObjectReader& reader, std::vector<Tile>& tiles) {
  std::vector<std::string> texts;
  if (!reader.optional("tiles", texts)) return;
  tiles.clear();
  for (const std::string& text : texts) {
    Tile tile;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, tile.m);
    const bool separated = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
    const auto second = separated ? std::from_chars(first.ptr + 1, end, tile.n) : first;
    if (!separated || second.ec != std::errc{} || second.ptr != end || tile.m < 1 || tile.n < 1)
      reader.refuse("tiles", "\"" + text + "\" is no tile", "rows x columns, such as 128x256");
    else
      tiles.push_back(tile);
  }
}

void read_gemm(ObjectReader& parent, const std::string& word, GemmProfile& profile,
               std::string& hashed) {
  const DocumentNode* block = parent.take(word);
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of(word), parent.diagnostics());
  GemmProfile read;
  GemmCoefficients& c = read.coefficients;
  read_source(reader, read.source);
  read_seconds(reader, "launch", c.launch_s);
  reader.required("math_efficiency", c.math_efficiency, share);
  reader.required("tile_half_size", c.tile_half_size, at_least_zero);
  reader.required("k_fill", c.k_fill, at_least_zero);
  Bandwidth feed;
  if (reader.required("feed", feed)) c.feed_bytes_per_s_per_sm = feed.bytes_per_second();
  reader.required("memory_efficiency", c.memory_efficiency, share);
  reader.required("l2_share", c.l2_share, share);
  reader.required("warm_share", c.warm_share, share);
  reader.required("wave_quantisation", c.wave_quantisation, share);
  read_seconds(reader, "wave_latency", c.wave_latency_s);
  read_seconds(reader, "split_k", c.split_k_s);
  reader.required("sustained_slowdown", c.sustained_slowdown, at_least_zero);
  if (reader.optional("quantise_bytes", c.quantise_bytes, at_least_zero))
    read_seconds(reader, "quantise_start", c.quantise_start_s);
  c.tiles = common_tiles();
  read_tiles(reader, c.tiles);
  read_held_out(reader, read.held_out);
  read_correction(reader, read, hashed);
  reader.finish();
  if (reader.ok()) profile = std::move(read);
}

void read_head_dims(ObjectReader& parent, AttentionCoefficients& coefficients) {
  const DocumentNode* list = parent.take_required("head_dims");
  if (list == nullptr) return;
  coefficients.head_dims.clear();
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ObjectReader reader(list->items[i], parent.path_of("head_dims") + '[' + std::to_string(i) + ']',
                        parent.diagnostics());
    AttentionCoefficients::HeadDim entry;
    Source source;
    reader.required("head_dim", entry.head_dim, size);
    reader.required("efficiency", entry.efficiency, share);
    read_source(reader, source);
    reader.finish();
    entry.measured = source.kind != SourceKind::assumed;
    const auto& known = coefficients.head_dims;
    if (!known.empty() && entry.head_dim <= known.back().head_dim)
      reader.refuse("head_dim", "does not rise", "rising head dimensions");
    coefficients.head_dims.push_back(entry);
  }
  if (coefficients.head_dims.empty())
    parent.refuse("head_dims", "is empty", "at least one head dimension");
}

void read_attention_model(ObjectReader& parent, AttentionProfile& profile) {
  const DocumentNode* block = parent.take("forward");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("forward"), parent.diagnostics());
  profile.inherited_from.clear();
  AttentionCoefficients& c = profile.coefficients;
  read_source(reader, profile.source);
  read_seconds(reader, "launch", c.launch_s);
  read_seconds(reader, "row", c.row_s);
  reader.required("memory_efficiency", c.memory_efficiency, share);
  reader.required("quantisation", c.quantisation, share);
  reader.required("prepare_passes", c.prepare_passes, at_least_zero);
  read_head_dims(reader, c);
  profile.held_out.clear();
  read_held_out(reader, profile.held_out);
  reader.finish();
}

void read_backward(ObjectReader& parent, AttentionProfile& profile) {
  const DocumentNode* list = parent.take("backward");
  if (list == nullptr) return;
  profile.backward_ratio.clear();
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ObjectReader reader(list->items[i], parent.path_of("backward") + '[' + std::to_string(i) + ']',
                        parent.diagnostics());
    std::int64_t head_dim = 0;
    Sourced<double> ratio;
    reader.required("head_dim", head_dim, size);
    reader.required("ratio", ratio.value, Number{.least = 1, .most = 10});
    read_source(reader, ratio.source);
    reader.finish();
    if (reader.ok()) profile.backward_ratio[head_dim] = ratio;
  }
}

void read_attention(ObjectReader& parent, AttentionProfile& profile) {
  const DocumentNode* block = parent.take("attention");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("attention"), parent.diagnostics());
  read_attention_model(reader, profile);
  read_backward(reader, profile);
  if (const DocumentNode* kernels = reader.take("kernels")) {
    ObjectReader factors(*kernels, reader.path_of("kernels"), reader.diagnostics());
    for (const auto& [word, kernel] : attention_words()) {
      Sourced<double> factor;
      if (factors.optional(word, factor, Number{.least = 0.1, .most = 10}))
        profile.kernel_factor[kernel] = factor;
    }
    factors.finish();
  }
  reader.finish();
}

void read_streaming(ObjectReader& parent, std::map<StreamingKind, StreamingProfile>& streaming) {
  const DocumentNode* block = parent.take("streaming");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("streaming"), parent.diagnostics());
  for (const auto& [word, kind] : streaming_words()) {
    const DocumentNode* entry = reader.take(word);
    if (entry == nullptr) continue;
    ObjectReader numbers(*entry, reader.path_of(word), reader.diagnostics());
    StreamingProfile read;
    Sourced<Time> start;
    numbers.required("efficiency", read.memory_efficiency, share);
    numbers.required("start", start);
    numbers.finish();
    read.start_s = {start.value.seconds(), start.source};
    if (numbers.ok()) streaming[kind] = read;
  }
  reader.finish();
}

void read_interference(ObjectReader& parent, InterferenceProfile& interference) {
  const DocumentNode* block = parent.take("interference");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("interference"), parent.diagnostics());
  const Number factor{.least = 0, .most = 10};
  reader.required("sm_contention", interference.sm_contention, factor);
  reader.required("memory_contention", interference.memory_contention, factor);
  reader.finish();
}

/// What a file without an own block for something takes over.
KernelProfile inherited(const DataDirectory& data, const std::string& base) {
  KernelProfile profile = read_kernel_profile(data, base);
  for (auto& [format, gemm] : profile.gemm) gemm.inherited_from = base;
  profile.attention.inherited_from = base;
  for (auto& [kind, streaming] : profile.streaming) streaming.inherited_from = base;
  return profile;
}

/// Whether every block that a complete profile needs is there.
void check_complete(ObjectReader& reader, const KernelProfile& profile) {
  if (profile.gemm.count(MatrixFormat::bf16) == 0)
    reader.refuse("gemm", "has no bf16 coefficients", "a gemm.bf16 block or a profile to inherit");
  if (profile.attention.backward_ratio.empty())
    reader.refuse("attention", "has no backward ratio", "attention.backward");
  if (profile.streaming.count(StreamingKind::elementwise) == 0)
    reader.refuse("streaming", "has no elementwise numbers", "streaming.elementwise");
}

}  // namespace

KernelProfile read_kernel_profile(const DataDirectory& data, const std::string& name) {
  const Document document = read_document(data.file("workloads/kernels", name + ".yaml").string());
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  KernelProfile profile;
  std::string base;
  if (reader.optional("inherits", base)) {
    // A base inherits nothing itself, so that no chain can close into a ring.
    if (base == name || read_document(data.file("workloads/kernels", base + ".yaml").string())
                                .root.find("inherits") != nullptr)
      reader.refuse("inherits", "\"" + base + "\" inherits itself", "a profile that is complete");
    else
      profile = inherited(data, base);
  }
  profile.file = document.file;
  std::string hashed = profile.hash + document.hash;
  reader.required("device", profile.device);
  if (const DocumentNode* block = reader.take("gemm")) {
    ObjectReader gemm(*block, "gemm", problems);
    for (const auto& [word, format] : format_words())
      if (gemm.has(word)) read_gemm(gemm, word, profile.gemm[format], hashed);
    gemm.finish();
  }
  read_attention(reader, profile.attention);
  read_streaming(reader, profile.streaming);
  read_interference(reader, profile.interference);
  check_complete(reader, profile);
  reader.finish();
  problems.throw_if_any();
  profile.hash = content_hash(hashed);
  return profile;
}

}  // namespace stepsim::workloads
