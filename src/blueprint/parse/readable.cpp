#include "blueprint/parse/readable.hpp"

#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "blueprint/toml/variables.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

bool exists_as_directory(const fs::path& path) {
    std::error_code failure;
    return fs::is_directory(path, failure);
}

void require_readable(const SourceLocation& location, std::string_view what,
                      const std::string& path) {
    if (path.starts_with("/etc/pki/") || path.starts_with("/etc/rhsm/")) {
        return;
    }
    std::error_code failure;
    if (!fs::is_regular_file(path, failure)) {
        throw error_at(location, "{} not found: {}", what, path)
            .hinted(fs::exists(path, failure)
                        ? std::string()
                        : absent_file_hint(path, what == policy_module_text ? "selinux" : ""));
    }
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (is_below(path, "/dev") || (place && is_made_by_kernel(place.get()))) {
        throw error_at(location, "{} is not a stored file: {}", what, path)
            .hinted("copy what is in it to a file beside the blueprint");
    }
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
        throw error_at(location, "{} is not readable: {}", what, path);
    }
}

}  // namespace edgegpu
