#include "cli/verbs.hpp"

#include "report/nccl_comparison_text.hpp"
#include "report/result_json.hpp"

#include "calibrate/nccl_comparison.hpp"

#include "topology/import_node.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct CompareOptions {
  std::string file;
  std::string cluster;
  std::string collective;
  int nodes = 0;
  int gpus = 0;
  topology::NcclSettings nccl;
  Format format = Format::text;
  std::string json_file;
};

std::optional<topology::Collective> collective_of(const std::string& name) {
  for (const auto& [known, collective] : calibrate::nccl_tests_collectives()) {
    if (known == name) return collective;
  }
  return {};
}

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const auto& known : calibrate::nccl_tests_collectives()) names.push_back(known.first);
  return names;
}

ExitCode compare(const CompareOptions& options) {
  const DataDirectory data = DataDirectory::find();
  topology::NodeImport import = topology::find_node(data, options.cluster);
  const calibrate::NcclTestsLog log =
      calibrate::read_nccl_tests(options.file, collective_of(options.collective));
  calibrate::MeasuredRun run;
  run.node = std::move(import.node);
  if (options.nodes != 0) run.nodes = options.nodes;
  if (options.gpus != 0) run.gpus = options.gpus;
  run.nccl = options.nccl;
  calibrate::NcclComparison comparison = calibrate::compare_nccl_tests(data, log, run);
  for (const std::string& note : import.notes) comparison.notes.push_back("node: " + note);
  const auto json = [&] { return report::nccl_comparison_json(log, comparison); };
  if (!options.json_file.empty()) write_file(options.json_file, report::to_json_text(json()));
  print(Forms{[&](const report::Style& style) {
                return report::nccl_comparison_text(log, comparison, style);
              },
              [&] { return report::nccl_comparison_table(comparison); }, json},
        options.format);
  return ExitCode::done;
}

void add_compare(CLI::App& calibrate, Invocation& invocation) {
  CLI::App* verb = calibrate.add_subcommand(
      "compare",
      "Measured against expected: what nccl-tests printed, by size, with likely reasons");
  const auto options = std::make_shared<CompareOptions>();
  verb->add_option("--nccl-tests", options->file, "Output of all_reduce_perf and its siblings")
      ->required()
      ->type_name("FILE");
  verb->add_option("--cluster", options->cluster,
                   "Node type: a name of stepsim list nodes, a node file, an NCCL topology XML, or "
                   "nvidia-smi topo -m as .txt")
      ->required()
      ->type_name("NODE");
  verb->add_option("--nodes", options->nodes, "Nodes of the run, where the log does not say")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  verb->add_option("--gpus", options->gpus, "GPUs of the run in all, where not whole nodes")
      ->check(CLI::Range(2, 1'000'000))
      ->type_name("N");
  verb->add_option("--collective", options->collective, "What was run, where the log does not say")
      ->check(CLI::IsMember(collective_names()))
      ->type_name("NAME");
  verb->add_option("--nccl", options->nccl.version, "NCCL of the run")
      ->type_name("VERSION")
      ->capture_default_str();
  verb->add_option("--json", options->json_file, "Also write the result as JSON to this file")
      ->type_name("FILE");
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim calibrate compare --nccl-tests all_reduce.log --cluster dgx-h100 --nodes 4\n"
      "  stepsim calibrate compare --nccl-tests log.txt --cluster box.yaml --nodes 1 --gpus 3\n\n"
      "Each suspect is simulated on the measured sizes and ranked by how well it fits the curve.");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return compare(*options); }; });
}

}  // namespace

void add_calibrate(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("calibrate", "Compare the models with your measurements");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  stepsim calibrate compare --nccl-tests all_reduce.log --cluster dgx-h100 --nodes 4");
  add_compare(*verb, invocation);
}

}  // namespace stepsim::cli
