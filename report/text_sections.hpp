#pragma once

/// The paragraphs that the text of several verbs share.

#include "report/terminal_style.hpp"

#include "scenarios/scenario.hpp"
#include "scenarios/step_result.hpp"

#include <string>
#include <vector>

namespace stepsim::report {

constexpr std::size_t text_width = 100;

/// «stepsim 0.1.0  FILE», then model, cluster, plan, training, software and profiles, a line each.
std::string rests_on_section(const scenarios::Scenario& scenario,
                             const std::vector<scenarios::ProfileUse>& profiles,
                             const Style& style);

/// «70.5 GiB (89.1 %) of 79.2 GiB: fits, 8.65 GiB to spare», and what to change when it does not.
std::string memory_verdict(const scenarios::MemoryResult& memory);

/// «Assumes» with as many whole items as `most_lines` hold and how many are left out; empty when
/// there is nothing to say.
std::string assumptions_section(const std::vector<std::string>& assumptions, std::size_t most_lines,
                                const Style& style);

/// «label     part · part», wrapped to the width between parts, further lines indented.
std::string labelled(const std::string& label, const std::vector<std::string>& parts,
                     const Style& style);

/// A blank line, the title in bold and a note beside it.
std::string heading(const Style& style, const std::string& title, const std::string& note);

/// «device 1a2b3c4d»: each kind with the starts of its files' hashes.
std::vector<std::string> profile_parts(const std::vector<scenarios::ProfileUse>& profiles);

/// The parts as lines indented by two, wrapped between parts.
std::string part_lines(const std::vector<std::string>& parts, const Style& style);

/// The parts of a memory peak that are not empty, largest first, as «name», bytes.
std::vector<std::pair<std::string, Bytes>> memory_parts(const workloads::MemoryReport& report);

/// Bytes with as many digits as a capacity deserves: «79.15 GiB».
std::string capacity_text(Bytes bytes);

}  // namespace stepsim::report
