#pragma once

/// One declarative description of a block of a scenario file. Reading the block, its JSON Schema
/// and writing it back all come from the same description, so that they cannot differ:
///
///     static const Block<FabricSpec> block =
///         Block<FabricSpec>()
///             .optional("kind", &FabricSpec::kind, fabric_words(), "how leaf switches are wired")
///             .optional("oversubscription", &FabricSpec::oversubscription, Number{1, 1000}, "…")
///             .later({"latency", "ecmp"});

#include "scenarios/value_format.hpp"

#include "sim/base/document_writer.hpp"
#include "sim/base/object_reader.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::scenarios {

template <class Spec>
class Block {
 public:
  using Json = nlohmann::ordered_json;

  /// A key whose field is a std::optional that stays empty when the key is absent.
  template <class Value, class Format>
  Block& optional(const std::string& name, std::optional<Value> Spec::*field, Format format,
                  const std::string& about) {
    return add(Presence::optional, name, field, std::move(format), about);
  }
  template <class Value, class Format>
  Block& required(const std::string& name, std::optional<Value> Spec::*field, Format format,
                  const std::string& about) {
    return add(Presence::required, name, field, std::move(format), about);
  }

  /// A block inside the block. `child` must outlive this.
  template <class Child>
  Block& optional(const std::string& name, Child Spec::*field, const Block<Child>& child,
                  const std::string& about) {
    return add_block(Presence::optional, name, field, child, about);
  }
  template <class Child>
  Block& required(const std::string& name, Child Spec::*field, const Block<Child>& child,
                  const std::string& about) {
    return add_block(Presence::required, name, field, child, about);
  }

  /// Keys of the format that this version cannot take into account: refused by saying so.
  Block& later(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      Key key{name, Presence::later, {}, {}, {}};
      key.read = [name](ObjectReader& reader, Spec&) {
        if (reader.take_unlisted(name) != nullptr) refuse_later(reader, name);
      };
      keys_.push_back(std::move(key));
    }
    return *this;
  }
  /// Degrees of parallelism of which this version knows only 1.
  Block& degrees_of_one(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      Key key{name, Presence::optional, {}, {}, {}};
      key.read = [name](ObjectReader& reader, Spec&) {
        if (reader.take_unlisted(name) != nullptr) read_degree_of_one(reader, name);
      };
      key.schema = [](const Spec&) {
        return Json{{"const", 1},
                    {"description", "not supported by this version yet, except as 1"}};
      };
      key.write = [](const Spec&) { return std::optional<DocumentNode>(); };
      keys_.push_back(std::move(key));
    }
    return *this;
  }

  /// Names of all keys, those of later versions among them.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Key& key : keys_) names.push_back(key.name);
    return names;
  }

  /// Reads `node` into `spec` and sets spec.readable. Problems go to `diagnostics`.
  bool read(const DocumentNode& node, const std::string& path, Diagnostics& diagnostics,
            Spec& spec) const {
    ObjectReader reader(node, path, diagnostics);
    bool children_readable = true;
    for (const Key& key : keys_) key.read(reader, spec);
    for (const auto& child_readable : children_readable_) children_readable &= child_readable(spec);
    reader.finish();
    spec.readable = reader.ok() && children_readable;
    return spec.readable;
  }

  /// The JSON Schema of the block; what `defaults` has are the defaults of its keys.
  Json schema(const Spec& defaults) const {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Key& key : keys_) {
      if (key.presence == Presence::later) continue;
      properties[key.name] = key.schema(defaults);
      if (key.presence == Presence::required) required.push_back(key.name);
    }
    Json schema = {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
    if (!required.empty()) schema["required"] = required;
    return schema;
  }

  /// The keys that `spec` has, as a block that reads back to the same.
  DocumentNode write(const Spec& spec) const {
    DocumentNode block = empty_map();
    for (const Key& key : keys_) {
      if (key.presence == Presence::later) continue;
      if (std::optional<DocumentNode> value = key.write(spec)) {
        append(block, key.name, std::move(*value));
      }
    }
    return block;
  }

 private:
  enum class Presence { optional, required, later };

  struct Key {
    std::string name;
    Presence presence = Presence::optional;
    std::function<void(ObjectReader&, Spec&)> read;
    std::function<Json(const Spec& defaults)> schema;
    std::function<std::optional<DocumentNode>(const Spec&)> write;
  };

  template <class Value, class Format>
  Block& add(Presence presence, const std::string& name, std::optional<Value> Spec::*field,
             Format format, const std::string& about) {
    Key key{name, presence, {}, {}, {}};
    key.read = [=](ObjectReader& reader, Spec& spec) {
      if (presence == Presence::required) {
        reader.required(name, spec.*field, format);
      } else {
        reader.optional(name, spec.*field, format);
      }
    };
    key.schema = [=](const Spec& defaults) {
      Json schema = schema_of(format);
      if (defaults.*field) schema["default"] = json_of(to_node(format, *(defaults.*field)));
      schema["description"] = about;
      return schema;
    };
    key.write = [=](const Spec& spec) {
      return spec.*field ? std::optional(to_node(format, *(spec.*field))) : std::nullopt;
    };
    keys_.push_back(std::move(key));
    return *this;
  }

  template <class Child>
  Block& add_block(Presence presence, const std::string& name, Child Spec::*field,
                   const Block<Child>& child, const std::string& about) {
    Key key{name, presence, {}, {}, {}};
    key.read = [=, &child](ObjectReader& reader, Spec& spec) {
      const DocumentNode* node =
          presence == Presence::required ? reader.take_required(name) : reader.take(name);
      if (node != nullptr) {
        child.read(*node, reader.path_of(name), reader.diagnostics(), spec.*field);
      } else {
        (spec.*field).readable = presence != Presence::required;
      }
    };
    key.schema = [=, &child](const Spec& defaults) {
      Json schema = child.schema(defaults.*field);
      schema["description"] = about;
      return schema;
    };
    key.write = [=, &child](const Spec& spec) {
      DocumentNode node = child.write(spec.*field);
      return node.entries.empty() ? std::nullopt : std::optional(std::move(node));
    };
    children_readable_.push_back([=](const Spec& spec) { return (spec.*field).readable; });
    keys_.push_back(std::move(key));
    return *this;
  }

  std::vector<Key> keys_;
  std::vector<std::function<bool(const Spec&)>> children_readable_;
};

}  // namespace stepsim::scenarios
