# cmake -DROOT=DIRECTORY -P check_readmes.cmake
# Every layer has a README.md that says in a line what each unit is, and lines and files agree: each
# NAME.hpp, NAME.cpp and folder NAME/ stands before the colon of a line «- `NAME`, `OTHER`: …», and
# what stands there exists.

cmake_minimum_required(VERSION 3.22)

set(problems "")
foreach(folder sim sim/base topology topology/nccl workloads
               workloads/architectures calibrate scenarios report cli)
  if(NOT IS_DIRECTORY "${ROOT}/${folder}")
    continue()
  endif()
  if(NOT EXISTS "${ROOT}/${folder}/README.md")
    string(APPEND problems "${folder}/README.md is missing\n")
    continue()
  endif()

  file(STRINGS "${ROOT}/${folder}/README.md" lines REGEX "^- `")
  set(described "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ":.*" "" names "${line}")
    string(REGEX MATCHALL "`[^`]+`" names "${names}")
    foreach(name IN LISTS names)
      string(REGEX REPLACE "`|(/|\\.hpp|\\.cpp)`$" "" name "${name}")
      list(APPEND described "${name}")
    endforeach()
  endforeach()

  file(GLOB entries LIST_DIRECTORIES true RELATIVE "${ROOT}/${folder}" "${ROOT}/${folder}/*")
  set(present "")
  foreach(entry IN LISTS entries)
    if(IS_DIRECTORY "${ROOT}/${folder}/${entry}" OR entry MATCHES "\\.[ch]pp$")
      string(REGEX REPLACE "\\.[ch]pp$" "" entry "${entry}")
      list(APPEND present "${entry}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES present)

  foreach(name IN LISTS present)
    if(NOT name IN_LIST described)
      string(APPEND problems "${folder}/README.md has no line for `${name}`\n")
    endif()
  endforeach()
  foreach(name IN LISTS described)
    if(NOT name IN_LIST present AND NOT EXISTS "${ROOT}/${folder}/${name}")
      string(APPEND problems "${folder}/README.md describes `${name}`, which is not there\n")
    endif()
  endforeach()
endforeach()

if(NOT problems STREQUAL "")
  message(FATAL_ERROR "${problems}")
endif()
