#pragma once

/// The paragraphs that the text of several verbs share.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/scenario.hpp"
#include "scenarios/step_result.hpp"

#include <string>
#include <vector>

namespace stepsim::report {

constexpr std::size_t text_width = 100;

/// «stepsim 0.1.0  FILE», the first line of an answer.
std::string title(const std::string& what, const Style& style);

/// What an answer rests on: model, cluster, plan, training and profiles.
struct LabelledParts {
  std::string label;
  std::vector<std::string> parts;
};
std::vector<LabelledParts> rests_on(const scenarios::Scenario& scenario,
                                    const std::vector<scenarios::ProfileUse>& profiles,
                                    const Style& style);

/// The title, then model, cluster, plan, training, software and profiles, a line each.
std::string rests_on_section(const scenarios::Scenario& scenario,
                             const std::vector<scenarios::ProfileUse>& profiles,
                             const Style& style);

/// «70.5 GiB (89.1 %) of 79.2 GiB: fits, 8.65 GiB to spare», and what to change when it does not.
std::string memory_verdict(const scenarios::MemoryResult& memory);

/// «TOPIC: one» and «TOPIC: two» as «TOPIC: one; two», where the first of them stood.
std::vector<std::string> by_topic(const std::vector<std::string>& items);

/// «Assumes» with all of them; empty when there are none. Those that begin with the same topic, as
/// «interference: …» and «not given: …» do, stand together.
std::string assumptions_section(const std::vector<std::string>& assumptions, const Style& style);

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

/// Those, what the allocator adds to them, and what lies outside of it: all that counts.
struct MemoryPart {
  std::string name;
  Bytes bytes;
};
std::vector<MemoryPart> all_memory_parts(const workloads::MemoryReport& report);

/// A row a program, when there are several.
Table stages_table(const scenarios::MemoryResult& memory);

/// Bytes with as many digits as a capacity deserves: «79.15 GiB».
std::string capacity_text(Bytes bytes);

}  // namespace stepsim::report
