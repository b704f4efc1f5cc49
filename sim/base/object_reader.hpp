#pragma once

/// Typed reading of document nodes. An ObjectReader takes the keys of one block one by one,
/// collects every problem in a Diagnostics, and at the end reports the keys nobody asked for:
///
///     Diagnostics problems;
///     ObjectReader reader(document.root, "", problems);
///     reader.required("name", node.name);
///     reader.required("gpus", node.gpus, Integer{.least = 1, .most = 72});
///     reader.optional("nic_bandwidth", node.nic_bandwidth);       // Sourced<Bandwidth>
///     reader.required("interconnect", node.interconnect, interconnects);  // Choices<Interconnect>
///     reader.finish();
///     problems.throw_if_any();
///
/// A field that is optional and absent keeps the value it has. A field that cannot be read keeps it
/// too, and the call returns false, so that nobody checks a value that was never there.

#include "sim/base/diagnostics.hpp"
#include "sim/base/document.hpp"
#include "sim/base/parse_quantity.hpp"
#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepsim {

/// What a value may be. Fields of a plain type have a format of their own (DefaultFormat below);
/// give one to narrow the range.
struct Text {};
struct Flag {};  // true or false, nothing else
struct Integer {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
struct Number {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
};
struct Duration {};               // Time, with a unit
struct ByteCount {                // Bytes, with a unit
  const char* usual_unit = "GB";  // offered to who leaves it out
};
struct DataRate {};        // Bandwidth, with a unit
struct ArithmeticRate {};  // FlopRate, with a unit
struct Power {};           // double, in watts, with a unit
struct Frequency {};       // double, in hertz, with a unit
/// Words and what they mean. The first word of a value is the one that is printed.
template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

/// One value to be read: where it is, its dotted path for messages, and where problems go.
struct ValueSite {
  const DocumentNode& node;
  std::string path;
  Diagnostics& diagnostics;
  /// Whether a plain value stands for a Sourced number that nobody vouches for.
  bool takes_unsourced = false;
  /// Reports a problem at the node; returns false, so that readers can return it.
  bool refuse(std::string problem, std::string expected = {}, std::string suggestion = {}) const;
};

bool read_value(const ValueSite& site, const Text& format, std::string& value);
bool read_value(const ValueSite& site, const Flag& format, bool& value);
bool read_value(const ValueSite& site, const Integer& format, std::int64_t& value);
bool read_value(const ValueSite& site, const Integer& format, int& value);
bool read_value(const ValueSite& site, const Number& format, double& value);
bool read_value(const ValueSite& site, const Duration& format, Time& value);
bool read_value(const ValueSite& site, const ByteCount& format, Bytes& value);
bool read_value(const ValueSite& site, const DataRate& format, Bandwidth& value);
bool read_value(const ValueSite& site, const ArithmeticRate& format, FlopRate& value);
bool read_value(const ValueSite& site, const Power& format, double& value);
bool read_value(const ValueSite& site, const Frequency& format, double& value);
/// Index into `words`, or nothing after reporting the nearest word.
std::optional<std::size_t> read_word(const ValueSite& site, const std::vector<std::string>& words);

template <class Value>
bool read_value(const ValueSite& site, const Choices<Value>& choices, Value& value) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  const std::optional<std::size_t> index = read_word(site, words);
  if (index) value = choices[*index].second;
  return index.has_value();
}

template <class Format>
struct FormatIs {
  using type = Format;
};
template <class Type>
struct DefaultFormatOf;
template <>
struct DefaultFormatOf<std::string> : FormatIs<Text> {};
template <>
struct DefaultFormatOf<bool> : FormatIs<Flag> {};
template <>
struct DefaultFormatOf<std::int64_t> : FormatIs<Integer> {};
template <>
struct DefaultFormatOf<int> : FormatIs<Integer> {};
template <>
struct DefaultFormatOf<double> : FormatIs<Number> {};
template <>
struct DefaultFormatOf<Time> : FormatIs<Duration> {};
template <>
struct DefaultFormatOf<Bytes> : FormatIs<ByteCount> {};
template <>
struct DefaultFormatOf<Bandwidth> : FormatIs<DataRate> {};
template <>
struct DefaultFormatOf<FlopRate> : FormatIs<ArithmeticRate> {};
template <class Value>
struct DefaultFormatOf<std::optional<Value>> : DefaultFormatOf<Value> {};
template <class Value>
struct DefaultFormatOf<std::vector<Value>> : DefaultFormatOf<Value> {};
template <class Value>
struct DefaultFormatOf<Sourced<Value>> : DefaultFormatOf<Value> {};
template <class Field>
using DefaultFormat = typename DefaultFormatOf<Field>::type;

