#include "execution/pipe.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/error.hpp"

namespace edgegpu {

std::pair<Fd, Fd> make_pipe(EmptyPipe empty) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw errno_error("pipe", errno);
    }
    std::pair<Fd, Fd> pipe{Fd(ends[0]), Fd(ends[1])};
    // Of the reading end alone: a program that writes expects to wait.
    if (empty == EmptyPipe::fails && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        throw errno_error("pipe", errno);
    }
    return pipe;
}

std::pair<Fd, Fd> make_sockets() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw errno_error("socketpair", errno);
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace edgegpu
