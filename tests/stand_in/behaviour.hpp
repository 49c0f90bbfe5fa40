#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <unistd.h>

/// How a library that stands in for one of NVIDIA's behaves: words in an environment variable, or
/// if there is none, in a file of the machine.
///
///     FUNCTION=CODE   it returns that code
///     FUNCTION=hang   it never returns, and no signal but SIGKILL ends it
///     FUNCTION=crash  it accesses memory that it must not
///     FUNCTION=exit   it ends the process with status 0
///     FUNCTION=chatter  it prints a line on standard output, and works
///     NAME=VALUE      values: see the libraries
namespace stand_in {

inline std::string words(const char* variable, const char* file) {
    if (const char* const given = std::getenv(variable)) {
        return given;
    }
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The value of a word NAME=VALUE; `otherwise` if there is none.
inline std::string value(const std::string& words, const std::string& name,
                         const std::string& otherwise = {}) {
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        if (word.compare(0, name.size() + 1, name + "=") == 0) {
            return word.substr(name.size() + 1);
        }
    }
    return otherwise;
}

inline unsigned long long number(const std::string& words, const std::string& name,
                                 unsigned long long otherwise) {
    const std::string text = value(words, name);
    return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 0);
}

/// What a function does first: 0, it works; otherwise the code that it returns.
inline int begin(const std::string& words, const char* function) {
    const std::string how = value(words, function);
    if (how == "hang") {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        for (;;) {
            pause();
        }
    }
    if (how == "crash") {
        std::signal(SIGSEGV, SIG_DFL);
        // Not raise(): a container's first process does not get that.
        int* volatile nowhere = nullptr;
        *nowhere = 1;
    }
    if (how == "exit") {
        std::_Exit(0);
    }
    if (how == "chatter") {
        std::printf("end=0\n%s: a line of the library's own\n", function);
        std::fflush(stdout);
        return 0;
    }
    return std::atoi(how.c_str());
}

}  // namespace stand_in
