#include "scenarios/inline_block_schemas.hpp"

#include "workloads/hf_config.hpp"

#include "topology/node.hpp"

#include <utility>

namespace stepsim::scenarios {

namespace {

Json described(Json schema, const char* about) {
  schema["description"] = about;
  return schema;
}

Json object(const Json& properties, const std::vector<std::string>& required, bool others) {
  return {{"type", "object"},
          {"additionalProperties", others},
          {"properties", properties},
          {"required", required}};
}

// A number with its source, or the number alone, which then counts as assumed.
template <class Format>
Json sourced(const Format& format, const char* about) {
  const Json block = object({{"value", schema_of(format)},
                             {"source", {{"enum", {"datasheet", "measured", "fitted", "assumed"}}}},
                             {"note", schema_of(Text{})}},
                            {"value", "source", "note"}, false);
  return {{"anyOf", Json::array({schema_of(format), block})}, {"description", about}};
}

}  // namespace

Json node_block_schema(const DataDirectory& data) {
  const Json properties = {
      {"name", described(schema_of(Text{}), "What answers call the node type")},
      {"description", schema_of(Text{})},
      {"device", {{"enum", topology::device_names(data)}, {"description", "Its GPUs"}}},
      {"gpus", described(schema_of(Integer{1, 1024}), "GPUs of a node")},
      {"interconnect",
       {{"enum", {"nvswitch", "nvlink_mesh", "pcie"}}, {"description", "How they are joined"}}},
      {"in_switch_reduction",
       described(schema_of(Flag{}), "nvswitch: its switches add (NVLink SHARP)")},
      {"nvlink_bandwidth", sourced(DataRate{}, "Of a GPU, one direction; not for pcie")},
      {"nvlink_count", sourced(Integer{1, 1000}, "Links of a GPU; not for pcie")},
      {"nvlink_domain",
       described(schema_of(Integer{0, 1024}), "GPUs that NVLink joins; 0: all of the node")},
      {"pcie_generation", schema_of(Integer{3, 6})},
      {"pcie_bandwidth", sourced(DataRate{}, "Of a GPU, one direction")},
      {"socket_bandwidth", sourced(DataRate{}, "Between CPU sockets, one direction")},
      {"nics", sourced(Integer{1, 10'000}, "Network ports used for training")},
      {"nic_bandwidth", sourced(DataRate{}, "Line rate of one port, one direction")},
      {"cpu", {{"enum", {"intel", "amd", "arm"}}}}};
  return object(properties,
                {"name", "device", "gpus", "interconnect", "pcie_generation", "pcie_bandwidth",
                 "socket_bandwidth", "nics", "nic_bandwidth", "cpu"},
                false);
}

Json model_block_schema() {
  const Json count = schema_of(Integer{.least = 1});
  const Json flag = schema_of(Flag{});
  const Json text = schema_of(Text{});
  Json properties = {
      {"model_type",
       {{"enum", workloads::supported_model_types()},
        {"description", "The architecture; what other keys there are depends on it"}}},
      {"name", described(text, "What answers call the model")},
      {"source", text}};
  const std::vector<std::pair<const char*, const char*>> counts = {
      {"hidden_size", "Width; n_embd of gpt2, d_model of mpt"},
      {"num_hidden_layers", "Layers; n_layer of gpt2, n_layers of mpt"},
      {"num_attention_heads", "Query heads; n_head of gpt2, n_heads of mpt"},
      {"num_key_value_heads", "Key-value heads; as many as query heads when left out"},
      {"head_dim", "Width of a head; hidden size / heads when left out"},
      {"intermediate_size", "Inner width of the MLP"},
      {"vocab_size", "Rows of the embedding"},
      {"max_position_embeddings", "Tokens of a sequence the model was made for"},
      {"n_embd", "gpt2: width"},
      {"n_layer", "gpt2: layers"},
      {"n_head", "gpt2: heads"},
      {"n_positions", "gpt2: rows of the position table"},
      {"d_model", "mpt: width"},
      {"n_layers", "mpt: layers"},
      {"n_heads", "mpt: heads"},
      {"max_seq_len", "mpt: tokens of a sequence"}};
  for (const auto& [name, about] : counts) properties[name] = described(count, about);
  properties["tie_word_embeddings"] = described(flag, "The head shares the embedding's weights");
  properties["attention_bias"] = described(flag, "Biases of queries, keys, values and output");
  properties["hidden_act"] = described(text, "Activation of the MLP");
  return object(properties, {"model_type"}, true);
}

}  // namespace stepsim::scenarios
