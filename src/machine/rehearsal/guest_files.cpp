#include "machine/rehearsal/guest_files.hpp"

#include <fmt/format.h>
#include <glib.h>

#include "support/base64.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

/// Bytes of a file in one script.
constexpr std::size_t piece_size = 32U << 10U;
constexpr std::chrono::seconds piece_limit{60};

void require_success(Guest& guest, const std::string& script, const std::string& path) {
    const GuestResult result = guest.run(script, piece_limit);
    if (result.status != 0) {
        throw error("{}: cannot be written in the machine (status {})", path, result.status)
            .traced(result.output);
    }
}

}  // namespace

void put_file(Guest& guest, const std::string& path, std::string_view content, unsigned mode) {
    const std::string file = shell_word(path);
    const std::string part = shell_word(path + ".part");
    require_success(guest,
                    fmt::format("umask 022\nmkdir -p -- \"$(dirname -- {})\" && : >{}", file, part),
                    path);
    for (std::size_t at = 0; at < content.size(); at += piece_size) {
        const std::string_view piece = content.substr(at, piece_size);
        require_success(
            guest, fmt::format("base64 -d >>{} <<'END'\n{}\nEND\n", part, to_base64(piece)), path);
    }
    // In place where the file exists, so that it keeps what it has: links are to be followed.
    require_success(
        guest,
        fmt::format("set -e\nprintf '%s  %s\\n' {0} {1} | sha256sum --quiet -c -\n"
                    "cat {1} >{2}\nrm -f {1}\nchmod {3:o} {2}\n"
                    "if command -v restorecon >/dev/null; then restorecon {2} || :; fi\n",
                    sha256_hex(content), part, file, mode),
        path);
}

}  // namespace edgegpu
