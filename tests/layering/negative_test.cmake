# cmake -DCHECKS=DIRECTORY -DSCRATCH=DIRECTORY -P negative_test.cmake
# Proves that check_layering and check_sources fail, and for the right reason, on trees made to break
# one rule each, and pass on a tree that breaks none.

cmake_minimum_required(VERSION 3.22)

set(failures "")

# Writes FILE with CONTENT into an otherwise empty tree and runs CHECK on it. EXPECTED is a pattern of
# the complaint, or «pass».
function(expect check file content expected)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/${file}" "${content}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${SCRATCH}" -P "${CHECKS}/${check}.cmake"
                  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(expected STREQUAL "pass")
    if(NOT code EQUAL 0)
      set(problem "${file} with «${content}» was refused: ${output}")
    endif()
  elseif(code EQUAL 0)
    set(problem "${file} with «${content}» was let through")
  elseif(NOT output MATCHES "${expected}")
    set(problem "${file} with «${content}» was refused for another reason: ${output}")
  endif()
  if(DEFINED problem)
    set(failures "${failures}${problem}\n" PARENT_SCOPE)
  endif()
endfunction()

expect(check_layering topology/a.hpp "#include \"workloads/b.hpp\"" "workloads is above topology")
expect(check_layering sim/a.cpp "#include \"topology/b.hpp\"" "topology is above sim")
expect(check_layering sim/a.cpp "  #  include <topology/b.hpp>" "topology is above sim")
expect(check_layering sim/base/a.cpp "#include \"sim/b.hpp\"" "sim is above sim/base")
expect(check_layering sim/a.cpp "#include \"sim/base/document.hpp\"" "the engine may see only")
expect(check_layering report/a.cpp "#include \"cli/b.hpp\"" "cli is above report")
expect(check_layering tests/sim/a.cpp "#include \"scenarios/b.hpp\"" "scenarios is above sim")
expect(check_layering tests/base/a.cpp "#include \"sim/b.hpp\"" "sim is above sim/base")
expect(check_layering sim/a.cpp "#include \"tests/support/catch.hpp\"" "tests are not part")
expect(check_layering topology/a.cpp "#include \"node.hpp\"" "from the repository root")
expect(check_layering topology/a.cpp "#include \"../sim/ids.hpp\"" "from the repository root")
expect(check_layering topology/a.hpp "#include <boost/graph/graph_traits.hpp>" "boost.*only")
expect(check_layering scenarios/a.cpp "#include <yaml-cpp/yaml.h>" "yaml-cpp.*only")
expect(check_layering workloads/a.cpp "#include \"topology/b.hpp\"\n#include <vector>" pass)
expect(check_layering topology/a.cpp "#include <boost/graph/graph_traits.hpp>" pass)
expect(check_layering sim/a.cpp "#include \"sim/base/units.hpp\"" pass)
expect(check_layering docs/a.cpp "" "no C\\+\\+ file")

string(REPEAT "//\n" 449 short)
string(REPEAT "//\n" 450 long)
expect(check_sources sim/a.cpp "${short}" pass)
expect(check_sources sim/a.cpp "${long}" "451 lines, more than 450")
expect(check_sources tests/sim/a.cpp "${long}" "451 lines, more than 450")
expect(check_sources sim/a.cpp "// TODO: later" "sim/a.cpp: // TODO")
expect(check_sources docs/a.md "see ../shared/notes.md" "docs/a.md: see")
expect(check_sources scripts/a "cd /home/someone/stepsim" "scripts/a: cd /home")
expect(check_sources scripts/a "cd build/work/home" pass)
expect(check_sources tests/sim/a.cpp "// reads ../shared/x" pass)

file(REMOVE_RECURSE "${SCRATCH}")
if(NOT failures STREQUAL "")
  message(FATAL_ERROR "${failures}")
endif()
