#include "topology/import_node.hpp"
#include "topology/profile_file.hpp"

#include "sim/base/document_writer.hpp"

namespace stepsim::topology {

namespace {

DocumentNode sourced(std::string value, const Source& source) {
  DocumentNode map = empty_map();
  append(map, "value", plain_scalar(std::move(value)));
  append(map, "source", plain_scalar(to_string(source.kind)));
  append(map, "note", quoted_scalar(source.note));
  return map;
}

template <class Value>
std::string word_of(const Choices<Value>& words, Value value) {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return "";
}

DocumentNode bandwidth(const Sourced<Bandwidth>& rate) {
  return sourced(format_bandwidth(rate.value), rate.source);
}

DocumentNode count(const Sourced<int>& number) {
  return sourced(std::to_string(number.value), number.source);
}

}  // namespace

std::string node_yaml(const Node& node) {
  DocumentNode root = empty_map();
  append(root, "name", quoted_scalar(node.name));
  append(root, "description", quoted_scalar(node.description));
  append(root, "device", plain_scalar(node.device.name));
  append(root, "gpus", plain_scalar(std::to_string(node.gpus)));
  append(root, "interconnect", plain_scalar(word_of(interconnect_words(), node.interconnect)));
  if (node.interconnect != Interconnect::pcie) {
    append(root, "nvlink_bandwidth", bandwidth(node.nvlink_bandwidth));
    append(root, "nvlink_count", count(node.nvlink_count));
    append(root, "nvlink_domain", plain_scalar(std::to_string(node.nvlink_domain)));
    append(root, "in_switch_reduction", plain_scalar(node.in_switch_reduction ? "true" : "false"));
  }
  append(root, "pcie_generation", plain_scalar(std::to_string(node.pcie_generation)));
  append(root, "pcie_bandwidth", bandwidth(node.pcie_bandwidth));
  append(root, "socket_bandwidth", bandwidth(node.socket_bandwidth));
  append(root, "nics", count(node.nics));
  append(root, "nic_bandwidth", bandwidth(node.nic_bandwidth));
  append(root, "cpu", plain_scalar(word_of(cpu_vendor_words(), node.cpu)));
  return write_yaml(root);
}

std::string import_yaml(const NodeImport& import) {
  std::string text;
  for (const std::string& note : import.notes) {
    text += "# ";
    // A note may quote the file; nothing of it may end the comment.
    for (const char c : note) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    text += '\n';
  }
  return text + node_yaml(import.node);
}

}  // namespace stepsim::topology
