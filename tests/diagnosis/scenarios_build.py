# Copyright 2026 The GateBot Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# ============================================================================
"""Scenarios of compilers and build tools, run for real where this machine can."""

from __future__ import annotations

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenario import Step

COMPILE = "Compile_CPU"
BAD_CC = "#include <string>\nint f() {\n  std::string s = 4.5f + undefined_thing;\n  return s;\n}\n"
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(x CXX)\n"


SCENARIOS = (
    S(
        "gcc",
        {"a.cc": BAD_CC},
        steps=(Step(COMPILE, "g++ -c a.cc"),),
        expected=(E(COMPILE, "gcc", "error", "a.cc", 3), E(COMPILE, "gcc", "error", "a.cc", 4)),
        cause=("gcc", "error"),
    ),
    S(
        "gcc-missing-header",
        {"src/a.cc": '#include "nope.h"\n'},
        steps=(Step(COMPILE, "g++ -c $PWD/src/a.cc"),),
        expected=(E(COMPILE, "gcc", "fatal-error", "src/a.cc", 1),),
    ),
    S(
        "gcc-template",
        {
            "a.cc": "#include <algorithm>\n#include <vector>\nstruct S {};\nint main() {\n  std::vector<S> v(3);\n"
            "  std::sort(v.begin(), v.end());\n}\n"
        },
        steps=(Step(COMPILE, "g++ -fmax-errors=1 -c a.cc"),),
        expected=(E(COMPILE, "gcc", "error", "a.cc", 6),),
    ),
    S(
        "gcc-warnings-as-errors",
        {"a.cc": "int main() {\n  int y;\n  return 0;\n}\n"},
        steps=(Step(COMPILE, "g++ -Wall -Werror -fdiagnostics-color=always -c a.cc"),),
        expected=(E(COMPILE, "gcc", "-Werror=unused-variable", "a.cc", 2),),
    ),
    S(
        "gcc-plain-warnings-are-no-findings",
        {"a.cc": "int main() {\n  int y;\n  return 0;\n}\n"},
        steps=(Step(COMPILE, "g++ -Wall -c a.cc", fails=False),),
    ),
    S(
        "linker",
        {"a.cc": "int undef();\nint main() { return undef(); }\n"},
        steps=(Step(COMPILE, "g++ a.cc -o a"),),
        expected=(E(COMPILE, "ld", "undefined-symbol", "a.cc", 0, "main"),),
        cause=("ld", "undefined-symbol"),
    ),
    S(
        "linker-library",
        {"a.cc": "int main() { return 0; }\n"},
        steps=(Step(COMPILE, "g++ a.cc -lnot_there -o a"),),
        expected=(E(COMPILE, "ld", "ld"),),
    ),
    S(
        "make",
        {
            "Makefile": "all: a.o b.o\n\t@echo done\n%.o: %.cc\n\tg++ -c $<\n",
            "a.cc": "int a() { return x; }\n",
            "b.cc": "int b() { return 0; }\n",
        },
        steps=(Step(COMPILE, "make -k -j2"),),
        expected=(
            E(COMPILE, "gcc", "error", "a.cc", 1),
            E(COMPILE, "make", "target", "Makefile", 4, "a.o"),
        ),
        cause=("gcc", "error"),
    ),
    S(
        "make-no-rule",
        {"Makefile": "all: missing.o\n"},
        steps=(Step(COMPILE, "make"),),
        expected=(E(COMPILE, "make", "makefile", message="No rule to make target 'missing.o', needed by 'all'"),),
        cause=("make", "makefile"),
    ),
    S(
        "make-recursive",
        {"Makefile": "all:\n\t$(MAKE) -C sub\n", "sub/Makefile": "all:\n\t@false\n"},
        steps=(Step(COMPILE, "make"),),
        expected=(E(COMPILE, "make", "target", "Makefile", 2, "all"),),
    ),
    S(
        "ninja",
        {"CMakeLists.txt": CMAKE + "add_library(a a.cc)\n", "a.cc": "int a() { return x; }\n"},
        steps=(Step(COMPILE, "cmake -G Ninja -S . -B b && ninja -C b"),),
        expected=(
            E(COMPILE, "ninja", "target", function="CMakeFiles/a.dir/a.cc.o"),
            E(COMPILE, "gcc", "error", "a.cc", 1),
        ),
        cause=("gcc", "error"),
    ),
    S(
        "cmake-package",
        {"CMakeLists.txt": CMAKE + "find_package(NopePkg REQUIRED)\n"},
        steps=(Step(COMPILE, "cmake -S . -B b"),),
        expected=(E(COMPILE, "cmake", "find_package", "CMakeLists.txt", 3),),
        cause=("cmake", "find_package"),
    ),
    S(
        "cmake-message",
        {
            "CMakeLists.txt": CMAKE + "include(sub/x.cmake)\n",
            "sub/x.cmake": 'message(FATAL_ERROR "CANN 8 is needed")\n',
        },
        steps=(Step(COMPILE, "cmake -S . -B b"),),
        expected=(E(COMPILE, "cmake", "message", "sub/x.cmake", 1, message="CANN 8 is needed"),),
    ),
    S(
        "ctest",
        {
            "CMakeLists.txt": CMAKE
            + "enable_testing()\nadd_test(NAME good COMMAND true)\nadd_test(NAME bad COMMAND false)\n"
            "add_test(NAME slow COMMAND sleep 9)\nset_tests_properties(slow PROPERTIES TIMEOUT 1)\n"
            "add_test(NAME gone COMMAND not-there)\n"
        },
        steps=(Step("UT", "cmake -S . -B b >/dev/null && cd b && ctest"),),
        expected=(
            E("UT", "ctest", "failed", function="bad"),
            E("UT", "ctest", "timeout", function="slow", failure_class="flake"),
            E("UT", "ctest", "not-run", function="gone"),
        ),
    ),
    S(
        "gtest",
        {
            "t.cc": '#include <gtest/gtest.h>\n#include <stdexcept>\nTEST(Mesh, Size) { EXPECT_EQ(2, 3) << "ranks"; }\n'
            'TEST(Mesh, Fine) {}\nTEST(Mesh, Throws) { throw std::runtime_error("no device"); }\n'
        },
        steps=(Step("UT", "g++ t.cc -lgtest -lgtest_main -pthread -o t && ./t"),),
        expected=(
            E("UT", "gtest", "failure", "t.cc", 3, "Mesh.Size", message="Expected equality of these values: 2 3 ranks"),
            E(
                "UT",
                "gtest",
                "exception",
                "",
                0,
                "Mesh.Throws",
                message='C++ exception with description "no device" thrown in the test body.',
            ),
        ),
        cause=("gtest", "failure"),
    ),
    S(
        "gtest-crash",
        {"t.cc": "#include <gtest/gtest.h>\nTEST(Mesh, Fine) {}\nTEST(Mesh, Null) { *(volatile int *)0 = 1; }\n"},
        steps=(Step("UT", "g++ t.cc -lgtest -lgtest_main -pthread -o t && (./t; exit $?)"),),
        expected=(E("UT", "gtest", "crash", function="Mesh.Null"), E("UT", "shell", "crash")),
    ),
    S(
        "compile-error-then-tests-not-run",
        {
            "CMakeLists.txt": CMAKE + "enable_testing()\nadd_executable(t t.cc)\nadd_test(NAME t COMMAND t)\n",
            "t.cc": "int main() { return missing; }\n",
        },
        steps=(
            Step(COMPILE, "cmake -S . -B b >/dev/null && cmake --build b"),
            Step("UT", "cd b && ctest"),
        ),
        expected=(
            E(COMPILE, "gcc", "error", "t.cc", 1),
            E(COMPILE, "make", "target", "CMakeFiles/t.dir/build.make", 76, "CMakeFiles/t.dir/t.cc.o"),
            E("UT", "ctest", "not-run", function="t"),
        ),
        cause=("gcc", "error"),
    ),
)
