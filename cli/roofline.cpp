#include "cli/verbs.hpp"

#include "report/roofline_text.hpp"

#include "scenarios/regime_answer.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

using topology::MatrixFormat;

struct RooflineOptions {
  std::string device;
  std::vector<std::string> gemms;
  std::string precision = "bf16";
  Format format = Format::text;
};

scenarios::RooflineRequest request_of(const RooflineOptions& options) {
  scenarios::RooflineRequest request;
  request.device = options.device;
  for (const MatrixFormat format : {MatrixFormat::fp32, MatrixFormat::tf32, MatrixFormat::fp16,
                                    MatrixFormat::bf16, MatrixFormat::fp8, MatrixFormat::fp4}) {
    if (options.precision == to_string(format)) request.format = format;
  }
  for (const std::string& text : options.gemms) {
    const std::vector<std::int64_t> sizes =
        whole_numbers("--gemm", text, {"M,N,K", "8192,28672,8192", 3});
    workloads::Gemm gemm;
    gemm.m = sizes[0];
    gemm.n = sizes[1];
    gemm.k = sizes[2];
    request.gemms.push_back(gemm);
  }
  return request;
}

ExitCode roofline(const RooflineOptions& options) {
  const scenarios::RooflineAnswer answer =
      answer_roofline(DataDirectory::find(), request_of(options));
  print(Forms{[&](const report::Style& style) { return report::roofline_text(answer, style); },
              [&] { return report::roofline_table(answer); },
              [&] { return report::roofline_json(answer); }},
        options.format);
  return ExitCode::done;
}

}  // namespace

void add_roofline(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand(
      "roofline", "Peaks and ridge of a GPU, and the clocks of matrix products on it");
  const auto options = std::make_shared<RooflineOptions>();
  verb->add_option("GPU", options->device, "Device, see stepsim list devices")->required();
  verb->add_option("--gemm", options->gemms, "A product of M x K and K x N; may be repeated")
      ->expected(1, 1000)
      ->type_name("M,N,K");
  verb->add_option("--precision", options->precision, "fp32, tf32, fp16, bf16, fp8 or fp4")
      ->check(CLI::IsMember({"fp32", "tf32", "fp16", "bf16", "fp8", "fp4"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim roofline h100-sxm-80gb\n"
      "  stepsim roofline h100-sxm-80gb --gemm 8192,28672,8192 --gemm 128,28672,8192\n"
      "  stepsim roofline b200-sxm-180gb --precision fp8 --gemm 8192,8192,8192 --format json");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return roofline(*options); }; });
}

}  // namespace stepsim::cli