class ObjectReader {
 public:
  /// `path` is the dotted path of the block itself, empty for the root. A node that is no block of
  /// keys is reported here, and then nothing else is.
  ObjectReader(const DocumentNode& node, std::string path, Diagnostics& diagnostics);

  bool has(const std::string& key) const { return node_.find(key) != nullptr; }
  /// True when the block was a block and every read of it so far succeeded.
  bool ok() const { return ok_; }
  /// Says that a value the caller took could not be read.
  void mark_unreadable() { ok_ = false; }

  /// Reads the value of `key` into `field`; reports when it is absent or cannot be read. `format`
  /// describes a single value: lists (std::vector) read each item with it, Sourced and
  /// std::optional fields read their value with it.
  template <class Field, class Format = DefaultFormat<Field>>
  bool required(const std::string& key, Field& field, const Format& format = {}) {
    const DocumentNode* value = take_required(key);
    return value != nullptr && note(read_value(site(key, *value), format, field));
  }
  /// The same, but an absent key leaves `field` alone. True only when a value was read.
  template <class Field, class Format = DefaultFormat<Field>>
  bool optional(const std::string& key, Field& field, const Format& format = {}) {
    const DocumentNode* value = take(key);
    return value != nullptr && note(read_value(site(key, *value), format, field));
  }

  /// The value of a key for the caller to read itself (a sub-block, or «one of» several forms);
  /// nullptr when absent. Counts as known.
  const DocumentNode* take(const std::string& key);
  /// The same, reporting an absent key.
  const DocumentNode* take_required(const std::string& key);
  /// The same for a key that exists but cannot be used: it is not offered to those who mistype.
  const DocumentNode* take_unlisted(const std::string& key);
  /// Where to read the value of a key of this block from, for read_value and refuse.
  ValueSite site(const std::string& key, const DocumentNode& value) const;
  /// Dotted path of a key of this block.
  std::string path_of(const std::string& key) const;

  /// Reports a problem at the value of `key`, or at the block when the key is absent.
  void refuse(const std::string& key, std::string problem, std::string expected = {},
              std::string suggestion = {});
  /// Reports every key that was never asked for, with the nearest that was.
  void finish();
  /// Lets numbers with a source be written without one: `150 GB/s` is then an assumed number.
  void take_unsourced() { takes_unsourced_ = true; }
  /// Says that other keys may be there and mean nothing to us (a Hugging Face config.json).
  void ignore_other_keys() { finished_ = true; }

  const DocumentNode& node() const { return node_; }
  const std::string& path() const { return path_; }
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  bool note(bool succeeded);

  const DocumentNode& node_;
  std::string path_;
  Diagnostics& diagnostics_;
  std::vector<std::string> known_;
  std::vector<std::string> unlisted_;
  bool ok_ = true;
  bool finished_ = false;
  bool takes_unsourced_ = false;
};

/// `{ value: 989 TFLOP/s, source: datasheet, note: "…" }`: the note is mandatory, so that every
/// number says where it came from.
bool read_source(ObjectReader& reader, Source& source);
/// The note of a number that was written without a source.
inline constexpr const char* unsourced_note = "given without a source";

template <class Value, class Format>
bool read_value(const ValueSite& site, const Format& format, Sourced<Value>& sourced) {
  Sourced<Value> read;
  if (site.takes_unsourced && site.node.is_scalar()) {
    if (!read_value(site, format, read.value)) return false;
    sourced = {std::move(read.value), {SourceKind::assumed, unsourced_note}};
    return true;
  }
  ObjectReader reader(site.node, site.path, site.diagnostics);
  reader.required("value", read.value, format);
  read_source(reader, read.source);
  reader.finish();
  if (reader.ok()) sourced = std::move(read);
  return reader.ok();
}

template <class Value, class Format>
bool read_value(const ValueSite& site, const Format& format, std::optional<Value>& field) {
  Value read{};
  if (!read_value(site, format, read)) return false;
  field = std::move(read);
  return true;
}

template <class Value, class Format>
bool read_value(const ValueSite& site, const Format& format, std::vector<Value>& field) {
  if (!site.node.is_list()) return site.refuse("is " + site.node.describe(), "a list");
  std::vector<Value> read(site.node.items.size());
  bool all = true;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::string path = site.path + '[' + std::to_string(i) + ']';
    all &= read_value(ValueSite{site.node.items[i], path, site.diagnostics}, format, read[i]);
  }
  if (all) field = std::move(read);
  return all;
}

}  // namespace stepsim
