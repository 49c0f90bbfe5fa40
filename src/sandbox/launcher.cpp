/// The last step into the sandbox of an image's program, a separate static executable: bubblewrap
/// enters the image's user namespace at a point where it can no longer limit the capabilities that
/// come with it, and leaves descriptors open.
///
///     launcher FD CAPABILITIES PROGRAM [ARGUMENT…]
///
/// Permanently drops all capabilities except those in the mask CAPABILITIES (a number), closes all
/// but the standard descriptors, and executes PROGRAM, looked up in PATH. If that fails, it writes
/// errno as an int to FD and exits with status 127.

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int failure = STDERR_FILENO + 1;
constexpr unsigned all_capabilities = 64;

[[noreturn]] void fail() {
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure, &code, sizeof code);
    ::_exit(127);
}

void keep_capabilities(std::uint64_t mask) {
    for (unsigned number = 0; number < all_capabilities; ++number) {
        // EINVAL: the kernel has no such capability.
        if ((mask >> number & 1U) == 0 && ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0 &&
            errno != EINVAL) {
            fail();
        }
    }
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    data[0].effective = data[0].permitted = static_cast<std::uint32_t>(mask);
    data[1].effective = data[1].permitted = static_cast<std::uint32_t>(mask >> 32U);
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
        ::syscall(SYS_capset, &header, data.data()) != 0) {
        fail();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        return 127;
    }
    const int given = std::atoi(argv[1]);
    if (given != failure && ::dup2(given, failure) < 0) {
        return 127;
    }
    if (::fcntl(failure, F_SETFD, FD_CLOEXEC) != 0 ||
        ::syscall(SYS_close_range, failure + 1, ~0U, 0) != 0) {
        fail();
    }
    keep_capabilities(std::strtoull(argv[2], nullptr, 0));
    ::execvp(argv[3], argv + 3);
    fail();
}
