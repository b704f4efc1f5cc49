#include "cli/verbs.hpp"

#include "scenarios/import_hugging_face.hpp"

#include "topology/import_node.hpp"

#include "sim/base/error.hpp"
#include "sim/base/parse_quantity.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct ImportOptions {
  scenarios::HuggingFaceImport request;
  std::string output;
};

ExitCode import_config(ImportOptions options) {
  if (!options.output.empty()) options.request.output = options.output;
  const std::string text = scenarios::import_hugging_face(DataDirectory::find(), options.request);
  if (options.output.empty()) {
    print(text);
  } else {
    write_file(options.output, text);
  }
  return ExitCode::done;
}

void add_hugging_face(CLI::App& import, Invocation& invocation) {
  CLI::App* kind = import.add_subcommand("hf", "A Hugging Face config.json");
  const auto options = std::make_shared<ImportOptions>();
  kind->add_option("FILE", options->request.config, "The config.json")->required();
  kind->add_option("--gpus", options->request.gpus, "GPUs to train on")
      ->type_name("N")
      ->capture_default_str();
  add_output_option(*kind, "-o,--output", options->output,
                    "Write to this file, not to standard output");
  kind->footer(
      "Prints a scenario file whose comments say what was read, assumed and ignored.\n\n"
      "Examples:\n"
      "  stepsim import hf config.json\n"
      "  stepsim import hf config.json --gpus 64 -o job.yaml && stepsim run job.yaml");
  kind->callback([options, &invocation] {
    invocation.action = [options] { return import_config(*options); };
  });
}

struct NodeOptions {
  std::string file;
  topology::ImportChoices choices;
  std::string port;
  std::string output;
};

using ImportNode = topology::NodeImport (*)(const DataDirectory&, const std::string&,
                                            const topology::ImportChoices&);

ExitCode import_node(NodeOptions options, ImportNode import) {
  if (!options.port.empty()) {
    const ParsedQuantity<Bandwidth> rate = parse_bandwidth(options.port);
    if (!rate.value) {
      throw InputError(Diagnostic{{}, "--port", rate.problem, rate.expected, rate.suggestion});
    }
    options.choices.nic_bandwidth = rate.value;
  }
  const std::string text =
      topology::import_yaml(import(DataDirectory::find(), options.file, options.choices));
  if (options.output.empty()) {
    print(text);
  } else {
    write_file(options.output, text);
  }
  return ExitCode::done;
}

void add_node(CLI::App& import, Invocation& invocation, const std::string& name,
              const std::string& what, ImportNode import_file) {
  CLI::App* kind = import.add_subcommand(name, what);
  const auto options = std::make_shared<NodeOptions>();
  kind->add_option("FILE", options->file, what)->required();
  kind->add_option("--device", options->choices.device, "GPU type, of `stepsim list devices`")
      ->type_name("NAME");
  kind->add_option("--port", options->port, "Rate of one network port, such as \"400 Gb/s\"")
      ->type_name("RATE");
  kind->add_option("--name", options->choices.name, "Name of the node type")->type_name("NAME");
  add_output_option(*kind, "-o,--output", options->output,
                    "Write to this file, not to standard output");
  kind->footer(
      "Prints a node file whose comments say what was assumed and what looked odd. A scenario\n"
      "names it as cluster.node.\n\n"
      "Examples:\n"
      "  stepsim import " +
      name + " box" + (name == "topo" ? ".txt" : ".xml") +
      " --device h100-sxm-80gb -o box.yaml\n"
      "  stepsim run job.yaml --set cluster.node=box.yaml");
  kind->callback([options, import_file, &invocation] {
    invocation.action = [options, import_file] { return import_node(*options, import_file); };
  });
}

}  // namespace

void add_import(CLI::App& app, Invocation& invocation) {
  CLI::App* verb =
      app.add_subcommand("import", "Make a scenario or node file from another tool's file");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  stepsim import hf config.json --gpus 64 -o job.yaml\n"
      "  stepsim import topo box.txt -o box.yaml");
  add_hugging_face(*verb, invocation);
  add_node(*verb, invocation, "topo", "What `nvidia-smi topo -m` prints",
           topology::import_topology_matrix);
  add_node(*verb, invocation, "nccl-xml", "An NCCL topology file", topology::import_nccl_topology);
}

}  // namespace stepsim::cli
