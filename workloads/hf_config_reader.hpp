#pragma once

/// Private to the Hugging Face reader: one block of keys, read with the habits of those files (null
/// means absent, one thing under several names), and the table of architectures.

#include "workloads/hf_config.hpp"

#include "sim/base/object_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::workloads {

/// Where a file's problems and unused keys go.
struct HfContext {
  Diagnostics& diagnostics;
  UnknownKeys unknown = UnknownKeys::list;
  std::vector<std::string> ignored;  // dotted paths
};

class HfReader {
 public:
  using Names = std::vector<std::string>;  // of one key, the first is the one messages use

  HfReader(const DocumentNode& block, std::string path, HfContext& context)
      : reader_(block, std::move(path), context.diagnostics), context_(context) {}

  /// The value of the first of the names that is there and not null.
  const DocumentNode* take(const Names& names);
  bool has(const std::string& name) const;  // there, even when null
  bool has_taken(const std::string& name) const;

  /// Positive counts, bounded so that no product of them leaves 64 bits. A required one that is
  /// absent is reported and reads as 0.
  std::int64_t required_count(const Names& names, std::int64_t most);
  std::int64_t count(const Names& names, std::int64_t fallback, std::int64_t most);
  bool flag(const Names& names, bool fallback);
  double number(const Names& names, double fallback);
  std::optional<double> optional_number(const Names& names);
  std::string word(const Names& names, const std::string& fallback);
  std::vector<std::string> words(const std::string& name);
  std::vector<std::int64_t> integers(const std::string& name);

  void refuse(const std::string& name, std::string problem, std::string expected = {},
              std::string suggestion = {});
  /// Refuses a flag that is on, since what it turns on is not modelled.
  void refuse_flag(const std::string& name, const std::string& why);

  /// Lists or refuses the keys that nobody asked for and that are not known to be irrelevant.
  void finish();

  std::string path_of(const std::string& name) const { return reader_.path_of(name); }
  HfContext& context() { return context_; }
  bool ok() const { return ok_; }

 private:
  template <class Format, class Value>
  bool read(const Names& names, const Format& format, Value& value);

  ObjectReader reader_;
  HfContext& context_;
  std::vector<std::string> taken_;
  bool ok_ = true;
};

/// Largest values accepted: far above any model, and small enough that a parameter count of all of
/// them together stays below 2^63.
struct ShapeLimits {
  static constexpr std::int64_t layers = 1'000;
  static constexpr std::int64_t width = 1'000'000;
  static constexpr std::int64_t heads = 10'000;
  static constexpr std::int64_t head_dim = 10'000;
  static constexpr std::int64_t inner_width = 10'000'000;
  static constexpr std::int64_t vocabulary = 100'000'000;
  static constexpr std::int64_t positions = 1'000'000'000;
};

/// Keys of real files that cannot change shapes or work.
bool is_irrelevant_key(std::string_view key);
/// Why a model with this key set cannot be modelled; empty when it can.
std::string_view unmodelled_reason(std::string_view key);

}  // namespace stepsim::workloads
