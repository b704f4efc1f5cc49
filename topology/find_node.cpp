// A node type by whatever a user has of it: a name, a node file, or a file to import.

#include "topology/import_node.hpp"

#include "sim/base/error.hpp"
#include "sim/base/message_text.hpp"

#include <algorithm>
#include <filesystem>

namespace stepsim::topology {

namespace {

NodeImport read_node_file(const DataDirectory& data, const std::string& file) {
  Diagnostics problems;
  const Document document = read_document(file, problems);
  NodeImport import{read_node(data, document.root, "", problems), {}};
  problems.throw_if_any();
  import.node.file = document.file;
  import.node.hash = document.hash;
  return import;
}

}  // namespace

NodeImport find_node(const DataDirectory& data, const std::string& reference) {
  namespace fs = std::filesystem;
  const std::vector<std::string> known = node_names(data);
  if (std::find(known.begin(), known.end(), reference) != known.end()) {
    return {load_node(data, reference), {}};
  }
  const std::string extension = fs::path(reference).extension().string();
  if (extension == ".xml") return import_nccl_topology(data, reference);
  if (extension == ".txt") return import_topology_matrix(data, reference);
  const bool is_file = extension == ".yaml" || extension == ".yml" || extension == ".json" ||
                       reference.find('/') != std::string::npos;
  if (is_file) return read_node_file(data, reference);
  throw InputError(Diagnostic{{},
                              "",
                              "there is no node type named " + in_quotes(reference),
                              one_of(known) + ", or the path of a node file",
                              nearest_choice(reference, known)});
}

}  // namespace stepsim::topology
