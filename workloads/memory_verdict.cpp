#include "workloads/memory_verdict.hpp"

#include "workloads/memory_allocator.hpp"
#include "workloads/memory_outside_allocator.hpp"

namespace stepsim::workloads {
namespace {

/// Above this share of the device the allocator may have to give segments back, which costs time.
constexpr double tight_share = 0.92;

void add_outside(MemoryReport& report, std::vector<OutsidePart> parts) {
  for (OutsidePart& part : parts) {
    report.outside += part.size;
    report.outside_sources.push_back(part.name + ": " + to_string(part.source.kind) + ", " +
                                     part.source.note);
    report.outside_parts.emplace_back(std::move(part.name), part.size);
  }
}

std::string moment_of(const sim::Program& program, std::uint32_t op) {
  return program.ops.empty() ? "" : program.scopes[program.ops[op].scope.index()];
}

FitVerdict verdict_of(const MemoryReport& report, const ReservedMemory& reserved) {
  if (!report.fits) return FitVerdict::does_not_fit;
  const double used = static_cast<double>((report.peak_reserved + report.outside).count());
  const bool is_tight =
      reserved.releases > 0 || used > tight_share * static_cast<double>(report.capacity.count());
  return is_tight ? FitVerdict::tight : FitVerdict::fits;
}

}  // namespace

MemoryReport report_memory(const StepInput& input, const Step& step, const Step& memory_step,
                           sim::ProgramId id) {
  const sim::Program& program = memory_step.job.programs.at(id.index());
  MemoryReport report;
  report.capacity = input.cluster.node.device.memory_capacity.value;
  add_outside(report, memory_outside_allocator(input, step.job, id));
  report.use = sim::replay_memory(program, Bytes(1));
  report.peak_allocated = report.use.peak_allocated;
  report.breakdown = report.use.at_peak;
  report.peak_moment = moment_of(program, report.use.peak_op);
  const ReservedMemory reserved = reserve_memory(program, report.capacity - report.outside);
  report.peak_reserved = reserved.peak;
  report.fits = !reserved.out_of_memory;
  report.verdict = verdict_of(report, reserved);
  return report;
}

}  // namespace stepsim::workloads
