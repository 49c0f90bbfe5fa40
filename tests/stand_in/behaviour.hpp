#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
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
///
/// No C++ library is used: the libraries go to machines with an older one, and an older C library.
namespace stand_in {

/// The words, read once.
class Words {
public:
    constexpr Words(const char* variable, const char* file) : variable_(variable), file_(file) {}

    /// The value of a word NAME=VALUE; a null pointer if there is none. It ends at the next space.
    const char* find(const char* name) {
        const std::size_t length = std::strlen(name);
        for (const char* word = text(); word != nullptr && *word != '\0';) {
            if (std::strncmp(word, name, length) == 0 && word[length] == '=') {
                return word + length + 1;
            }
            word = std::strpbrk(word, " \n");
            word = word == nullptr ? nullptr : word + 1;
        }
        return nullptr;
    }

    /// The same as text of its own, in `to`.
    const char* value(const char* name, const char* otherwise, char* to, std::size_t size) {
        const char* const found = find(name);
        const char* const from = found == nullptr ? otherwise : found;
        std::snprintf(to, size, "%.*s", static_cast<int>(std::strcspn(from, " \n")), from);
        return to;
    }

    unsigned long long number(const char* name, unsigned long long otherwise) {
        const char* const found = find(name);
        return found == nullptr ? otherwise : std::strtoull(found, nullptr, 0);
    }

    /// Whether a function is told to do that.
    bool is(const char* name, const char* how) {
        const char* const found = find(name);
        const std::size_t length = std::strlen(how);
        return found != nullptr && std::strncmp(found, how, length) == 0 &&
               std::strchr(" \n", found[length]) != nullptr;
    }

private:
    const char* text() {
        const char* const given = std::getenv(variable_);
        if (given != nullptr) {
            return given;
        }
        if (!read_) {
            read_ = true;
            const int file = ::open(file_, O_RDONLY | O_CLOEXEC);
            const ssize_t got = file < 0 ? 0 : ::read(file, text_, sizeof text_ - 1);
            text_[got > 0 ? got : 0] = '\0';
            if (file >= 0) {
                ::close(file);
            }
        }
        return text_;
    }

    const char* variable_;
    const char* file_;
    bool read_ = false;
    char text_[4096] = "";
};

/// The pointer that a number of the library's interface is.
template <typename Pointer>
Pointer pointer(std::uintptr_t number) {
    Pointer made;
    static_assert(sizeof made == sizeof number);
    std::memcpy(&made, &number, sizeof made);
    return made;
}

/// What a function does first: 0, it works; otherwise the code that it returns.
inline int begin(Words& words, const char* function) {
    if (words.is(function, "hang")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        for (;;) {
            pause();
        }
    }
    if (words.is(function, "crash")) {
        std::signal(SIGSEGV, SIG_DFL);
        // Not raise(): a container's first process does not get that.
        int* volatile nowhere = pointer<int*>(8);
        *nowhere = 1;
    }
    if (words.is(function, "exit")) {
        std::_Exit(0);
    }
    if (words.is(function, "chatter")) {
        std::printf("end=0\n%s: a line of the library's own\n", function);
        std::fflush(stdout);
        return 0;
    }
    return static_cast<int>(words.number(function, 0));
}

/// The same for one GPU: FUNCTION:INDEX comes first.
inline int begin(Words& words, const char* function, unsigned index) {
    char name[100];
    std::snprintf(name, sizeof name, "%s:%u", function, index);
    const int code = begin(words, name);
    return code != 0 ? code : begin(words, function);
}

}  // namespace stand_in
